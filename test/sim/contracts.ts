import { decodeAbiParameters, encodeErrorResult, getAbiItem, type Abi } from 'viem'
import { matchingAbi, ORDER_DATA } from '../../chain/abi/contracts.js'
import { errorsAbi } from '../../chain/abi/errors.js'
import {
  bytesToHex,
  hexToBytes,
  keccak256,
  keccakText,
  recoverStrict,
} from '../../chain/signing/keys.js'
import { createActionHasher } from '../../chain/signing/verify-signature.js'
import type { Action, Address, Hex } from '../../core/action.js'
import { decodeTradeData } from '../../core/entry/read-action.js'
import { settlePerpetual, type PerpMove, type PerpState } from './perp-contract.js'

const repeated = (pair: string): Address => `0x${pair.repeat(20)}`

export const CHAIN_ID = 31_337
/** Where the contracts of the simulated chain are. */
export const AT = {
  matching: repeated('ab'),
  subAccounts: repeated('ac'),
  tradeModule: repeated('e1'),
  quote: repeated('d1'),
  base: repeated('c1'),
  manager: repeated('f1'),
  batchExecutor: repeated('ba'),
} as const
/** The account that takes the fees. */
export const FEE_ACCOUNT = 1n

/** Everything the contracts know; copied whole for each block, since it is small. */
export interface ChainState {
  /** Transactions mined, by sender. */
  readonly nonces: Map<Address, number>
  /** By `<account> <asset>`, at 1e18. */
  readonly balances: Map<string, bigint>
  /** By `<owner> <nonce>`. */
  readonly filled: Map<string, bigint>
  readonly seenData: Map<string, Hex>
  /** Owner of each account that matching holds. */
  readonly owners: Map<bigint, Address>
  /** Owners that are contracts, and whether these vouch for what their owner signed. */
  readonly wallets: Map<Address, boolean>
  /** Who may settle trades, and who may let the batch executor do so: `<contract> <caller>`. */
  readonly rights: Map<string, boolean>
  /** Whether the guardian has paused the manager of all accounts. */
  isPaused: boolean
  /** The perpetual, where that is the market; its positions and cash are the balances. */
  perp: PerpState | undefined
  /** The mark at which an account was last settled. */
  readonly settledAt: Map<bigint, bigint>
}

export const emptyState = (): ChainState => ({
  nonces: new Map(),
  balances: new Map(),
  filled: new Map(),
  seenData: new Map(),
  owners: new Map(),
  wallets: new Map(),
  rights: new Map(),
  isPaused: false,
  perp: undefined,
  settledAt: new Map(),
})

export const copyState = (state: ChainState): ChainState => ({
  nonces: new Map(state.nonces),
  balances: new Map(state.balances),
  filled: new Map(state.filled),
  seenData: new Map(state.seenData),
  owners: new Map(state.owners),
  wallets: new Map(state.wallets),
  rights: new Map(state.rights),
  isPaused: state.isPaused,
  perp: state.perp,
  settledAt: new Map(state.settledAt),
})

/** A call that the contracts refuse, by the name of their error. */
export class Revert extends Error {
  override readonly name = 'Revert'
  constructor(readonly error: string) {
    super(error)
  }
}

const reverts = new Map<string, Hex>()

/** The error as contracts encode it; the simulated ones throw none that has arguments a reader would look at. */
export function revertData(name: string): Hex {
  const known = reverts.get(name) ?? encodeRevert(name)
  reverts.set(name, known)
  return known
}

function encodeRevert(name: string): Hex {
  const withArguments: Readonly<Record<string, readonly unknown[]>> = {
    AC_CannotTransferAssetToOneself: [AT.tradeModule, 0n],
    ERC721NonexistentToken: [0n],
    Error: ['simulated'],
  }
  const abi: Abi = errorsAbi
  return encodeErrorResult({ abi, errorName: name, args: withArguments[name] ?? [] })
}

const E18 = 10n ** 18n
const hasher = createActionHasher({ chainId: CHAIN_ID, verifyingContract: AT.matching })

export const digestOf = (action: Action): Hex => bytesToHex(hasher.digest(action))

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

/** ERC-1271 as the simulated wallets implement it. */
export function vouchesFor(
  state: ChainState,
  { signer, digest, signature }: { signer: Address; digest: Hex; signature: Hex },
): boolean {
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

const rightKey = (contract: Address, caller: Address): string => `${contract} ${caller}`

export const mayCall = ({ rights }: ChainState, contract: Address, caller: Address): boolean =>
  rights.get(rightKey(contract, caller)) === true

/** As the contracts' owner does. */
export function allow(state: ChainState, contract: Address, caller: Address): void {
  state.rights.set(rightKey(contract, caller), true)
}

/** Lets those who ever were trade executors settle, or not. */
export function setExecutors({ rights }: ChainState, areAllowed: boolean): void {
  for (const key of rights.keys()) {
    if (key.startsWith(`${AT.matching} `)) rights.set(key, areAllowed)
  }
}

export function setPause(state: ChainState, isPaused: boolean): void {
  state.isPaused = isPaused
}

/**
 * verifyAndMatch of the spot market: the checks of Matching and TradeModule in their order, on a state that the caller
 * throws away when a Revert is thrown.
 */
export function applyMatch(state: ChainState, { from, data, timestampSec }: SettlingCall): void {
  if (!mayCall(state, AT.matching, from)) throw new Revert('M_OnlyTradeExecutor')
  const { actions, signatures, order } = readMatch(data)
  for (const [index, action] of actions.entries()) {
    if (action.module !== AT.tradeModule) throw new Revert('M_OnlyAllowedModule')
    verifyAction(state, { action, signature: signatures[index] ?? '0x', timestampSec })
  }
  const [takerAction, ...makerActions] = actions
  if (takerAction === undefined || makerActions.length !== order.fillDetails.length) {
    throw new Revert('TM_InvalidActionsLength')
  }
  const taker = readTrade(state, takerAction)
  if (order.takerAccount !== taker.account) throw new Revert('TM_SignedAccountMismatch')
  const transfers: Transfer[] = []
  const moves: PerpMove[] = []
  let total = 0n
  let worst: bigint | undefined
  for (const [index, action] of makerActions.entries()) {
    const maker = readTrade(state, action)
    const fill = order.fillDetails[index] as (typeof order.fillDetails)[number]
    if (fill.filledAccount !== maker.account) throw new Revert('TM_SignedAccountMismatch')
    if (maker.trade.isBid === taker.trade.isBid) throw new Revert('TM_IsBidMismatch')
    applyFill(state, maker, { amount: fill.amountFilled, price: fill.price, fee: fill.fee })
    transfers.push(...transfersOf(taker, maker, fill))
    moves.push(...movesOf(taker, maker, fill, order.takerFee))
    total += fill.amountFilled
    const isWorse = taker.trade.isBid ? fill.price > (worst ?? 0n) : fill.price < (worst ?? 0n)
    if (worst === undefined || isWorse) worst = fill.price
  }
  applyFill(state, taker, { amount: total, price: worst ?? 0n, fee: order.takerFee })
  transfers.push({ from: taker.account, to: FEE_ACCOUNT, asset: AT.quote, amount: order.takerFee })
  if (state.perp !== undefined) settlePerpetual(state, state.perp, moves)
  else for (const transfer of transfers) move(state, transfer)
  if (state.isPaused) throw new Revert('BM_AdjustmentsPaused')
}

/** The name of the revert, undefined when the match went through. One that fails leaves nothing behind. */
export function tryMatch(state: ChainState, call: SettlingCall): string | undefined {
  const tried = copyState(state)
  try {
    applyMatch(tried, call)
  } catch (error) {
    if (error instanceof Revert) return error.error
    throw error
  }
  for (const name of ['balances', 'filled', 'seenData', 'settledAt'] as const) {
    const [target, source] = [state[name] as Map<unknown, unknown>, tried[name]]
    for (const [key, value] of source) target.set(key, value)
  }
  return undefined
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
  const valid = state.wallets.has(signer)
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
export const balanceKey = (account: bigint, asset: Address): string => `${account} ${asset}`

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

interface Transfer {
  readonly from: bigint
  readonly to: bigint
  readonly asset: Address
  readonly amount: bigint
}

function transfersOf(
  taker: Trader,
  maker: Trader,
  fill: { amountFilled: bigint; price: bigint; fee: bigint },
): Transfer[] {
  const [buyer, seller] = taker.trade.isBid ? [taker, maker] : [maker, taker]
  const quote = (fill.price * fill.amountFilled) / E18
  return [
    { from: seller.account, to: buyer.account, asset: AT.base, amount: fill.amountFilled },
    { from: buyer.account, to: seller.account, asset: AT.quote, amount: quote },
    { from: maker.account, to: FEE_ACCOUNT, asset: AT.quote, amount: fill.fee },
  ]
}

/** One taker and one maker of a perpetual. */
function movesOf(
  taker: Trader,
  maker: Trader,
  { amountFilled, price, fee }: { amountFilled: bigint; price: bigint; fee: bigint },
  takerFee: bigint,
): PerpMove[] {
  if (taker.account === maker.account) throw new Revert('AC_CannotTransferAssetToOneself')
  const size = taker.trade.isBid ? amountFilled : -amountFilled
  return [
    { account: maker.account, size: -size, price, fee },
    { account: taker.account, size, price, fee: takerFee },
  ]
}

function move(state: ChainState, { from, to, asset, amount }: Transfer): void {
  if (from === to) throw new Revert('AC_CannotTransferAssetToOneself')
  const [debit, credit] = [balanceKey(from, asset), balanceKey(to, asset)]
  const left = (state.balances.get(debit) ?? 0n) - amount
  if (left < 0n) throw new Revert('WERC_CannotBeNegative')
  state.balances.set(debit, left)
  state.balances.set(credit, (state.balances.get(credit) ?? 0n) + amount)
}
