import { judgedFacts, type OrderVerdict } from '../bus-schemas/order-verdict.js'
import type { JudgedAccount } from '../core/contracts/contract.js'
import type { Market } from '../core/model/market.js'
import { openingOf } from '../core/model/market-terms.js'
import { crosses } from '../core/engine/crossing.js'
import { foresee } from '../core/engine/foresee.js'
import { SWEEP_MAX_MATCHES } from '../core/model/limits.js'
import type { Order } from '../core/model/order.js'
import { changeRefusals, controlRefusals } from '../core/entry/order-refusals.js'
import type { Refusal } from '../core/entry/refusals.js'
import { POST_ONLY_WOULD_CROSS } from '../core/model/command-answer.js'
import type { OpenOrder } from '../core/records/order-record.js'
import { outcomeRecord } from '../core/records/outcome-record.js'
import type { OrderOutcome } from '../interface/validation.js'
import type { GatewayDeps } from './context.js'

type Valid = Extract<OrderVerdict, { kind: 'valid' }>

type Foresight = {
  /** As the market would book it. */
  readonly order: Order
} & (
  | { readonly outcome: OrderOutcome; readonly refusal?: never }
  | { readonly refusal: Refusal; readonly outcome?: never }
)

/** One more than a step matches, so that a sweep that goes on is seen as one. */
const MET_MAX = SWEEP_MAX_MATCHES + 1

/** What the market would do with an order that the intake takes, by the book that the read model shows now. */
export function foreseeOrder(
  { readModel, nowMs }: Pick<GatewayDeps, 'readModel' | 'nowMs'>,
  market: Market,
  { order, facts }: Valid,
): Foresight {
  const { account, observed } = judgedFacts(market).read(facts)
  const { feedSeq, met } = readModel.atOnce(() => ({
    feedSeq: readModel.projectedSeq(market.market),
    met: crossedBy(readModel, order),
  }))
  const foreseen = foresee(
    { opening: openingOf(market), standing: market.standing, observed, nowMs: nowMs() },
    met,
    { order, account },
  )
  if (foreseen.kind === 'refused') {
    const isPostOnly = foreseen.code === POST_ONLY_WOULD_CROSS
    const refusal = isPostOnly ? controlRefusals.postOnlyWouldCross : changeRefusals.commandRefused
    return { order, refusal }
  }
  const judged: JudgedAccount | undefined = account &&
    observed && { observed, facts: account.facts }
  const outcome = outcomeRecord(market, foreseen, { feedSeq, account: judged })
  return { order: foreseen.order, outcome }
}

/** The open orders that an order crosses by its limit, best first. */
function crossedBy(readModel: GatewayDeps['readModel'], incoming: Order): OpenOrder[] {
  const { market, side } = incoming
  const { bid, ask } = readModel.bestPrices(market)
  const best = side === 'buy' ? ask : bid
  if (best === undefined || !crosses(incoming, { limitPrice: best })) return []
  return readModel
    .openOrders(market, MET_MAX)
    .filter(({ order }) => order.side !== side && crosses(incoming, order))
}
