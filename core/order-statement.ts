import type { ActionJson, Address, Hex } from './action.js'
import { assert } from './assert.js'
import { asciiJsonText } from './json-text.js'
import type { FeePerUnitE18 } from './money.js'
import { MAX_SIGNATURE_BYTES } from './limits.js'

declare const statementText: unique symbol
/**
 * The part of an order that only whoever presents or settles it asks for: an object's JSON text in the names of the order
 * record, in ASCII, made once by the intake and carried as it is from there to every reader.
 */
export type OrderStatement = string & { readonly [statementText]: true }

/** What a statement says. */
export interface StatedTerms {
  readonly signer: Address
  readonly recipientId: bigint
  readonly assetAddress: Address
  readonly subId: bigint
  readonly worstFee: FeePerUnitE18
  /** Unix seconds of the body's `expiry`. */
  readonly expirySec: number
  /** As the client sent it. */
  readonly action: ActionJson
  readonly signature: Hex
  readonly warnings?: readonly string[]
}

/** The longest signature in hex, and a bound of all the rest: every other text of an order is bounded by its checks. */
export const MAX_STATEMENT_LENGTH = 2 * MAX_SIGNATURE_BYTES + 4_096

/** A statement in the form that the order record shows (interface 2.5). */
interface StatementJson {
  readonly signer_address: Address
  readonly recipient_id: string
  readonly asset_address: Address
  readonly sub_id: string
  readonly worst_fee: string
  readonly expiry: number
  readonly action_json: ActionJson
  readonly signature: Hex
  readonly warnings?: readonly string[] | undefined
}

/** The signer stands first, so that it can be told without reading all the rest. */
const BEFORE_SIGNER = '{"signer_address":"'
const ADDRESS_LENGTH = 42

/** Writes the statement of an order; equal terms give equal texts. Terms beyond MAX_STATEMENT_LENGTH break an invariant. */
export function writeStatement(terms: StatedTerms): OrderStatement {
  const { warnings } = terms
  const warned =
    warnings === undefined ? '' : `,"warnings":[${warnings.map(asciiJsonText).join(',')}]`
  const text = `${BEFORE_SIGNER}${terms.signer}","recipient_id":"${terms.recipientId}","asset_address":"${terms.assetAddress}","sub_id":"${terms.subId}","worst_fee":"${terms.worstFee}","expiry":${terms.expirySec},"action_json":${actionText(terms.action)},"signature":"${terms.signature}"${warned}}`
  assert(text.length <= MAX_STATEMENT_LENGTH, `a statement of ${text.length} characters`)
  return text as OrderStatement
}

const actionText = (action: ActionJson): string =>
  `{"subaccount_id":${asciiJsonText(action.subaccount_id)},"nonce":${asciiJsonText(action.nonce)},"module":${asciiJsonText(action.module)},"data":${asciiJsonText(action.data)},"expiry":${asciiJsonText(action.expiry)},"owner":${asciiJsonText(action.owner)},"signer":${asciiJsonText(action.signer)}}`

/** What writeStatement was given. */
export function readStatement(statement: OrderStatement): StatedTerms {
  const json = JSON.parse(statement) as StatementJson
  return {
    signer: json.signer_address,
    recipientId: BigInt(json.recipient_id),
    assetAddress: json.asset_address,
    subId: BigInt(json.sub_id),
    worstFee: BigInt(json.worst_fee) as FeePerUnitE18,
    expirySec: json.expiry,
    action: json.action_json,
    signature: json.signature,
    ...(json.warnings !== undefined && { warnings: json.warnings }),
  }
}

/** Who signed the order, without reading the rest of its statement. */
export const signerOf = (statement: OrderStatement): Address =>
  statement.slice(BEFORE_SIGNER.length, BEFORE_SIGNER.length + ADDRESS_LENGTH) as Address

/**
 * The text as a statement, when it is one as far as its length and its two ends tell; its content is what an intake
 * wrote. Undefined otherwise. The caller vouches for its being ASCII.
 */
export function asStatement(text: string): OrderStatement | undefined {
  return text.length <= MAX_STATEMENT_LENGTH && text.startsWith(BEFORE_SIGNER) && text.endsWith('}')
    ? (text as OrderStatement)
    : undefined
}
