import { z } from 'zod'
import {
  decodeOrderFactsAnswer,
  encodeOrderFactsQuestion,
  type ShownSeq,
} from '../../bus-schemas/account-facts.js'
import { askOrderFacts } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { refusals, type OrRefusal } from '../../core/entry/refusals.js'
import { amountE18 } from '../../core/money.js'
import type { OrderFacts } from '../../core/records/order-record.js'
import type { StoredOrder } from '../../data/history/read-orders.js'
import { Explanation } from '../../interface/explanation.js'
import { orderId } from '../../interface/values.js'
import { serviceAuthHeader } from '../../interface/venue.js'
import { NoAnswer } from '../../runtime/bus/bus.js'
import { refuse, type GatewayContext, type GatewayDeps } from '../context.js'
import { shownOnChain } from '../chain-markets.js'
import { explainOrder } from '../explain-order.js'
import { afterOf, asOf, sayProjected, shownAsAsked, shownAtLeast } from '../feed-seqs.js'
import { marketNamed } from '../orders.js'
import { serviceAuth } from '../read-request.js'
import { broken, refused, tooManyReads, type Route } from '../route.js'

/** `GET /v1/orders/{order_id}/explain`: what became of an order and why; 404 when no such order was ever accepted. */
export const getOrderExplanation: Route = asOf({
  method: 'GET',
  path: '/v1/orders/:order_id/explain',
  operation: {
    id: 'explainOrder',
    tag: 'Orders',
    summary: 'Explain what became of an order, and what would release it',
    description:
      'As public as the order record: why the order was held or cancelled, what the chain refused and with which revert, which ' +
      'matches await settlement, and which settled in which transactions. With the frame of its owner, that of the histories, also ' +
      'what the order needs of its account and what the account holds; the frame of another owner adds nothing.',
    path: z.object({ order_id: orderId }),
    headers: z.object({ 'X-Service-Auth': serviceAuthHeader.optional() }),
    responses: {
      200: { description: 'Its life, in codes and in sentences.', body: Explanation },
      400: refused('A bad `min_seq`.'),
      401: refused(
        'A frame was sent that is malformed, expired or not signed by its address or a session key of it.',
      ),
      404: refused('No such order was ever taken.'),
      500: broken,
      503: { ...tooManyReads, headers: ['Retry-After'] },
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asker = await askerOf(ctx, deps)
    if ('refusal' in asker) return refuse(ctx, asker.refusal)
    const shown = await shownAsAsked(ctx, deps)
    if ('refusal' in shown) return refuse(ctx, shown.refusal)
    const stored = deps.readModel.order(ctx.params.order_id ?? '')
    if (stored === undefined) {
      sayProjected(ctx, deps)
      return refuse(ctx, refusals.orderNotFound)
    }
    const { order, progress } = stored
    const isOwn = asker.owner === order.owner
    const after = shownAtLeast(deps, shown.seqs)
    const facts = await orderFacts(deps, stored, { isOwn, after: afterOf(after) })
    const market = marketNamed(deps, order.market)
    const { observed } = await shownOnChain(deps, market)
    // Read last, so that a match that has settled meanwhile is shown as settled.
    const { now, life } = deps.readModel.atOnce(() => {
      sayProjected(ctx, deps, order.market)
      const newest = deps.readModel.order(order.orderId) ?? stored
      return { now: newest, life: deps.readModel.orderLife(order, progress.createdAtMs) }
    })
    const nowMs = deps.nowMs()
    const fillRange = tradingOf(market).fillRange?.(observed, nowMs)
    const known = { life, facts, isOwn, fillRange, nowMs }
    ctx.body = explainOrder(market, now, known) satisfies Explanation
  },
})

/** Whose frame the request has; none is needed, but one that is sent must hold. */
async function askerOf(
  ctx: GatewayContext,
  deps: GatewayDeps,
): Promise<OrRefusal<{ readonly owner?: Address }>> {
  return ctx.get(deps.auth.header) === '' ? {} : serviceAuth(ctx, deps)
}

/** Longer than the fan-out waits for its feeds; an explanation without these facts is better than none. */
const ASK_TIMEOUT_MS = 4_000

/**
 * What the fan-out knows of an order: its pending matches and, where `isOwn`, what its account holds. Undefined while no
 * fan-out answers.
 */
async function orderFacts(
  { bus }: Pick<GatewayDeps, 'bus'>,
  { order, progress }: StoredOrder,
  { isOwn, after }: { readonly isOwn: boolean; readonly after: readonly ShownSeq[] },
): Promise<OrderFacts | undefined> {
  if (progress.pending === 0n && !isOwn) return undefined
  const { market, orderId, owner, subaccountId, side, limitPrice: price } = order
  const isLive = progress.status === 'active' || progress.status === 'matching'
  const unmatched = isLive ? order.desiredAmount - progress.filled - progress.pending : 0n
  const rest = { subaccountId, side, price, amount: amountE18(unmatched) }
  const question = { market, orderId, owner, after, ...(isOwn && { rest }) }
  try {
    const data = await bus.ask(askOrderFacts, encodeOrderFactsQuestion(question), ASK_TIMEOUT_MS)
    const { body } = decodeOrderFactsAnswer(data)
    return body === undefined ? undefined : (JSON.parse(body) as OrderFacts)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
