import type { Address, Hex } from '../action.js'
import { parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf, parseAddress, type JsonFields } from '../json.js'
import {
  LEASE_ID_PATTERN,
  MAX_ORDER_ID_LENGTH,
  NEW_ORDER_ID_PATTERN,
  ORDER_ID_PATTERN,
  SUB_ID_MAX,
} from '../limits.js'
import type { PostOnly, SelfTradePrevention, TimeInForce } from '../model/order.js'
import { cancelsRefusals, controlRefusals } from './order-refusals.js'
import { isSignatureText } from './read-action.js'
import {
  fieldRequired,
  invalidAddress,
  invalidInteger,
  notAString,
  orderIdForm,
  refusals,
  type Checked,
  type Refusal,
} from './refusals.js'

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
  readonly timeInForce: unknown
  readonly postOnly: unknown
  readonly stp: unknown
  readonly stpScope: unknown
  readonly leaseId: unknown
  /** Names of fields that look like trading instructions but are not. */
  readonly ignored: readonly string[]
}

/** Required always, in the order in which their absence is answered; the second group comes after the first. */
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

/**
 * Reads the body of `POST /v1/orders`: an object with every required field, identifiers in their form. Each field is read
 * once, because every order passes here; what is wrong is only looked for when something is.
 */
export function readOrderBody(body: unknown): Checked<OrderBody> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const missing = missingField(fields)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }

  const orderId = fields.order_id
  if (typeof orderId !== 'string') return { refusal: notAString('order_id') }
  if (!isNewOrderId(orderId)) return { refusal: orderIdFault(orderId) }
  const nonce = parseInteger(fields.nonce)
  if (nonce === undefined) return malformedInteger(fields, 'nonce')
  const subaccountId = parseInteger(fields.subaccount_id)
  if (subaccountId === undefined) return malformedInteger(fields, 'subaccount_id')
  const recipientId = parseInteger(fields.recipient_id)
  if (recipientId === undefined) return malformedInteger(fields, 'recipient_id')
  const worstFee = parseInteger(fields.worst_fee)
  if (worstFee === undefined) return malformedInteger(fields, 'worst_fee')
  const owner = parseAddress(fields.owner_address)
  if (owner === undefined) return { refusal: invalidAddress('owner_address') }
  const signer = parseAddress(fields.signer_address)
  if (signer === undefined) return { refusal: invalidAddress('signer_address') }
  const subId = parseInteger(fieldOf(fields, 'sub_id') ?? '0', SUB_ID_MAX)
  if (subId === undefined) return malformedInteger(fields, 'sub_id')
  const { signature } = fields
  if (!isSignatureText(signature)) return { refusal: refusals.signatureForm }
  return {
    orderId,
    owner,
    signer,
    subaccountId,
    recipientId,
    nonce,
    worstFee,
    subId,
    signature,
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
    timeInForce: fieldOf(fields, 'time_in_force'),
    postOnly: fieldOf(fields, 'post_only'),
    stp: fieldOf(fields, 'stp'),
    stpScope: fieldOf(fields, 'stp_scope'),
    leaseId: fieldOf(fields, 'lease_id'),
    ignored: ignoredInstructions(fields),
  }
}

/** The first field that is required and not there. */
function missingField(fields: JsonFields): string | undefined {
  const isAbsent = (name: string): boolean => fieldOf(fields, name) === undefined
  const early = requiredBeforePrice.find(isAbsent)
  if (early !== undefined) return early
  // Side, price and amount may be derived from the intent; whether they can be is the translation's question.
  const isDerived = !isAbsent('order_entry_spec') || !isAbsent('ui_intent')
  const underived = isDerived ? undefined : derivable.find(isAbsent)
  if (underived !== undefined) return underived
  const late = requiredAfterPrice.find(isAbsent)
  return late === undefined && !isDerived && isAbsent('side') ? 'side' : late
}

/** Ids that most orders have: printable ASCII without blanks, and too long to be dots. */
const PLAIN_ID = /^[!-~]{3,128}$/
const ORDER_ID = new RegExp(ORDER_ID_PATTERN, 'u')
const NEW_ORDER_ID = new RegExp(NEW_ORDER_ID_PATTERN, 'u')

/** Whether an order of any release may have this id. Control characters and lone surrogates would not survive logs and UTF-8. */
export const isOrderId = (text: string): boolean => PLAIN_ID.test(text) || ORDER_ID.test(text)

const isNewOrderId = (text: string): boolean => PLAIN_ID.test(text) || NEW_ORDER_ID.test(text)

/** Why a new order cannot have this id. */
function orderIdFault(text: string): Refusal {
  // Two units are one character at most; a text of any length is not taken apart.
  const isLong = text.length > 2 * MAX_ORDER_ID_LENGTH
  if (isLong || Array.from(text).length > MAX_ORDER_ID_LENGTH) {
    return orderIdForm(`must be 1 to ${MAX_ORDER_ID_LENGTH} characters`)
  }
  if (text === '.' || text === '..') {
    return orderIdForm('must not be . or .., which a path takes for a directory')
  }
  if (text.trim() === '') return orderIdForm('must not be blank')
  return orderIdForm(
    'must not have control, format, invisible or bidirectional characters, line separators, or unpaired surrogates',
  )
}

const malformedInteger = (fields: JsonFields, name: string): { readonly refusal: Refusal } => ({
  refusal: invalidInteger(name, fields[name]),
})

const LEASE_ID = new RegExp(LEASE_ID_PATTERN)

export const isLeaseId = (value: unknown): value is string =>
  typeof value === 'string' && LEASE_ID.test(value)

/** How an order may match and rest, besides its terms. Absent members: as usual. */
export interface OrderControls {
  readonly timeInForce?: TimeInForce
  readonly postOnly?: PostOnly
  readonly stp?: SelfTradePrevention
  readonly stpScope?: 'owner'
  readonly leaseId?: string
}

/** Those of an order that has none. */
export const USUAL_CONTROLS: OrderControls = {}

type Sent = Pick<OrderBody, 'timeInForce' | 'postOnly' | 'stp' | 'stpScope' | 'leaseId'>

/** Reads `time_in_force`, `post_only`, `stp`, `stp_scope` and `lease_id` as they came. */
export function readControls(sent: Sent): Checked<OrderControls> {
  const controls = readMatching(sent)
  const { leaseId } = sent
  if (leaseId === undefined || 'refusal' in controls) return controls
  return isLeaseId(leaseId) ? { ...controls, leaseId } : { refusal: cancelsRefusals.leaseIdForm }
}

function readMatching(sent: Sent): Checked<OrderControls> {
  const ofBook = readBookControls(sent)
  if ('refusal' in ofBook || (sent.stp === undefined && sent.stpScope === undefined)) return ofBook
  const ofOwn = readSelfTrade(sent)
  return 'refusal' in ofOwn ? ofOwn : { ...ofBook, ...ofOwn }
}

function readBookControls({ timeInForce, postOnly }: Sent): Checked<OrderControls> {
  if (timeInForce === undefined && postOnly === undefined) return USUAL_CONTROLS
  const isImmediate = timeInForce === 'IOC' || timeInForce === 'FOK'
  if (timeInForce !== undefined && timeInForce !== 'GTC' && !isImmediate) {
    return { refusal: controlRefusals.timeInForce }
  }
  if (postOnly === undefined) return isImmediate ? { timeInForce } : USUAL_CONTROLS
  if (postOnly !== 'reject' && postOnly !== 'slide') return { refusal: controlRefusals.postOnly }
  return isImmediate ? { refusal: controlRefusals.postOnlyImmediate } : { postOnly }
}

function readSelfTrade({ stp, stpScope }: Sent): Checked<OrderControls> {
  const leaves = stp === 'cancel_oldest' || stp === 'cancel_both'
  if (stp !== undefined && stp !== 'cancel_newest' && !leaves) {
    return { refusal: controlRefusals.stp }
  }
  if (stpScope !== undefined && stpScope !== 'subaccount' && stpScope !== 'owner') {
    return { refusal: controlRefusals.stpScope }
  }
  return { ...(leaves && { stp }), ...(stpScope === 'owner' && { stpScope }) }
}

/** Fields that look like trading instructions but are not here: of other venues, or misspelt. */
const NO_INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['type', 'order_type', 'orderType', 'ordType', 'exec_inst', 'execInst'],
  ...['timeInForce', 'timeinforce', 'time_inforce', 'tif', 'TIF'],
  ...['postOnly', 'postonly', 'post-only', 'maker_only', 'makerOnly'],
  ...['reduceOnly', 'reduceonly', 'reduce-only', 'close_only', 'closeOnly', 'close_position'],
  ...['stop_price', 'stopPrice', 'trigger_price', 'triggerPrice', 'stop_loss', 'take_profit'],
  ...['iceberg', 'display_size', 'hidden', 'leverage'],
  ...['self_trade_prevention', 'self_trade_prevention_mode', 'selfTradePreventionMode'],
  ...['stp_mode', 'stpMode', 'stpScope', 'replaces_nonce', 'replaces_order_id'],
])

/** The names of a body's fields that look like trading instructions and are ignored. `type: "limit"` is what every order is. */
function ignoredInstructions(fields: JsonFields): readonly string[] {
  let found: string[] | undefined
  for (const name in fields) {
    if (!NO_INSTRUCTIONS.has(name) || fieldOf(fields, name) === undefined) continue
    if (isLimitType(fields[name])) continue
    found ??= []
    found.push(name)
  }
  return found ?? NONE
}

const NONE: readonly string[] = []

const isLimitType = (value: unknown): boolean =>
  typeof value === 'string' && value.toLowerCase() === 'limit'
