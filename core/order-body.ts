import type { Address, Hex } from './action.js'
import type { Checked } from './checked.js'
import { parseInteger } from './decimal.js'
import { asJsonObject, fieldOf, parseAddress } from './json-fields.js'
import type { JsonFields } from './json-fields.js'
import { MAX_ORDER_ID_LENGTH, SUB_ID_MAX } from './limits.js'
import { fieldRequired, invalidAddress, invalidInteger, notAString, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'
import { isSignatureText } from './signature-text.js'

/** A body whose required fields are there and well-formed; what later checks judge is still as it came. */
export interface OrderBody {
  readonly orderId: string
  readonly owner: Address
  readonly signer: Address
  readonly subaccountId: bigint
  readonly recipientId: bigint
  readonly nonce: bigint
  /** Raw word of the signed data, a base-10 integer on the wire. */
  readonly worstFee: bigint
  readonly subId: bigint
  readonly signature: Hex
  readonly assetAddress: unknown
  readonly expiry: unknown
  readonly actionJson: unknown
  readonly side: unknown
  readonly limitPrice: unknown
  readonly desiredAmount: unknown
  readonly filledAmount: unknown
  readonly orderEntrySpec: unknown
  readonly uiIntent: unknown
  readonly reduceOnly: unknown
}

/** Required always, in the order in which their absence is answered; the second group stands behind the first. */
const requiredBeforePrice = ['order_id', 'asset_address', 'nonce'] as const
const derivable = ['limit_price', 'desired_amount'] as const
const requiredAfterPrice = [
  'signature',
  'owner_address',
  'signer_address',
  'subaccount_id',
  'recipient_id',
  'worst_fee',
] as const

/** Reads the body of `POST /v1/orders`: an object with every required field, identifiers in their form. */
export function readOrderBody(body: unknown): Checked<OrderBody> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const missing = requiredFields(fields).find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }
  const malformed = refuseForm(fields)
  return malformed === undefined ? wellFormed(fields) : { refusal: malformed }
}

function requiredFields(fields: JsonFields): readonly string[] {
  // Side, price and amount may be derived from the intent; whether they can be is the translation's question.
  const derived =
    fieldOf(fields, 'order_entry_spec') !== undefined || fieldOf(fields, 'ui_intent') !== undefined
  return derived
    ? [...requiredBeforePrice, ...requiredAfterPrice]
    : [...requiredBeforePrice, ...derivable, ...requiredAfterPrice, 'side']
}

const integerFields = ['nonce', 'subaccount_id', 'recipient_id', 'worst_fee'] as const
const addressFields = ['owner_address', 'signer_address'] as const

function refuseForm(fields: JsonFields): Refusal | undefined {
  const orderId = fieldOf(fields, 'order_id')
  if (typeof orderId !== 'string') return notAString('order_id')
  // Control characters and lone surrogates would not survive logs, headers and UTF-8.
  if (orderId.length > MAX_ORDER_ID_LENGTH || /[\p{Cc}\p{Cs}]/u.test(orderId)) {
    return refusals.orderIdForm
  }
  const integer = integerFields.find((name) => parseInteger(fields[name]) === undefined)
  if (integer !== undefined) return invalidInteger(integer, fields[integer])
  const address = addressFields.find((name) => parseAddress(fields[name]) === undefined)
  if (address !== undefined) return invalidAddress(address)
  if (readSubId(fields) === undefined) return invalidInteger('sub_id', fields.sub_id)
  return isSignatureText(fields.signature) ? undefined : refusals.signatureForm
}

const readSubId = (fields: JsonFields): bigint | undefined =>
  parseInteger(fieldOf(fields, 'sub_id') ?? '0', SUB_ID_MAX)

/** Every cast here was checked by refuseForm. */
function wellFormed(fields: JsonFields): OrderBody {
  const text = (name: string): string => fields[name] as string
  return {
    orderId: text('order_id'),
    owner: text('owner_address').toLowerCase() as Address,
    signer: text('signer_address').toLowerCase() as Address,
    subaccountId: BigInt(text('subaccount_id')),
    recipientId: BigInt(text('recipient_id')),
    nonce: BigInt(text('nonce')),
    worstFee: BigInt(text('worst_fee')),
    subId: readSubId(fields) ?? 0n,
    signature: text('signature') as Hex,
    assetAddress: fieldOf(fields, 'asset_address'),
    expiry: fieldOf(fields, 'expiry'),
    actionJson: fieldOf(fields, 'action_json'),
    side: fieldOf(fields, 'side'),
    limitPrice: fieldOf(fields, 'limit_price'),
    desiredAmount: fieldOf(fields, 'desired_amount'),
    filledAmount: fieldOf(fields, 'filled_amount'),
    orderEntrySpec: fieldOf(fields, 'order_entry_spec'),
    uiIntent: fieldOf(fields, 'ui_intent'),
    reduceOnly: fieldOf(fields, 'reduce_only'),
  }
}
