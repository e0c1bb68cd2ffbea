import type { Address, Hex, TradeData, Action, ActionJson } from '../action.js'
import { parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf, parseAddress, type JsonFields } from '../json.js'
import { MAX_SIGNATURE_BYTES } from '../limits.js'
import {
  type OrRefusal,
  dataInvariant,
  dataNotHex,
  refusals,
  type Refusal,
  fieldRequired,
  invalidAddress,
  invalidInteger,
} from './refusals.js'

const WORD_DIGITS = 64
const TWO_256 = 2n ** 256n

/** Whether text is `0x` and nothing but hex digits. */
export const isHexText = (text: string): boolean => /^0x[0-9a-fA-F]*$/.test(text)

/** Whether text is exactly `count` words of 32 bytes in hex. */
export const isWords = (data: string, count: number): boolean =>
  // Length before pattern: a body may carry tens of kilobytes here.
  data.length === 2 + count * WORD_DIGITS && isHexText(data)

/** Data of exactly `count` words of 32 bytes as unsigned integers; undefined for anything else. */
export function readWords(data: string, count: number): readonly bigint[] | undefined {
  if (!isWords(data, count)) return undefined
  return Array.from({ length: count }, (_, index) => wordAt(data, index))
}

const ZERO = 0x30
/** So many hex digits are exact as a number, which costs less than parsing a bigint. */
const EXACT_DIGITS = 13

/** One of the words of text for which isWords holds. */
export function wordAt(data: string, index: number): bigint {
  let from = 2 + index * WORD_DIGITS
  const to = from + WORD_DIGITS
  while (from < to && data.charCodeAt(from) === ZERO) from += 1
  if (from === to) return 0n
  const digits = data.slice(from, to)
  return digits.length <= EXACT_DIGITS ? BigInt(Number.parseInt(digits, 16)) : BigInt(`0x${digits}`)
}

const ADDRESS_DIGITS = 40
const ADDRESS_PADDING = '0'.repeat(WORD_DIGITS - ADDRESS_DIGITS)

/** The address in one of the words of text for which isWords holds; undefined when its high bytes are dirty. */
export function addressAt(data: string, index: number): Address | undefined {
  const from = 2 + index * WORD_DIGITS
  if (!data.startsWith(ADDRESS_PADDING, from)) return undefined
  return `0x${data.slice(from + ADDRESS_PADDING.length, from + WORD_DIGITS).toLowerCase()}`
}

/** The digits of one word, of a negative value in two's complement; the value must fit its word. */
export function wordOf(value: bigint): string {
  const digits = (value < 0n ? value + TWO_256 : value).toString(16)
  // Padding takes three times as long as both steps here, and every order record has several words.
  return ZEROS.slice(digits.length) + digits
}

const ZEROS = '0'.repeat(WORD_DIGITS)

/** Writes each value as one word; every value must fit its word. */
export const writeWords = (values: readonly bigint[]): Hex => `0x${values.map(wordOf).join('')}`

/** The address in a word; undefined when its high bytes are dirty, which the chain's decoder would refuse. */
export function addressOfWord(word: bigint): Address | undefined {
  return word < 2n ** 160n ? `0x${word.toString(16).padStart(40, '0')}` : undefined
}

/** A word as the signed integer that it stands for: two's complement. */
export const signedWord = (word: bigint): bigint => BigInt.asIntN(256, word)

const WORDS = 7

/**
 * Reads the seven words of a trade action's data as the chain's decoder would: addresses without dirty high bytes,
 * prices and amounts as signed integers, the flag 0 or 1. Refuses whatever the chain would not decode.
 */
export function decodeTradeData(data: string): { data: TradeData } | { refusal: Refusal } {
  if (!data.startsWith('0x')) return { refusal: dataNotHex('missing 0x prefix') }
  if (data.length % 2 !== 0) return { refusal: dataNotHex('odd number of hex digits') }
  if (!isWords(data, WORDS)) {
    return { refusal: isHexText(data) ? refusals.tradeDataWords : dataNotHex('not a hex digit') }
  }
  const asset = addressAt(data, 0)
  if (asset === undefined) return { refusal: dataInvariant('asset is not an address') }
  const flag = wordAt(data, 6)
  if (flag > 1n) return { refusal: dataInvariant('isBid is neither 0 nor 1') }
  return {
    data: {
      asset,
      subId: wordAt(data, 1),
      limitPrice: signedWord(wordAt(data, 2)),
      desiredAmount: signedWord(wordAt(data, 3)),
      worstFee: wordAt(data, 4),
      recipientId: wordAt(data, 5),
      isBid: flag === 1n,
    },
  }
}

/** Writes trade data as its seven words; the inverse of decodeTradeData. Every field must fit its word. */
export function encodeTradeData(data: TradeData): Hex {
  return writeWords([
    BigInt(data.asset),
    data.subId,
    data.limitPrice,
    data.desiredAmount,
    data.worstFee,
    data.recipientId,
    data.isBid ? 1n : 0n,
  ])
}

/** The three words of a deposit action's data. */
export interface DepositData {
  /** In the token's own units; any uint256. */
  readonly amount: bigint
  readonly asset: Address
  readonly managerForNewAccount: Address
}

/** The two words of a withdrawal action's data. */
export interface WithdrawalData {
  /** The asset that the balance is held in, not the token that it pays out. */
  readonly asset: Address
  /** In the token's own units; any uint256. */
  readonly amount: bigint
}

/** Reads exactly three words as the chain's decoder would; undefined for anything else. */
export function decodeDepositData(data: string): DepositData | undefined {
  const words = readWords(data, 3)
  if (words === undefined) return undefined
  const [amount = 0n, assetWord = 0n, managerWord = 0n] = words
  const asset = addressOfWord(assetWord)
  const managerForNewAccount = addressOfWord(managerWord)
  if (asset === undefined || managerForNewAccount === undefined) return undefined
  return { amount, asset, managerForNewAccount }
}

/** Reads exactly two words as the chain's decoder would; undefined for anything else. */
export function decodeWithdrawalData(data: string): WithdrawalData | undefined {
  const words = readWords(data, 2)
  if (words === undefined) return undefined
  const [assetWord = 0n, amount = 0n] = words
  const asset = addressOfWord(assetWord)
  return asset === undefined ? undefined : { asset, amount }
}

/** The inverse of decodeDepositData. */
export const encodeDepositData = ({ amount, asset, managerForNewAccount }: DepositData): Hex =>
  writeWords([amount, BigInt(asset), BigInt(managerForNewAccount)])

/** The inverse of decodeWithdrawalData. */
export const encodeWithdrawalData = ({ asset, amount }: WithdrawalData): Hex =>
  writeWords([BigInt(asset), amount])

/** Whether a value is a signature in form: `0x` and whole bytes in hex, at most 4096 of them. */
export function isSignatureText(value: unknown): value is Hex {
  if (typeof value !== 'string' || value.length > 2 + 2 * MAX_SIGNATURE_BYTES) return false
  // Matching pairs of digits would cost several times as much as counting digits.
  return value.length > 2 && value.length % 2 === 0 && isHexText(value)
}

/** A signed action as received and as read. */
export interface ReadAction {
  /** The seven fields exactly as the client wrote them. */
  readonly json: ActionJson
  readonly action: Action
}

/** The seven fields of an action on the wire. */
export const actionFields = [
  'subaccount_id',
  'nonce',
  'module',
  'data',
  'expiry',
  'owner',
  'signer',
] as const satisfies readonly (keyof ActionJson)[]

const ACTION_JSON: ActionPlace = {
  path: 'action_json',
  // Pure, so that a bundle of the encoders alone leaves the table of refusals out.
  dataNotText: /* @__PURE__ */ dataNotHex('expected a hex string'),
}

/** Reads `action_json`: an object, or a string holding one. Fields beyond the seven are dropped. */
export function readAction(value: unknown): OrRefusal<ReadAction> {
  const fields = asJsonObject(typeof value === 'string' ? parseJson(value) : value)
  if (fields === undefined) return { refusal: refusals.actionJson }
  return readActionFields(fields, ACTION_JSON)
}

/** Path of an action in its body, and the refusal when its `data` is not text. */
export interface ActionPlace {
  readonly path: string
  readonly dataNotText: Refusal
}

/** Reads the seven fields of an action; refusals name them by the place where the action stands. */
export function readActionFields(fields: JsonFields, place: ActionPlace): OrRefusal<ReadAction> {
  const { path, dataNotText } = place
  const missing = actionFields.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(`${path}.${missing}`) }

  // Each field is checked below before it is used as a string.
  const json = fields as unknown as ActionJson
  const subaccountId = parseInteger(json.subaccount_id)
  if (subaccountId === undefined) return malformedInteger(fields, path, 'subaccount_id')
  const nonce = parseInteger(json.nonce)
  if (nonce === undefined) return malformedInteger(fields, path, 'nonce')
  const expiry = parseInteger(json.expiry)
  if (expiry === undefined) return malformedInteger(fields, path, 'expiry')
  const module = parseAddress(json.module)
  if (module === undefined) return { refusal: invalidAddress(`${path}.module`) }
  const owner = parseAddress(json.owner)
  if (owner === undefined) return { refusal: invalidAddress(`${path}.owner`) }
  const signer = json.signer === json.owner ? owner : parseAddress(json.signer)
  if (signer === undefined) return { refusal: invalidAddress(`${path}.signer`) }
  if (typeof json.data !== 'string') return { refusal: dataNotText }
  const data = json.data.toLowerCase() as Hex
  return {
    json: {
      subaccount_id: json.subaccount_id,
      nonce: json.nonce,
      module: json.module,
      data: json.data,
      expiry: json.expiry,
      owner: json.owner,
      signer: json.signer,
    },
    action: { subaccountId, nonce, module, data, expiry, owner, signer },
  }
}

const malformedInteger = (
  fields: JsonFields,
  path: string,
  name: keyof ActionJson,
): { readonly refusal: Refusal } => ({ refusal: invalidInteger(`${path}.${name}`, fields[name]) })

/** Text that is not JSON is refused like any other value that is not an object. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * The signed content of an order as one text: equal for two bodies that carry the same action and signature, however
 * they spell hex digits and leading zeros.
 */
export function signedOrderText({ json, action }: ReadAction, signature: string): string {
  const { module, data, owner, signer } = action
  const subaccountId = canonical(json.subaccount_id, action.subaccountId)
  const nonce = canonical(json.nonce, action.nonce)
  const expiry = canonical(json.expiry, action.expiry)
  return `${subaccountId} ${nonce} ${module} ${data} ${expiry} ${owner} ${signer} ${signature.toLowerCase()}`
}

/** The integer without leading zeros; usually the text as it was written. */
const canonical = (text: string, value: bigint): string =>
  text.startsWith('0') ? value.toString() : text
