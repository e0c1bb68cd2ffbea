import type { Order, OrderProgress } from '../core/order.js'
import type { Refusal } from '../core/refusals.js'
import { jsonText } from '../core/json-text.js'
import { type Lines, framed } from './frame.js'
import { orderFromWire, orderJson, progressFromWire, progressJson } from './order-wire.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readInteger,
  readText,
  readWhole,
} from './read-fields.js'
import { readMessage } from './read-message.js'
import { WIRE_VERSION, bytesOf, encodeMessage } from './wire.js'
import { optionalText } from './write-fields.js'

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
      readonly order: Order
      readonly progress: OrderProgress
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** The same before it is put, with the body as text or as the bytes of its UTF-8. */
export interface OrderQuestion extends Omit<OrderRequest, 'body'> {
  readonly body: string | Uint8Array
}

/** The body travels behind the head as it is, so that nobody escapes it, and whoever has it as bytes need not read it. */
export function encodeOrderRequest({ request_id, body, service_auth }: OrderQuestion): Uint8Array {
  const auth = optionalText('service_auth', service_auth)
  const head = `{"v":${WIRE_VERSION},"request_id":${jsonText(request_id)}${auth}}\n`
  const bodyBytes = typeof body === 'string' ? bytesOf(body) : body
  const headLength = Buffer.byteLength(head)
  const bytes = Buffer.allocUnsafe(headLength + bodyBytes.length)
  bytes.write(head, 'utf8')
  bytes.set(bodyBytes, headLength)
  return bytes
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version; the body inside may still be anything. */
export function decodeOrderRequest(data: Uint8Array): OrderRequest {
  return readMessage('order request', requestFromWire, data)
}

function requestFromWire(message: object, lines: Lines): OrderRequest {
  const wire = fieldsOf<OrderRequest>(message, 'message')
  const request_id = readText(wire.request_id, 'request_id')
  const { service_auth } = wire
  assertClosed(wire, 2 + one(service_auth), 'message')
  const body = lines.rest()
  if (service_auth === undefined) return { request_id, body }
  return { request_id, body, service_auth: readText(service_auth, 'service_auth') }
}

/** A refusal's `detail` must be plain JSON. */
export function encodeOrderAnswer(answer: OrderAnswer): Uint8Array {
  if (answer.kind === 'order') {
    const { feed_seq, market, order, progress } = answer
    const head = `{"v":${WIRE_VERSION},"kind":"order","feed_seq":${feed_seq},"market":${jsonText(market)},"order":${orderJson(order)},"progress":${progressJson(progress)}}`
    return framed(head, [order.statement])
  }
  const { code, status, message, field, detail, existingOrderId } = answer.refusal
  const refusal = { code, status, message, field, detail, existing_order_id: existingOrderId }
  return encodeMessage({ kind: answer.kind, refusal })
}

/** The inverse of encodeOrderAnswer. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeOrderAnswer(data: Uint8Array): OrderAnswer {
  return readMessage('order answer', answerFromWire, data)
}

/** Fields of either answer. */
interface AnswerFields {
  readonly kind: OrderAnswer['kind']
  readonly feed_seq: number
  readonly market: string
  readonly order: unknown
  readonly progress: unknown
  readonly refusal: unknown
}

function answerFromWire(message: object, lines: Lines): OrderAnswer {
  const wire = fieldsOf<AnswerFields>(message, 'message')
  const { kind } = wire
  if (kind === 'order') {
    assertClosed(wire, 6, 'message')
    return {
      kind,
      feed_seq: readWhole(wire.feed_seq, 'feed_seq'),
      market: readText(wire.market, 'market'),
      order: orderFromWire(wire.order, lines),
      progress: progressFromWire(wire.progress),
    }
  }
  if (kind !== 'refused') return malformed('kind', 'known')
  assertClosed(wire, 3, 'message')
  return { kind, refusal: refusalFromWire(wire.refusal) }
}

interface RefusalWire {
  readonly code: string
  readonly status: number
  readonly message: string
  readonly field: string
  readonly detail: Readonly<Record<string, unknown>>
  readonly existing_order_id: string
}

function refusalFromWire(value: unknown): Refusal {
  const wire = fieldsOf<RefusalWire>(value, 'refusal')
  const { field, detail, existing_order_id } = wire
  const refusal: { -readonly [K in keyof Refusal]: Refusal[K] } = {
    code: readText(wire.code, 'code'),
    status: readInteger(wire.status, 'status'),
    message: readText(wire.message, 'message'),
  }
  if (field !== undefined) refusal.field = readText(field, 'field')
  if (detail !== undefined) refusal.detail = fieldsOf<Record<string, unknown>>(detail, 'detail')
  if (existing_order_id !== undefined) {
    refusal.existingOrderId = readText(existing_order_id, 'existing_order_id')
  }
  assertClosed(wire, 3 + one(field) + one(detail) + one(existing_order_id), 'refusal')
  return refusal
}
