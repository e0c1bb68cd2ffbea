import {
  decodeAbiParameters,
  decodeFunctionData,
  encodeFunctionData,
  getAbiItem,
  parseAbi,
  parseTransaction,
  toFunctionSelector,
} from 'viem'
import type { Action, Address, Hex } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { FillTerms } from '../../core/contracts/claims.js'
import { amountE18, priceE18, quoteE18, type QuoteE18 } from '../../core/money.js'
import { batchExecutorAbi, erc20Abi, matchingAbi, ORDER_DATA } from '../abi/contracts.js'

export interface OrderData {
  readonly takerAccount: bigint
  /** The taker's fee over all fills. */
  readonly takerFee: QuoteE18
  /** `fillDetails[i]` belongs to `actions[i + 1]`. */
  readonly fillDetails: readonly FillTerms[]
  /** Calls for the accounts' managers, already encoded; `0x` for none. */
  readonly managerData: Hex
}

/** One taker against one or more makers: the arguments of verifyAndMatch. */
export interface MatchCall {
  /** The taker first. */
  readonly actions: readonly Action[]
  readonly signatures: readonly Hex[]
  readonly orderData: OrderData
}

/**
 * Words of calldata as hex text, for the two functions that the executor calls for every match. They stay hand-written:
 * viem's encodeFunctionData takes 51 µs for a match where this takes 7, and 24 µs for each match of a batch, which is
 * encoded for its simulation and for its transaction, where this takes 1. That would add 14 % to the executor's
 * processor time of a match (660 µs). A property test compares both.
 */
const WORD_DIGITS = 64

/** A dynamic field of a tuple, which is written after the tuple's words. */
interface Dynamic {
  readonly tail: string
}

/** An unsigned value as a word. A value that does not fit is a broken invariant. */
function word(value: bigint | number): string {
  const digits = value.toString(16).padStart(WORD_DIGITS, '0')
  assert(value >= 0 && digits.length === WORD_DIGITS, 'value does not fit its word')
  return digits
}

function addressWord(address: Address): string {
  assert(address.length === 42, 'not an address')
  return `000000000000000000000000${address.slice(2).toLowerCase()}`
}

/** The length in bytes, then the bytes, padded to whole words. */
function bytesWords(data: Hex): string {
  const digits = data.length - 2
  assert(digits % 2 === 0, 'not whole bytes')
  return `${word(digits / 2)}${data.slice(2)}${'0'.repeat(-digits & (WORD_DIGITS - 1))}`
}

/** Static fields in place; of dynamic ones the offset in place, and the tail at the end. */
function tuple(fields: readonly (string | Dynamic)[]): string {
  let tailAt = 0
  for (const field of fields) tailAt += typeof field === 'string' ? field.length : WORD_DIGITS
  let head = ''
  let tails = ''
  for (const field of fields) {
    if (typeof field === 'string') head += field
    else {
      head += word((tailAt + tails.length) / 2)
      tails += field.tail
    }
  }
  return head + tails
}

/** An array of dynamic items. */
const listWords = (items: readonly string[]): string =>
  word(items.length) + tuple(items.map((tail) => ({ tail })))

const VERIFY_AND_MATCH = toFunctionSelector(
  getAbiItem({ abi: matchingAbi, name: 'verifyAndMatch' }),
)

/** Calldata of verifyAndMatch. The chain may still refuse the match. */
export function encodeMatch({ actions, signatures, orderData }: MatchCall): Hex {
  const args = tuple([
    { tail: listWords(actions.map(actionWords)) },
    { tail: listWords(signatures.map(bytesWords)) },
    { tail: bytesWords(encodeOrderData(orderData)) },
  ])
  return `${VERIFY_AND_MATCH}${args}`
}

function actionWords(action: Action): string {
  return tuple([
    word(action.subaccountId),
    word(action.nonce),
    addressWord(action.module),
    { tail: bytesWords(action.data) },
    word(action.expiry),
    addressWord(action.owner),
    addressWord(action.signer),
  ])
}

function encodeOrderData({ takerAccount, takerFee, fillDetails, managerData }: OrderData): Hex {
  const fills = fillDetails.map(
    ({ filledAccount, amountFilled, price, fee }) =>
      word(filledAccount) + word(amountFilled) + word(price) + word(fee),
  )
  const order = tuple([
    word(takerAccount),
    word(takerFee),
    { tail: word(fills.length) + fills.join('') },
    { tail: bytesWords(managerData) },
  ])
  return `0x${tuple([{ tail: order }])}`
}

/** The inverse of encodeMatch; throws for any other calldata. */
export function decodeMatch(data: Hex): MatchCall {
  const { functionName, args } = decodeFunctionData({ abi: matchingAbi, data })
  if (functionName !== 'verifyAndMatch') throw new Error(`${functionName} is not a match`)
  const [actions, signatures, actionData] = args
  const [order] = decodeAbiParameters(ORDER_DATA, actionData)
  const fillDetails = order.fillDetails.map((fill) => ({
    filledAccount: fill.filledAccount,
    amountFilled: amountE18(fill.amountFilled),
    price: priceE18(fill.price),
    fee: quoteE18(fill.fee),
  }))
  const { takerAccount, managerData } = order
  const orderData = { takerAccount, takerFee: quoteE18(order.takerFee), fillDetails, managerData }
  return { actions: actions.map(lowered), signatures, orderData }
}

/** Addresses in lower case, as everywhere inside the venue. */
const lowered = (action: Action): Action => ({
  ...action,
  module: action.module.toLowerCase() as Address,
  owner: action.owner.toLowerCase() as Address,
  signer: action.signer.toLowerCase() as Address,
})

/** One match of a batch: calldata of verifyAndMatch, and its gas limit. Without that much gas left it is not tried. */
export interface BatchItem {
  readonly gasLimit: bigint
  readonly call: Hex
}

const TRY_ALL = toFunctionSelector(getAbiItem({ abi: batchExecutorAbi, name: 'tryAll' }))

/** Calldata of tryAll. */
export function encodeBatch(matches: readonly BatchItem[]): Hex {
  const items = matches.map(({ gasLimit, call }) =>
    tuple([word(gasLimit), { tail: bytesWords(call) }]),
  )
  return `${TRY_ALL}${tuple([{ tail: listWords(items) }])}`
}

/** Whether this is calldata of tryAll. */
export const isBatch = (data: Hex): boolean => data.startsWith(TRY_ALL)

/**
 * Whether a transaction with this call may settle matches: it goes to a contract through which they are settled, names one
 * in its data, as a call through another contract does, or is itself a match or a batch, for contracts of another time.
 */
export function maySettle(
  { to, data }: { readonly to: Address | null; readonly data: Hex },
  { matching, batchExecutor }: { readonly matching: Address; readonly batchExecutor?: Address },
): boolean {
  if (isBatch(data) || data.startsWith(VERIFY_AND_MATCH)) return true
  const contracts = batchExecutor === undefined ? [matching] : [matching, batchExecutor]
  return contracts.some((contract) => to === contract || data.includes(contract.slice(2)))
}

/** The inverse of encodeBatch; throws for any other calldata. */
export function decodeBatch(data: Hex): readonly BatchItem[] {
  const { functionName, args } = decodeFunctionData({ abi: batchExecutorAbi, data })
  if (functionName !== 'tryAll') throw new Error(`${functionName} is not a batch of matches`)
  return args[0]
}

/** The calls of verifyAndMatch in a signed transaction, in their order; none when it has no calldata. */
export function matchCallsOf(raw: Hex): Hex[] {
  const { data } = parseTransaction(raw)
  if (data === undefined || data === '0x') return []
  return isBatch(data) ? decodeBatch(data).map(({ call }) => call) : [data]
}

/** Calldata of verifyAndMatch for a single action: a deposit or a withdrawal. */
export function encodeTransfer(action: Action, signature: Hex): Hex {
  return encodeFunctionData({
    abi: matchingAbi,
    functionName: 'verifyAndMatch',
    args: [[action], [signature], '0x'],
  })
}

/** The inverse of encodeTransfer; throws for any other calldata. */
export function decodeTransfer(data: Hex): { readonly action: Action; readonly signature: Hex } {
  const { functionName, args } = decodeFunctionData({ abi: matchingAbi, data })
  if (functionName !== 'verifyAndMatch') throw new Error(`${functionName} is not a transfer`)
  const [[action], [signature]] = args
  if (action === undefined || signature === undefined) throw new Error('a transfer without action')
  return { action: lowered(action), signature }
}

/** An EIP-2612 permit; `value` in the token's own units, `deadline` in unix seconds. */
export interface PermitCall {
  readonly owner: Address
  readonly spender: Address
  readonly value: bigint
  readonly deadline: bigint
  /** 65 bytes of a plain key, or bytes of any length from a contract wallet. */
  readonly signature: Hex
}

/** The signature of a plain key: r, s and v. */
const KEY_SIGNATURE = /^0x([0-9a-f]{64})([0-9a-f]{64})([0-9a-f]{2})$/i
/** The form for contract wallets, which some tokens have. */
const walletPermitAbi = parseAbi([
  'function permit(address owner, address spender, uint256 value, uint256 deadline, bytes signature)',
])

/** Calldata of a token's permit. The length of the signature decides on its form. */
export function encodePermit({ owner, spender, value, deadline, signature }: PermitCall): Hex {
  const terms = [owner, spender, value, deadline] as const
  const [, r, s, v] = KEY_SIGNATURE.exec(signature) ?? []
  if (r === undefined || s === undefined || v === undefined) {
    return encodeFunctionData({ abi: walletPermitAbi, args: [...terms, signature] })
  }
  const args = [...terms, Number.parseInt(v, 16), `0x${r}`, `0x${s}`] as const
  return encodeFunctionData({ abi: erc20Abi, functionName: 'permit', args })
}
