import {
  ORDER_OPTIONS,
  type OptionName,
  type OrderOption,
  type OrderOptions,
} from '../../interface/order-options.js'
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
import { controlRefusals, optionRefusals } from './order-refusals.js'
import { isSignatureText } from './read-action.js'
import {
  fieldRequired,
  invalidAddress,
  invalidInteger,
  notAString,
  orderIdForm,
  refusals,
  type OrRefusal,
  type Refusal,
} from './refusals.js'

/** A body whose required fields are there and well-formed; what later checks judge is still as it came. */
export interface OrderRequestBody {
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
  /** The fields in which the options are, if there are any. */
  readonly options: JsonFields
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
export function readOrderBody(body: unknown): OrRefusal<OrderRequestBody> {
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
  const seldom = seldomFields(fields)
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
    options: seldom.options,
    ignored: seldom.ignored,
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

/** Those of an order that has none. */
export const USUAL_OPTIONS: OrderOptions = {}
const NO_OPTIONS: ReadOptions = { options: USUAL_OPTIONS }

/** Whether the body states the option, whatever its value. */
export const statesOption = ({ options }: OrderRequestBody, name: OptionName): boolean =>
  fieldOf(options, name) !== undefined

/** The options of a body, up to the first that cannot be. */
export interface ReadOptions {
  readonly options: OrderOptions
  /** Why the order cannot have the next one. */
  readonly refusal?: Refusal
}

/** Reads the options of a body in their order. */
export function readOptions(sent: JsonFields): ReadOptions {
  if (sent === NO_FIELDS) return NO_OPTIONS
  let read: Record<string, unknown> | undefined
  let refusal: Refusal | undefined
  for (const option of ORDER_OPTIONS) {
    const value = fieldOf(sent, option.name)
    if (value === undefined) continue
    if (!isOption(option, value)) {
      refusal = optionRefusals[option.name]
      break
    }
    const kept = keptValue(option, value)
    if (kept !== undefined) (read ??= {})[option.key] = kept
  }
  const options: OrderOptions = read ?? USUAL_OPTIONS
  if (options.postOnly !== undefined && options.timeInForce !== undefined) {
    return { options, refusal: controlRefusals.postOnlyImmediate }
  }
  return refusal === undefined ? { options } : { options, refusal }
}

function isOption({ declared }: OrderOption, value: unknown): boolean {
  if ('flag' in declared) return typeof value === 'boolean'
  if ('lease' in declared) return isLeaseId(value)
  return declared.choices.includes(value as string)
}

/** What an order keeps of a value; undefined where that is as usual. */
function keptValue({ declared, kept }: OrderOption, value: unknown): unknown {
  if ('flag' in declared) return value === true ? true : undefined
  return 'lease' in declared || kept.includes(value as string) ? value : undefined
}

/** Fields that look like trading instructions but are not here: of other venues, or misspelt. */
const NO_INSTRUCTIONS: ReadonlySet<string> = new Set([
  ...['type', 'order_type', 'orderType', 'ordType', 'exec_inst', 'execInst'],
  ...['stop_price', 'stopPrice', 'trigger_price', 'triggerPrice', 'stop_loss', 'take_profit'],
  ...['iceberg', 'display_size', 'hidden', 'leverage'],
  ...['replaces_nonce', 'replaces_order_id'],
  ...ORDER_OPTIONS.flatMap(({ declared }) => declared.mistaken),
])

/** What a name says that most bodies do not have. */
const SELDOM: ReadonlyMap<string, 'option' | 'mistaken'> = new Map([
  ...Array.from(NO_INSTRUCTIONS, (name) => [name, 'mistaken'] as const),
  ...ORDER_OPTIONS.map(({ name }) => [name, 'option'] as const),
])

interface SeldomFields {
  /** Names of fields that look like trading instructions and are ignored. `type: "limit"` is what every order is. */
  readonly ignored: readonly string[]
  /** The body where it may state an option; most state none. */
  readonly options: JsonFields
}

/** Looks at each name once: to look for each option costs more. */
function seldomFields(fields: JsonFields): SeldomFields {
  let ignored: string[] | undefined
  let options = NO_FIELDS
  for (const name in fields) {
    const kind = SELDOM.get(name)
    if (kind === 'option') options = fields
    if (kind !== 'mistaken' || fieldOf(fields, name) === undefined) continue
    if (isLimitType(fields[name])) continue
    ignored ??= []
    ignored.push(name)
  }
  return { ignored: ignored ?? NONE, options }
}

const NO_FIELDS: JsonFields = {}
const NONE: readonly string[] = []

const isLimitType = (value: unknown): boolean =>
  typeof value === 'string' && value.toLowerCase() === 'limit'
