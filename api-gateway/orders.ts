import { setTimeout as delay } from 'node:timers/promises'
import type { OrderReply } from '../bus-schemas/orders.js'
import { assert } from '../core/assert.js'
import type { Market } from '../core/model/market.js'
import { refusals, type Refusal } from '../core/entry/refusals.js'
import { heldBy } from '../core/entry/repeated-order.js'
import { parseAddress, type JsonFields } from '../core/json.js'
import { ownFilled } from '../core/engine/order-sums.js'
import { orderRecordJson, type ShownOrder } from '../core/records/order-record.js'
import { askIntake } from '../runtime/bus/ask-intake.js'
import { jsonObjectOf, readBody } from '../runtime/http/read-body.js'
import { answerJson } from '../runtime/http/server.js'
import { admitOrderOf, type OrderRate, type RateLeft } from '../runtime/process/order-rate.js'
import { BODY_LIMITS, refuse, type GatewayContext, type GatewayDeps } from './context.js'
import { saySeqToo } from './feed-seqs.js'

/** Longest wait of a repeat's answer for the stored order. */
const REPEAT_WAIT_MS = 500
const REPEAT_POLL_MS = 50

type PlacedAnswer = Extract<OrderReply, { readonly kind: 'order' }>

/** Answers `{order}` and notes the feed position, so that later reads include the order. */
function answerOrder(ctx: GatewayContext, deps: GatewayDeps, answer: PlacedAnswer): void {
  ctx.state.logged.order_id = answer.order.orderId
  ctx.state.logged.market = answer.market
  answerJson(ctx, `{${orderMembers(ctx, deps, answer)}}`)
}

/** The members of an answer that shows an order; later reads include it, and the header says what they must show. */
export function orderMembers(ctx: GatewayContext, deps: GatewayDeps, answer: PlacedAnswer): string {
  deps.ownWrites.answered(answer.market, answer.feed_seq)
  const { replaced } = answer
  const market = marketNamed(deps, answer.market)
  const order = `"order":${orderRecordJson(market, withSums(deps, answer))}`
  const members =
    replaced === undefined
      ? order
      : `${order},"replaced":${orderRecordJson(market, withSums(deps, replaced))}`
  saySeqToo(ctx, answer.market, answer.feed_seq)
  return members
}

/** The order with the sums of its fills that the read model shows: they may be those of other fills than the answer's. */
function withSums(
  { readModel }: Pick<GatewayDeps, 'readModel'>,
  { order, progress }: Pick<ShownOrder, 'order' | 'progress'>,
): ShownOrder {
  if (ownFilled(order, progress) === 0n) return { order, progress }
  return { order, progress, sums: readModel.order(order.orderId)?.sums }
}

/** How an order is placed by its body, and what is told of it beside the answer. */
interface PlacementRequest {
  /** The subject on which the intake is asked. */
  readonly ask: string
  /** Told how long the intake took. */
  readonly onAsked?: ((seconds: number) => void) | undefined
  /** Told the fields of a body that became no order. */
  readonly onRefused?: (fields: JsonFields) => void
}

/**
 * Asks the intake to place an order, alone or in the place of another one, and answers what the market decided. The intake
 * parses the body; the gateway reads it only when it became no order, to tell a refused order from text that is not JSON.
 */
export async function placeByBody(
  ctx: GatewayContext,
  deps: GatewayDeps,
  { ask, onAsked, onRefused }: PlacementRequest,
): Promise<void> {
  const read = await readBody(ctx.req, BODY_LIMITS)
  if ('refusal' in read) return refuse(ctx, read.refusal)
  const { body } = read
  const admitted = admitOrder(ctx, deps.orderRate, body)
  if ('refusal' in admitted) return refuse(ctx, admitted.refusal)
  const askedAt = performance.now()
  const answer = await askIntake(deps.bus, ask, { request_id: ctx.state.requestId, body })
  onAsked?.((performance.now() - askedAt) / 1_000)
  if (answer !== undefined) {
    admitted.answered(answer.kind === 'refused' ? answer.refusal : undefined)
  }
  if (answer?.kind === 'order') return answerOrder(ctx, deps, answer)
  const fields = jsonObjectOf(body.toString())
  if (fields === undefined) return refuse(ctx, refusals.invalidJsonBody)
  onRefused?.(fields)
  if (answer === undefined) return refuse(ctx, refusals.outcomeUnknown)
  await refuseOrder(ctx, deps, answer.refusal)
}

/** Asks the intake for a change that needs its owner's proof, a cancel or a reduction, and answers the order as it left it. */
export async function changeByProof(
  ctx: GatewayContext,
  deps: GatewayDeps,
  ask: string,
): Promise<void> {
  const read = await readBody(ctx.req, BODY_LIMITS)
  if ('refusal' in read) return refuse(ctx, read.refusal)
  const { body } = read
  const service_auth = ctx.get(deps.auth.header)
  const request = {
    request_id: ctx.state.requestId,
    body,
    ...(service_auth !== '' && { service_auth }),
  }
  const answer = await askIntake(deps.bus, ask, request)
  if (answer?.kind === 'order') return answerOrder(ctx, deps, answer)
  if (jsonObjectOf(body.toString()) === undefined) return refuse(ctx, refusals.invalidJsonBody)
  if (answer === undefined) return refuse(ctx, refusals.cancelTarget)
  await refuseOrder(ctx, deps, answer.refusal)
}

/** Answers the refusal; an identical resubmission is answered with the stored order beside it. */
async function refuseOrder(ctx: GatewayContext, deps: GatewayDeps, given: Refusal): Promise<void> {
  const { refusal, beside } = await refusalOfRepeat(deps, given)
  refuse(ctx, refusal, beside)
}

/** A refusal and what stands beside it. */
interface AnsweredRefusal {
  readonly refusal: Refusal
  readonly beside: { readonly order?: object }
}

/**
 * The answer to a placement that was sent before: the refusal with the stored order. Without an order where the read model shows
 * the market's decision and no such order. `outcome_unknown` when it shows neither within REPEAT_WAIT_MS (ORD-003).
 */
export async function refusalOfRepeat(
  deps: GatewayDeps,
  refusal: Refusal,
): Promise<AnsweredRefusal> {
  const { existingOrderId, decided } = refusal
  if (existingOrderId === undefined) return { refusal, beside: {} }
  const deadline = performance.now() + REPEAT_WAIT_MS
  for (;;) {
    // Read first: what is projected meanwhile is no reason to say that the order is gone.
    const isShown =
      decided !== undefined && deps.readModel.projectedSeq(decided.market) >= decided.seq
    const order = storedRecord(deps, existingOrderId)
    if (order !== undefined) return { refusal, beside: { order } }
    if (isShown) return { refusal: heldBy(refusal, 'an_order_no_longer_stored'), beside: {} }
    if (performance.now() >= deadline) return { refusal: refusals.outcomeUnknown, beside: {} }
    await delay(REPEAT_POLL_MS)
  }
}

/** The order's record as projected. */
function storedRecord(deps: GatewayDeps, orderId: string): object | undefined {
  const stored = deps.readModel.order(orderId)
  if (stored === undefined) return undefined
  return JSON.parse(orderRecordJson(marketNamed(deps, stored.order.market), stored)) as object
}

/** The market of a stored order; an unlisted one is a broken invariant. */
export function marketNamed(deps: GatewayDeps, name: string): Market {
  const market = deps.markets.find((candidate) => candidate.market === name)
  assert(market !== undefined, `an order of the unlisted market ${name}`)
  return market
}

/** An order that was admitted; `answered` is told the refusal with which it was answered, undefined for an order. */
interface AdmittedRequest {
  readonly answered: (refusal: Refusal | undefined) => void
}

const UNCOUNTED: AdmittedRequest = { answered: () => undefined }

/**
 * Admits an order of its owner, or refuses it; its answer says in either case what is left. `ahead` orders of the owner stand
 * before it in the same request.
 */
export function admitOrder(
  ctx: GatewayContext,
  rate: OrderRate | undefined,
  body: Pick<Buffer, 'toString'>,
  ahead = 0,
): AdmittedRequest | { readonly refusal: Refusal } {
  const owner = rate && parseAddress(jsonObjectOf(body.toString())?.owner_address)
  if (rate === undefined || owner === undefined) return UNCOUNTED
  const admitted = admitOrderOf(rate, owner, ahead)
  if ('left' in admitted) {
    showLeft(ctx, admitted.left)
    ctx.set('Retry-After', `${admitted.left.nextSec}`)
    return { refusal: refusals.tooManyOrders }
  }
  return {
    answered(refusal) {
      const left = admitted.answered(refusal)
      if (left !== undefined) showLeft(ctx, left)
    },
  }
}

function showLeft(ctx: GatewayContext, { limit, remaining, resetSec }: RateLeft): void {
  ctx.set('RateLimit-Limit', `${limit}`)
  ctx.set('RateLimit-Remaining', `${remaining}`)
  ctx.set('RateLimit-Reset', `${resetSec}`)
}
