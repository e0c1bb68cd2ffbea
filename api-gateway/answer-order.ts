import { setTimeout as delay } from 'node:timers/promises'
import type { OrderAnswer } from '../bus-schemas/order-requests.js'
import { assert } from '../core/assert.js'
import { orderRecordJson } from '../core/records/order-record.js'
import type { Market } from '../core/market.js'
import type { Refusal } from '../core/refusals.js'
import { answerJson } from './answer-json.js'
import type { GatewayContext, GatewayDeps } from './context.js'
import { refuse } from './refuse.js'

/** How long the answer to a repeat waits for the order it names. */
const REPEAT_WAIT_MS = 500
const REPEAT_POLL_MS = 50

type Taken = Extract<OrderAnswer, { readonly kind: 'order' }>

/** Answers `{order}`; remembers what was shown, so that later reads show it too. */
export function answerOrder(ctx: GatewayContext, deps: GatewayDeps, answer: Taken): void {
  deps.ownWrites.answered(answer.market, answer.feed_seq)
  const { order, progress } = answer
  const market = marketNamed(deps, answer.market)
  ctx.state.logged.order_id = order.orderId
  ctx.state.logged.market = answer.market
  answerJson(ctx, `{"order":${orderRecordJson(market, order, progress)}}`)
}

/** Answers the refusal, with the order beside it that a repeat repeats. */
export async function refuseOrder(
  ctx: GatewayContext,
  deps: GatewayDeps,
  refusal: Refusal,
): Promise<void> {
  const { existingOrderId } = refusal
  const existing = existingOrderId && (await storedSoon(deps, existingOrderId))
  refuse(ctx, refusal, existing ? { order: existing } : {})
}

/**
 * The order that a repeat repeats. Its first submission may still be on its way through the market; whoever is told
 * that it exists should then find it.
 */
async function storedSoon(deps: GatewayDeps, orderId: string): Promise<object | undefined> {
  const deadline = performance.now() + REPEAT_WAIT_MS
  for (;;) {
    const record = storedRecord(deps, orderId)
    if (record !== undefined || performance.now() >= deadline) return record
    await delay(REPEAT_POLL_MS)
  }
}

/** The order as the projection has it. */
function storedRecord(deps: GatewayDeps, orderId: string): object | undefined {
  const stored = deps.readModel.order(orderId)
  if (stored === undefined) return undefined
  const { order, progress } = stored
  return JSON.parse(orderRecordJson(marketNamed(deps, order.market), order, progress)) as object
}

/** The market of an order the venue holds. */
export function marketNamed(deps: GatewayDeps, name: string): Market {
  const market = deps.markets.find((candidate) => candidate.market === name)
  assert(market !== undefined, `an order of the unlisted market ${name}`)
  return market
}
