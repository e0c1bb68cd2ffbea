import { z } from 'zod'
import type { Refusal } from '../core/refusals.js'
import { type OrderWire, type ProgressWire, orderWire, progressWire } from './order-wire.js'
import { WIRE_VERSION, decodeMessage, encodeMessage, wholeNumber } from './wire.js'

/** A request as the gateway passes it on: the body is the client's own JSON text, judged by the intake alone. */
export interface OrderRequest {
  readonly request_id: string
  readonly body: string
  /** The `X-Service-Auth` header of a cancel as it came, when there was one; a placement's is ignored. */
  readonly service_auth?: string
}
/** Asked on `ask.order.place`. */
export type PlaceOrderRequest = OrderRequest
/** Asked on `ask.order.cancel`. */
export type CancelOrderRequest = OrderRequest

/** What comes back for either request: the order as the matcher left it, or a refusal. */
export type OrderAnswer =
  | {
      readonly kind: 'order'
      /** Last seq of the block that decided it; a read that shows this seq shows the answer (decision D12). */
      readonly feed_seq: number
      readonly market: string
      readonly order: OrderWire
      readonly progress: ProgressWire
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const version = { v: z.literal(WIRE_VERSION) }
const requestMessage = z.strictObject({
  ...version,
  request_id: z.string(),
  body: z.string(),
  service_auth: z.string().exactOptional(),
})
const answerMessage = z.discriminatedUnion('kind', [
  z.strictObject({
    ...version,
    kind: z.literal('order'),
    feed_seq: wholeNumber,
    market: z.string(),
    order: orderWire,
    progress: progressWire,
  }),
  z.strictObject({
    ...version,
    kind: z.literal('refused'),
    refusal: z.strictObject({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      field: z.string().exactOptional(),
      detail: z.record(z.string(), z.unknown()).exactOptional(),
      existing_order_id: z.string().exactOptional(),
    }),
  }),
])

export function encodeOrderRequest(request: OrderRequest): Uint8Array {
  const { request_id, body, service_auth } = request
  return encodeMessage({ request_id, body, service_auth })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version; the body inside may still be anything. */
export function decodeOrderRequest(data: Uint8Array): OrderRequest {
  const { request_id, body, service_auth } = decodeMessage('order request', requestMessage, data)
  return { request_id, body, ...(service_auth !== undefined && { service_auth }) }
}

/** A refusal's `detail` must be plain JSON. */
export function encodeOrderAnswer(answer: OrderAnswer): Uint8Array {
  if (answer.kind === 'order') {
    const { kind, feed_seq, market, order, progress } = answer
    return encodeMessage({ kind, feed_seq, market, order, progress })
  }
  const { code, status, message, field, detail, existingOrderId } = answer.refusal
  const refusal = { code, status, message, field, detail, existing_order_id: existingOrderId }
  return encodeMessage({ kind: answer.kind, refusal })
}

/** The inverse of encodeOrderAnswer. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeOrderAnswer(data: Uint8Array): OrderAnswer {
  const wire = decodeMessage('order answer', answerMessage, data)
  if (wire.kind === 'order') {
    const { kind, feed_seq, market, order, progress } = wire
    return { kind, feed_seq, market, order, progress }
  }
  const { existing_order_id, ...refusal } = wire.refusal
  return {
    kind: wire.kind,
    refusal: {
      ...refusal,
      ...(existing_order_id !== undefined && { existingOrderId: existing_order_id }),
    },
  }
}
