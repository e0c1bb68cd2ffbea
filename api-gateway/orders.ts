import { setTimeout as delay } from 'node:timers/promises'
import {
  decodeOrderAnswer,
  encodeOrderRequest,
  type OrderAnswer,
  type OrderQuestion,
} from '../bus-schemas/orders.js'
import { assert } from '../core/assert.js'
import type { Market } from '../core/contracts/market.js'
import type { Refusal } from '../core/entry/refusals.js'
import { orderRecordJson } from '../core/records/order-record.js'
import { NoAnswer, type Bus } from '../runtime/bus/bus.js'
import { answerJson } from '../runtime/http/server.js'
import { refuse, type GatewayContext, type GatewayDeps } from './context.js'

/** Longest wait for an order's outcome (decision B15). */
export const ANSWER_TIMEOUT_MS = 3_000

/**
 * Passes a request to the intake and returns the answer of the intake or the matcher; undefined without an answer in
 * time, which leaves the order's outcome unknown. Without a bus connection nothing is sent: the client library would
 * buffer the request and send it long after the answer that invites a retry.
 */
export async function askIntake(
  bus: Pick<Bus, 'ask' | 'isConnected'>,
  subject: string,
  request: OrderQuestion,
): Promise<OrderAnswer | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    return decodeOrderAnswer(await bus.ask(subject, encodeOrderRequest(request), ANSWER_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

/** Longest wait of a duplicate's answer for the stored order. */
const REPEAT_WAIT_MS = 500
const REPEAT_POLL_MS = 50

type Taken = Extract<OrderAnswer, { readonly kind: 'order' }>

/** Answers `{order}` and notes the feed position, so that later reads include the order. */
export function answerOrder(ctx: GatewayContext, deps: GatewayDeps, answer: Taken): void {
  deps.ownWrites.answered(answer.market, answer.feed_seq)
  const { order, progress } = answer
  const market = marketNamed(deps, answer.market)
  ctx.state.logged.order_id = order.orderId
  ctx.state.logged.market = answer.market
  answerJson(ctx, `{"order":${orderRecordJson(market, order, progress)}}`)
}

/** Answers the refusal; an identical resubmission is answered with the stored order beside it. */
export async function refuseOrder(
  ctx: GatewayContext,
  deps: GatewayDeps,
  refusal: Refusal,
): Promise<void> {
  const { existingOrderId } = refusal
  const existing = existingOrderId && (await waitForStored(deps, existingOrderId))
  refuse(ctx, refusal, existing ? { order: existing } : {})
}

/** The stored order of a duplicate. The first submission may still be in flight, so this waits for its projection. */
async function waitForStored(deps: GatewayDeps, orderId: string): Promise<object | undefined> {
  const deadline = performance.now() + REPEAT_WAIT_MS
  for (;;) {
    const record = storedRecord(deps, orderId)
    if (record !== undefined || performance.now() >= deadline) return record
    await delay(REPEAT_POLL_MS)
  }
}

/** The order's record as projected. */
function storedRecord(deps: GatewayDeps, orderId: string): object | undefined {
  const stored = deps.readModel.order(orderId)
  if (stored === undefined) return undefined
  const { order, progress } = stored
  return JSON.parse(orderRecordJson(marketNamed(deps, order.market), order, progress)) as object
}

/** The market of a stored order; an unlisted one is a broken invariant. */
export function marketNamed(deps: GatewayDeps, name: string): Market {
  const market = deps.markets.find((candidate) => candidate.market === name)
  assert(market !== undefined, `an order of the unlisted market ${name}`)
  return market
}
