import type { NewOrder, OrderAnswer, OrderLookup, OrderRecord } from '../interface/order.js'
import type { ReplaceAnswer, ReplaceOrder } from '../interface/order-changes.js'
import { isOpenDuplicate, OutcomeUnknown, pauseAfter, VenueRefused } from './request.js'

/** What places and replaces orders. Throws VenueRefused or OutcomeUnknown. */
export interface OrderPlacing {
  /**
   * Places a signed order and returns it. Sends the same body again while the outcome is unknown, which is safe because
   * an order id is accepted once, then looks it up. If the order exists already, its record is returned. Throws OutcomeUnknown while
   * the market has not decided: the order may still fill, so send the same body again rather than another order.
   */
  placeOrder(body: NewOrder): Promise<OrderRecord>
  /**
   * Replaces an active order by a signed one, in one step of the market; returns both. The body is that of a new order with
   * `replaces_nonce` or `replaces_order_id`. If it was replaced before, both are looked up. Where it throws VenueRefused the other order stays.
   */
  replaceOrder(body: ReplaceOrder): Promise<ReplaceAnswer>
}

interface PlacingParts {
  /** Throws VenueRefused or OutcomeUnknown. */
  readonly post: <T>(path: string, body: object) => Promise<T>
  readonly order: (orderId: string) => Promise<OrderLookup>
  /** How often a submission whose outcome is unknown is sent again. */
  readonly resends: number
}

/** Places and replaces orders so that what is answered is what became of them: an answer that leaves that open is no outcome. */
export function createPlacing({ post, order, resends }: PlacingParts): OrderPlacing {
  /** The stored order with this id; undefined while none is shown. */
  async function find(orderId: string): Promise<OrderRecord | undefined> {
    try {
      return (await order(orderId)).order
    } catch (error) {
      if (error instanceof OutcomeUnknown || error instanceof VenueRefused) return undefined
      throw error
    }
  }

  async function placeOrder(body: NewOrder): Promise<OrderRecord> {
    for (let left = resends; ; left--) {
      try {
        return (await post<OrderAnswer>('/v1/orders', body)).order
      } catch (error) {
        const known = storedOrder(error)
        if (known !== undefined) return known
        const open = withoutOutcome(error, left < resends)
        if (open === undefined) throw error
        const found = error !== open || left === 0 ? await find(body.order_id) : undefined
        if (found !== undefined) return own(found, body, error)
        if (left === 0) throw open
        await pauseAfter(open)
      }
    }
  }

  async function replaceOrder(body: ReplaceOrder): Promise<ReplaceAnswer> {
    try {
      return await post<ReplaceAnswer>('/v1/orders/replace', body)
    } catch (error) {
      const open = isOpenDuplicate(error)
      const stored = storedOrder(error) ?? (open ? await find(body.order_id) : undefined)
      if (stored?.replaces_order_id === undefined) throw withoutOutcome(error) ?? error
      const { order: replaced } = await order(stored.replaces_order_id)
      return { order: own(stored, body, error), replaced }
    }
  }

  return { placeOrder, replaceOrder }
}

/** The stored order if it is the one that the body asks for; throws the error if the id is that of another one. */
function own(stored: OrderRecord, { signature }: NewOrder, error: unknown): OrderRecord {
  if (stored.signature === signature) return stored
  throw error
}

/**
 * The error without an outcome that this one comes to; undefined for a refusal. One that passes by itself, such as of too many requests,
 * says nothing of an order that was sent before.
 */
function withoutOutcome(error: unknown, isResent = false): OutcomeUnknown | undefined {
  if (error instanceof OutcomeUnknown) return error
  if (!(error instanceof VenueRefused)) return undefined
  const isOpen = (isResent && error.retry === 'same') || isOpenDuplicate(error)
  if (!isOpen) return undefined
  const { message, code, retryAfterSec = 1 } = error
  return new OutcomeUnknown(message, { cause: error, retryAfterSec, code })
}

/** The order that the refusal of a repeated submission carries. */
function storedOrder(error: unknown): OrderRecord | undefined {
  if (!(error instanceof VenueRefused) || error.status !== 409) return undefined
  return error.body.order as OrderRecord | undefined
}
