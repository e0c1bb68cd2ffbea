import { askPlaceOrder, askReplaceOrder } from '../../bus-schemas/subjects.js'
import { isReplacement, readBatch } from '../../core/entry/read-change.js'
import { refusalBody, refusals, type Refusal } from '../../core/entry/refusals.js'
import { asJsonObject } from '../../core/json.js'
import { BatchAnswer, PlaceBatch } from '../../interface/order-changes.js'
import { askIntake } from '../../runtime/bus/ask-intake.js'
import { jsonObjectOf, readBody } from '../../runtime/http/read-body.js'
import { answerJson } from '../../runtime/http/server.js'
import { advise, BODY_LIMITS, refuse, type GatewayContext, type GatewayDeps } from '../context.js'
import { sayingSeqs } from '../feed-seqs.js'
import { admitOrder, orderMembers, refusalOfRepeat } from '../orders.js'
import { bodyRefusals, RATE_HEADERS, refused, type Route } from '../route.js'

/** `POST /v1/orders/batch`: 200 `{results}`, one for each order in the order of the request; each order stands alone. */
export const postOrdersBatch: Route = {
  method: 'POST',
  path: '/v1/orders/batch',
  operation: {
    id: 'placeOrders',
    tag: 'Orders',
    summary: 'Place or replace up to 20 signed orders',
    description:
      'Each is placed or refused by itself, as `POST /v1/orders` would, and counts as one order for every limit. ' +
      'One with `replaces_nonce` or `replaces_order_id` is a replacement, as for `POST /v1/orders/replace`. ' +
      'They are sent at once: one may meet another, and none waits for the one before it.',
    body: PlaceBatch,
    responses: {
      200: sayingSeqs({
        description: 'What became of each, in the order of the request.',
        body: BatchAnswer,
        headers: [...RATE_HEADERS, 'Retry-After'],
      }),
      ...bodyRefusals,
      400: refused('No list of 1 to 20 orders; nothing was placed.'),
      500: refused('Something broke; send the same orders again to learn what became of them.'),
    },
  },
  handler: (deps) => async (ctx) => {
    const read = await readBody(ctx.req, BODY_LIMITS)
    if ('refusal' in read) return refuse(ctx, read.refusal)
    const batch = readBatch(jsonObjectOf(read.body.toString()))
    if ('refusal' in batch) return refuse(ctx, batch.refusal)
    const ahead = new Map<unknown, number>()
    const results = batch.orders.map((order) => {
      const owner = asJsonObject(order)?.owner_address
      const before = ahead.get(owner) ?? 0
      ahead.set(owner, before + 1)
      const subject = isReplacement(order) ? askReplaceOrder : askPlaceOrder
      return placeOne(ctx, deps, { subject, body: JSON.stringify(order), ahead: before })
    })
    answerJson(ctx, `{"results":[${(await Promise.all(results)).join(',')}]}`)
  },
}

interface OneOrder {
  /** On which the intake is asked. */
  readonly subject: string
  readonly body: string
  /** Orders of its owner that stand before it. */
  readonly ahead: number
}

/** The result of one order as JSON text. */
async function placeOne(
  ctx: GatewayContext,
  deps: GatewayDeps,
  { subject, body, ahead }: OneOrder,
): Promise<string> {
  const { requestId: request_id } = ctx.state
  const refuseOne = async (given: Refusal): Promise<string> => {
    const { refusal, beside } = await refusalOfRepeat(deps, given)
    advise(ctx, refusal)
    const { status } = refusal
    return JSON.stringify({ status, ...refusalBody(refusal, request_id), ...beside })
  }
  const admitted = admitOrder(ctx, deps.orderRate, body, ahead)
  if ('refusal' in admitted) return refuseOne(admitted.refusal)
  const answer = await askIntake(deps.bus, subject, { request_id, body })
  if (answer !== undefined) {
    admitted.answered(answer.kind === 'refused' ? answer.refusal : undefined)
  }
  if (answer?.kind === 'order') return `{"status":200,${orderMembers(ctx, deps, answer)}}`
  return refuseOne(answer?.refusal ?? refusals.outcomeUnknown)
}
