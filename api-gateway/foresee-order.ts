import { judgedFacts, type OrderVerdictReply } from '../bus-schemas/order-verdict.js'
import type { JudgedAccount } from '../core/contracts/contract.js'
import type { Market } from '../core/model/market.js'
import { openingOf } from '../core/model/market-terms.js'
import { oppositeSide } from '../core/contracts/translation.js'
import { foresee, metOf, pricesMet } from '../core/engine/foresee.js'
import type { Order } from '../core/model/order.js'
import { changeRefusals, controlRefusals } from '../core/entry/order-refusals.js'
import type { Refusal } from '../core/entry/refusals.js'
import { POST_ONLY_WOULD_CROSS } from '../core/model/command-answer.js'
import { outcomeRecord } from '../core/records/outcome-record.js'
import type { OrderOutcome } from '../interface/validation.js'
import type { GatewayDeps } from './context.js'

type Valid = Extract<OrderVerdictReply, { kind: 'valid' }>

type ForeseenOutcome = {
  /** As the market would book it. */
  readonly order: Order
} & (
  | { readonly outcome: OrderOutcome; readonly refusal?: never }
  | { readonly refusal: Refusal; readonly outcome?: never }
)

/** Most orders that are read. Only where hundreds are about to expire, for moments, one of them may hide what the order meets. */
const READ_MAX = 1_000

/** What the market would do with an order that the intake takes, by the book that the read model shows now. */
export function foreseeOrder(
  { readModel, nowMs }: Pick<GatewayDeps, 'readModel' | 'nowMs'>,
  market: Market,
  { order, facts }: Valid,
): ForeseenOutcome {
  const { account, observed } = judgedFacts(market).read(facts)
  const { market: name, standing } = market
  const seen = { opening: openingOf(market), standing, observed, nowMs: nowMs() }
  const prices = pricesMet(seen, order)
  const { feedSeq, met, late } = readModel.atOnce(() => {
    const resting = readModel.ordersWithin(name, oppositeSide(order.side), prices, READ_MAX)
    return { feedSeq: readModel.projectedSeq(name), ...metOf(resting, seen) }
  })
  const foreseen = foresee(seen, met, { order, account })
  if (foreseen.kind === 'refused') {
    const isPostOnly = foreseen.code === POST_ONLY_WOULD_CROSS
    const refusal = isPostOnly ? controlRefusals.postOnlyWouldCross : changeRefusals.commandRefused
    return { order, refusal }
  }
  const judged: JudgedAccount | undefined = account &&
    observed && { observed, facts: account.facts }
  const isWhole = met.length + late < READ_MAX
  const outcome = outcomeRecord(market, foreseen, { feedSeq, isWhole, account: judged })
  return { order: foreseen.order, outcome }
}
