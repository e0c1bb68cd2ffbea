import type { ActionJson } from '../core/action.js'
import type { Refusal } from '../core/entry/refusals.js'
import type { DecidedBy } from '../core/entry/repeated-order.js'
import type { RefusedByMarket, StandingOrder } from '../core/model/command-answer.js'
import type { Hold, HoldReason } from '../core/model/hold.js'
import {
  ORDER_OPTIONS,
  type Order,
  type OrderProgress,
  type OrderStatus,
  type Side,
  type UiIntent,
  type OrderOption,
  type OrderOptions,
} from '../core/model/order.js'
import {
  address,
  always,
  amountE18,
  bigintOf,
  feePerUnitE18,
  hex,
  jsonObject,
  oneOf,
  priceE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import {
  appended,
  appendedUnless,
  list,
  optional,
  struct,
  union,
  usually,
  type AppendedField,
  type FieldCodecs,
} from '../core/wire/compound.js'
import { message, since, storedText, textOf, WIRE_VERSION } from './envelope.js'

export const side = oneOf<Side>({ buy: true, sell: true })
export const orderStatus = oneOf<OrderStatus>({
  active: true,
  matching: true,
  filled: true,
  cancelled: true,
  expired: true,
})
export const holdReason = oneOf<HoldReason>({
  signature_unchecked: true,
  settlement_refused: true,
  expiring: true,
  continuing: true,
  insufficient_balance: true,
  not_in_custody: true,
  insufficient_margin: true,
  margin_unreadable: true,
  open_interest_cap: true,
  reduce_only: true,
  under_liquidation: true,
  pair_waits: true,
  signer_waits: true,
})

export const refusedByMarket = oneOf<RefusedByMarket>({
  post_only_would_cross: true,
  open_order_limit: true,
  signer_order_limit: true,
  active_order_not_found: true,
  replacement_differs: true,
  replacement_too_small: true,
  replacement_ends: true,
  command_refused: true,
})

/** Why an order is held, as checkpoints keep it. */
export const hold = struct<Hold>({
  reason: holdReason,
  untilMs: optional(whole),
  needed: optional(uint),
})

type OptionFields = {
  readonly [Key in keyof OrderOptions]-?: AppendedField<NonNullable<OrderOptions[Key]>>
}

function optionCodec({ declared, kept }: OrderOption): Codec<true> | Codec<string> {
  if ('flag' in declared) return always
  if ('lease' in declared) return text
  return oneOf(Object.fromEntries(kept.map((word) => [word, true as const])))
}

const optionFields = Object.fromEntries(
  ORDER_OPTIONS.map((option) => [option.key, { appended: optionCodec(option) }]),
) as unknown as OptionFields

/** In the order in which they travel. */
const orderFields: Omit<FieldCodecs<Order>, keyof OrderOptions> & Partial<OptionFields> = {
  orderId: text,
  market: text,
  owner: address,
  subaccountId: uint,
  nonce: uint,
  side,
  desiredAmount: amountE18,
  initialFilled: amountE18,
  limitPrice: priceE18,
  worstFee: feePerUnitE18,
  signatureStatus: oneOf<Order['signatureStatus']>({ checked: true, unchecked: true }),
  signer: usually(address, ({ owner }) => owner),
  expirySec: whole,
  actionExpirySec: usually(uint, ({ expirySec }) => bigintOf(expirySec)),
  signature: hex,
  uiIntent: optional(struct<UiIntent>({ side, price: text, size: text })),
  ownTexts: optional(
    struct<Partial<ActionJson>>({
      subaccount_id: optional(text),
      nonce: optional(text),
      module: optional(text),
      data: optional(text),
      expiry: optional(text),
      owner: optional(text),
      signer: optional(text),
    }),
  ),
  warnings: optional(list(text)),
  reduceOnly: optionFields.reduceOnly,
  timeInForce: optionFields.timeInForce,
  postOnly: optionFields.postOnly,
  signedLimitPrice: appended(priceE18),
  // A market whose trading ends may end the order before both expiries do.
  goodUntilSec: appendedUnless(whole, ({ expirySec, actionExpirySec }) =>
    actionExpirySec < expirySec ? Number(actionExpirySec) : expirySec,
  ),
  stp: optionFields.stp,
  stpScope: optionFields.stpScope,
  signedDesiredAmount: appended(amountE18),
  replaces: appended(text),
  leaseId: optionFields.leaseId,
  signedByCode: appended(always),
}

/**
 * An order as commands, blocks, answers, checkpoints and the history hold it. An option that is declared later travels last.
 */
export const order = struct<Order>({ ...orderFields, ...optionFields })

/** An order as the history stores it. */
export const orderText = storedText('stored order', since(WIRE_VERSION, order))

/** Where an order stands. */
export const orderProgress = struct<OrderProgress>({
  status: orderStatus,
  filled: amountE18,
  pending: amountE18,
  open: amountE18,
  createdAtMs: whole,
  updatedAtMs: whole,
  heldReason: optional(holdReason),
  cancelReason: optional(text),
  cancelledAtMs: optional(whole),
})

/** Asked on `ask.order.place`, `ask.order.cancel` and `ask.order.validate`: the body is the client's own JSON text, judged by the intake alone. */
export interface OrderRequest {
  readonly request_id: string
  readonly body: string
  /** The `X-Service-Auth` header of a cancel as it came, when there was one; a placement's is ignored. */
  readonly service_auth?: string
}

/** The same before it is sent, with the body as text or as the bytes of its UTF-8. */
export interface OrderQuestion extends Omit<OrderRequest, 'body'> {
  readonly body: string | Uint8Array
}

const requestHead = storedText(
  'order request',
  since(
    WIRE_VERSION,
    struct<Omit<OrderRequest, 'body'>>({
      request_id: text,
      service_auth: optional(text),
    }),
  ),
)

/** The body follows the first line as it is: nothing escapes it, and one that came as bytes is not read on the way. */
export function encodeOrderRequest({ body, ...head }: OrderQuestion): Uint8Array {
  const line = Buffer.from(`${requestHead.write(head)}\n`)
  return Buffer.concat([line, typeof body === 'string' ? Buffer.from(body) : body])
}

/** Throws as `decode` of a message does; the body may still be anything. */
export function decodeOrderRequest(data: Uint8Array): OrderRequest {
  const request = textOf(data)
  const end = request.indexOf('\n')
  // A request without a second line is not one, and an older version's is refused for its version.
  const { request_id, service_auth } = requestHead.read(request.slice(0, Math.max(end, 0)))
  const body = request.slice(end + 1)
  return service_auth === undefined ? { request_id, body } : { request_id, body, service_auth }
}

/** What comes back for either request: the order as the matcher left it, or a refusal. */
export type OrderReply =
  | {
      readonly kind: 'order'
      /** Last seq of the block that decided it; a read that shows this seq shows the answer (REA-032). */
      readonly feed_seq: number
      readonly market: string
      readonly order: Order
      readonly progress: OrderProgress
      /** The order that it has replaced, as that left it. */
      readonly replaced?: StandingOrder
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** A refusal; its `detail` and `extra` must be plain JSON. */
export const refusal = struct<Refusal>({
  code: text,
  status: whole,
  message: text,
  field: optional(text),
  detail: optional(jsonObject),
  extra: optional(jsonObject),
  existingOrderId: optional(text),
  decided: optional(struct<DecidedBy>({ market: text, seq: whole })),
})

export const { encode: encodeOrderAnswer, decode: decodeOrderAnswer } = message(
  'order answer',
  since(
    WIRE_VERSION,
    union<OrderReply>({
      order: {
        feed_seq: whole,
        market: text,
        order,
        progress: orderProgress,
        replaced: appended(struct<StandingOrder>({ order, progress: orderProgress })),
      },
      refused: { refusal },
    }),
  ),
)
