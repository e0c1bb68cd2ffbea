import { decodeAbiParameters, getAbiItem } from 'viem'
import { matchingAbi, ORDER_DATA } from '../../chain/abi/contracts.js'
import {
  bytesToHex,
  hexToBytes,
  keccak256,
  keccakText,
  recoverStrict,
} from '../../chain/signing/keys.js'
import {
  type CancelAllStatement,
  createActionHasher,
} from '../../chain/signing/verify-signature.js'
import type { Action, Address, Hex } from '../../core/action.js'
import { decodeTradeData } from '../../core/entry/read-action.js'
import {
  AT,
  CHAIN_ID,
  copyForMatch,
  mayCall,
  Revert,
  type BookedFill,
  type ChainState,
  type MakerFill,
} from './chain-state.js'
import { DELEGATES, type Asking } from './delegates.js'
import { settleFuture } from './future-contract.js'
import { settlePerpetual } from './perp-contract.js'
import { settleSpot } from './spot-contract.js'

const E18 = 10n ** 18n
const hasher = createActionHasher({ chainId: CHAIN_ID, verifyingContract: AT.matching })

export const digestOf = (action: Action): Hex => bytesToHex(hasher.digest(action))
export const cancelAllDigestOf = (terms: CancelAllStatement): Hex =>
  bytesToHex(hasher.cancelAllDigest(terms))

/** What a simulated wallet contract takes for its owner's signature: a digest, so that it costs nothing to make. */
export function walletSignature(owner: Address, digest: Hex): Hex {
  const half = bytesToHex(keccakText(`${owner} signs ${digest}`))
  return `${half}${half.slice(2)}1b`
}

const recovered = new Map<string, Address | undefined>()
const RECOVERED_MAX = 10_000

/** A key's address by what it signed; remembered, because the arithmetic is what a simulation spends its time on. */
function recover(digest: Hex, signature: Hex): Address | undefined {
  const key = `${digest}${signature}`
  if (!recovered.has(key)) {
    if (recovered.size > RECOVERED_MAX) recovered.clear()
    recovered.set(key, recoverStrict(hexToBytes(digest), hexToBytes(signature)))
  }
  return recovered.get(key)
}

/** Whether a wallet is at the address of a signer. */
export const isCodeAt = ({ wallets, delegates }: ChainState, signer: Address): boolean =>
  wallets.has(signer) || delegates.has(signer)

/** ERC-1271 as the simulated wallets implement it. */
export function vouchesFor(
  state: ChainState,
  { signer, digest, signature }: { signer: Address; digest: Hex; signature: Hex },
  asking: Asking = 'match',
): boolean {
  const delegate = state.delegates.get(signer)
  if (delegate !== undefined) return DELEGATES[delegate]?.(asking) === true
  return state.wallets.get(signer) === true && signature === walletSignature(signer, digest)
}

type Decoded = ReturnType<typeof decodeMatch>
const decoded = new Map<Hex, Decoded>()
const DECODED_MAX = 1_000

const MATCH = getAbiItem({ abi: matchingAbi, name: 'verifyAndMatch' }).inputs

function decodeMatch(data: Hex) {
  const [actions, signatures, actionData] = decodeAbiParameters(MATCH, `0x${data.slice(10)}`)
  const [order] = decodeAbiParameters(ORDER_DATA, actionData)
  const lowered = actions.map((action): Action => ({
    ...action,
    module: lower(action.module),
    owner: lower(action.owner),
    signer: lower(action.signer),
  }))
  return { actions: lowered, signatures: signatures.map(lower), order }
}

/** The call's arguments; remembered, because one match is looked at several times. */
export function readMatch(data: Hex): Decoded {
  const known = decoded.get(data)
  if (known !== undefined) return known
  if (decoded.size > DECODED_MAX) decoded.clear()
  const fresh = decodeMatch(data)
  decoded.set(data, fresh)
  return fresh
}

const lower = (hex: Hex): Hex => hex.toLowerCase() as Hex

/** A call of verifyAndMatch or tryAll. */
export interface SettlingCall {
  readonly from: Address
  readonly data: Hex
  readonly timestampSec: number
}

/** The trade modules that matching admits. */
export const isModule = ({ perp, future }: ChainState, address: Address): boolean =>
  address === AT.spotModule ||
  (address === AT.perpModule && perp !== undefined) ||
  (address === AT.futureModule && future !== undefined)

/**
 * verifyAndMatch: the checks of Matching and of the trade module in their order, on a state that the caller throws away
 * when a Revert is thrown. The fills that the module reports with a mark.
 */
export function applyMatch(
  state: ChainState,
  { from, data, timestampSec }: SettlingCall,
): BookedFill[] {
  if (!mayCall(state, AT.matching, from)) throw new Revert('M_OnlyTradeExecutor')
  const { actions, signatures, order } = readMatch(data)
  const [takerAction, ...makerActions] = actions
  if (takerAction === undefined || makerActions.length !== order.fillDetails.length) {
    throw new Revert('TM_InvalidActionsLength')
  }
  const { module } = takerAction
  for (const [index, action] of actions.entries()) {
    const isAllowed = action.module === module && isModule(state, module)
    if (!isAllowed) throw new Revert('M_OnlyAllowedModule')
    verifyAction(state, { action, signature: signatures[index] ?? '0x', timestampSec })
  }
  const taker = readTrade(state, takerAction)
  if (order.takerAccount !== taker.account) throw new Revert('TM_SignedAccountMismatch')
  const fills = makerActions.map((action, index): MakerFill => {
    const maker = readTrade(state, action)
    const fill = order.fillDetails[index] as (typeof order.fillDetails)[number]
    if (fill.filledAccount !== maker.account) throw new Revert('TM_SignedAccountMismatch')
    if (maker.trade.isBid === taker.trade.isBid) throw new Revert('TM_IsBidMismatch')
    if (maker.trade.asset !== taker.trade.asset) throw new Revert('TM_AssetMismatch')
    if (maker.trade.subId !== taker.trade.subId) throw new Revert('TM_AssetSubIdMismatch')
    const { amountFilled: amount, price, fee } = fill
    applyFill(state, maker, { amount, price, fee })
    return { maker: maker.account, amount, price, fee }
  })
  const total = fills.reduce((sum, { amount }) => sum + amount, 0n)
  const worst = fills.reduce((price, fill) => {
    const isWorse = taker.trade.isBid ? fill.price > price : fill.price < price
    return isWorse ? fill.price : price
  }, fills[0]?.price ?? 0n)
  const { takerFee } = order
  applyFill(state, taker, { amount: total, price: worst, fee: takerFee })
  const takerIsBid = taker.trade.isBid
  const legs = { taker: taker.account, takerIsBid, takerFee, fills, timestampSec }
  if (module === AT.futureModule && state.future) return settleFuture(state, state.future, legs)
  if (module === AT.perpModule && state.perp) settlePerpetual(state, state.perp, legs)
  else settleSpot(state, legs)
  return []
}

/** What became of a match: the name of the revert, or the fills that were reported with a mark. */
export type MatchOutcome =
  { readonly revert: string } | { readonly revert: undefined; readonly booked: BookedFill[] }

/** Carries out a match; one that fails leaves nothing behind. */
export function tryMatch(state: ChainState, call: SettlingCall): MatchOutcome {
  const tried = copyForMatch(state)
  try {
    const booked = applyMatch(tried, call)
    Object.assign(state, tried)
    return { revert: undefined, booked }
  } catch (error) {
    if (error instanceof Revert) return { revert: error.error }
    throw error
  }
}

function verifyAction(
  state: ChainState,
  { action, signature, timestampSec }: { action: Action; signature: Hex; timestampSec: number },
): void {
  if (BigInt(timestampSec) > action.expiry) throw new Revert('OV_ActionExpired')
  if (state.owners.get(action.subaccountId) !== action.owner) {
    throw new Revert('OV_InvalidActionOwner')
  }
  if (action.signer !== action.owner) throw new Revert('OV_SignerNotOwnerOrSessionKeyExpired')
  const digest = digestOf(action)
  const { signer } = action
  const valid = isCodeAt(state, signer)
    ? vouchesFor(state, { signer, digest, signature })
    : recover(digest, signature) === signer
  if (!valid) throw new Revert('OV_InvalidSignature')
}

interface Trader {
  readonly account: bigint
  readonly key: string
  readonly trade: NonNullable<
    Extract<ReturnType<typeof decodeTradeData>, { data: unknown }>
  >['data']
}

function readTrade(state: ChainState, action: Action): Trader {
  const key = fillKey(action.owner, action.nonce)
  const hash = bytesToHex(keccak256(hexToBytes(action.data)))
  const seen = state.seenData.get(key)
  if (seen !== undefined && seen !== hash) throw new Revert('TM_InvalidNonce')
  state.seenData.set(key, hash)
  const read = decodeTradeData(action.data)
  if ('refusal' in read) throw new Revert('Error')
  return { account: action.subaccountId, key, trade: read.data }
}

export const fillKey = (owner: Address, nonce: bigint): string => `${owner} ${nonce}`
interface Fill {
  readonly amount: bigint
  readonly price: bigint
  readonly fee: bigint
}

function applyFill(state: ChainState, { key, trade }: Trader, { amount, price, fee }: Fill): void {
  if ((fee * E18) / amount > trade.worstFee) throw new Revert('TM_FeeTooHigh')
  if (trade.isBid && price > trade.limitPrice) throw new Revert('TM_PriceTooHigh')
  if (!trade.isBid && price < trade.limitPrice) throw new Revert('TM_PriceTooLow')
  const after = (state.filled.get(key) ?? 0n) + amount
  if (after > trade.desiredAmount) throw new Revert('TM_FillLimitCrossed')
  state.filled.set(key, after)
}
