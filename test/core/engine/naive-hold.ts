import { naiveStatus, type NaiveMarket } from './naive-market.js'

/** Whether the market is held by its facts, at its time. */
export function followHold(market: NaiveMarket): void {
  const { rules, observed, nowMs } = market
  market.held = rules.holdOf(observed, nowMs, isEmpty(market) ? 40_000 : 0)
  if (market.held !== undefined) market.closed = true
}

/** No order is live, and of none a match awaits settlement: facts may be older (OPE-054). */
const isEmpty = ({ orders }: NaiveMarket): boolean =>
  orders.every((it) => it.pending === 0n && !['active', 'matching'].includes(naiveStatus(it)))
