import type { Command } from '../../../core/model/command.js'
import {
  endAndReturn,
  enter,
  expiringAt,
  hold,
  isRefusedForGood,
  naiveCancel,
  naiveOpen,
  type NaiveMarket,
  type NaiveOrder,
} from './naive-market.js'
import { hiddenOf, pairFailed, pairSettled } from './naive-pairs.js'
import { closeOrders, trustGains, trustLost } from './naive-windows.js'

/** What becomes of the two orders of a match once its outcome is told. */

export function settle(
  market: NaiveMarket,
  { settlementId, outcome }: Extract<Command, { kind: 'SettlementReported' }>,
): void {
  const it = market.matches[Number(settlementId)]
  if (it === undefined || it.done) return
  it.done = true
  const [maker, taker] = [it.makerOrderId, it.takerOrderId].map((id) =>
    market.orders.find((one) => one.order.orderId === id),
  ) as [NaiveOrder, NaiveOrder]
  const away = [maker, taker].filter((leg) => naiveOpen(market, leg) === 0n)
  for (const leg of [maker, taker]) leg.pending -= it.amount
  if (outcome.kind === 'success') {
    it.block = outcome.blockNumber
    for (const leg of [maker, taker]) leg.filled += it.amount
    pairSettled(market, maker, taker)
    trustGains(market, it, outcome)
  } else {
    const { guilty } = outcome
    for (const leg of away) leg.away = true
    if (guilty === 'venue') market.refusedPrices.push(it.price)
    if (guilty === 'unclear') pairFailed(market, maker, taker)
    const closed = trustLost(market, it, outcome)
    const hidden = guilty === 'unclear' ? hiddenOf(market, maker, taker)?.it : undefined
    const isTakerFirst = guilty === 'taker' || hidden === taker
    for (const leg of isTakerFirst ? [taker, maker] : [maker, taker]) {
      const innocent = guilty !== 'both' && guilty !== (leg === maker ? 'maker' : 'taker')
      leg.away = false
      if (leg.gone === undefined) comeBack(market, leg, innocent)
    }
    closeOrders(market, closed)
  }
  for (const leg of [maker, taker])
    if (market.rules.margin !== undefined) endAndReturn(market, leg.order.subaccountId)
}

function comeBack(market: NaiveMarket, it: NaiveOrder, innocent: boolean): void {
  const { nowMs } = market
  if (it.cancelled !== undefined) naiveCancel(it, it.cancelled)
  else if (it.order.timeInForce !== undefined) naiveCancel(it, 'settlement_failed')
  else if (!innocent && isRefusedForGood(market, it)) naiveCancel(it, 'insufficient_margin')
  else if (nowMs >= it.order.goodUntilSec * 1000) it.gone = 'expired'
  else if (nowMs >= expiringAt(it)) return
  else if (!innocent) hold(it, 'settlement_refused', nowMs + 30_000)
  else if (it.hold === undefined) enter(market, it)
}
