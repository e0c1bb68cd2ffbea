import {
  encodeOrderVerdict,
  judgedFacts,
  type OrderVerdictReply,
} from '../../bus-schemas/order-verdict.js'
import { decodeOrderRequest } from '../../bus-schemas/orders.js'
import { assert, InvariantBroken } from '../../core/assert.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import type { OrderAdmission } from './admission.js'
import type { MarketHalts } from './market-halts.js'
import {
  checkPlacement,
  duplicate,
  parseBody,
  type Placeable,
  type PlaceOrderDeps,
} from './place-order.js'

/** Most orders that are judged at once without being placed; beyond it they are refused. Orders that are placed go first. */
const MAX_VALIDATING = 64

export interface ValidationDeps extends PlaceOrderDeps {
  readonly bus: Pick<Bus, 'reply'>
  readonly halts: Pick<MarketHalts, 'refusalOf'>
  readonly admission?: Pick<OrderAdmission, 'trouble'>
  readonly log: Logger
}

/** Judges an order as `place` would, and answers what would become of it; nothing is claimed and nothing logged. */
export function createValidation(
  deps: ValidationDeps,
): (data: Uint8Array, replyTo: string) => Promise<void> {
  let inFlight = 0
  return async (data, replyTo) => {
    const answer = (verdict: OrderVerdictReply): void => {
      deps.bus.reply(replyTo, encodeOrderVerdict(verdict))
    }
    const refuse = (refusal: Refusal): void => answer({ kind: 'refused', refusal })
    if (inFlight >= MAX_VALIDATING) return refuse(refusals.overloaded)
    const request = readQuestion(decodeOrderRequest, data, warnOfUnreadable(deps.log))
    if (request === undefined) return
    inFlight += 1
    try {
      answer(await judge(deps, parseBody(request)))
    } catch (error) {
      if (error instanceof InvariantBroken) throw error
      deps.log.error({ err: error, request_id: request.request_id }, 'validation failed')
      refuse(refusals.overloaded)
    } finally {
      inFlight -= 1
    }
  }
}

async function judge(deps: ValidationDeps, body: unknown): Promise<OrderVerdictReply> {
  const checked = await checkPlacement(deps, body)
  if ('refusal' in checked) return { kind: 'refused', refusal: checked.refusal }
  const { order, claim, account, observed } = checked
  const refusal =
    deps.halts.refusalOf(order.market) ??
    (deps.admission?.trouble(order.market) === undefined ? undefined : refusals.overloaded) ??
    taken(deps, claim)
  if (refusal !== undefined) return { kind: 'refused', refusal }
  const market = deps.markets.find((each) => each.market === order.market)
  assert(market !== undefined, `${order.market} was judged and is not registered`)
  const facts = judgedFacts(market).write({
    ...(account !== undefined && { account }),
    ...(observed !== undefined && { observed }),
  })
  return { kind: 'valid', order, facts }
}

/** Whether another order holds the id or the nonce; the order itself would have been answered before. */
function taken(
  { registry }: ValidationDeps,
  { orderId, owner, nonce, fingerprint }: Placeable['claim'],
): Refusal | undefined {
  const sameId = registry.findOrder(orderId)
  if (sameId !== undefined) return duplicate('order_id', sameId, fingerprint)
  const sameNonce = registry.findNonce(owner, nonce)
  return sameNonce && duplicate('nonce', sameNonce, fingerprint)
}
