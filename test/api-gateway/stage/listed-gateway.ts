import type { GatewayDeps } from '../../../api-gateway/context.js'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import type { Market } from '../../../core/model/market.js'
import type { MarketObservation } from '../../../core/model/observation.js'
import { amountE18, priceE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { futureFacts } from '../../support/future.js'
import { place, settle } from '../../support/market-acts.js'
import type { MarketAct } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { e18, perpetualFacts } from '../../support/perpetual.js'
import { aHistoryGateway, type HistoryGateway } from './history-gateway.js'

/** One market of each kind. */
export const LISTED = { spot: aMarket(), perp: aPerp(), future: aFuture() }
export const LISTED_NOW_MS = Date.parse('2026-01-01T02:00:30Z')

/** Sold 2 at 0.8, then bought 1 at 1; a bid of 1 at 0.3 and an ask of 1 at 1.2 stay. */
const story: MarketAct[] = [
  ...[place(true, 80, 2), place(false, 80, 2), settle(0)],
  ...[place(false, 100, 1), place(true, 100, 1), settle(1)],
  ...[place(true, 30, 1), place(false, 120, 1)],
]

const seen = (facts: MarketObservation['facts']): MarketObservation => ({
  facts,
  blockNumber: 7n,
  blockTimeSec: LISTED_NOW_MS / 1_000,
  readAtMs: LISTED_NOW_MS,
})

/** What the chain shows of the two contracts. */
export const OBSERVED: ReadonlyMap<string, MarketObservation> = new Map([
  [
    LISTED.perp.market,
    seen(
      hidePerpetual(
        perpetualFacts({
          openInterest: amountE18(e18('2000')),
          index: priceE18(e18('0.00065')),
          fundingRate: -10_000_000_000_000n,
        }),
      ),
    ),
  ],
  [LISTED.future.market, seen(hideFuture(futureFacts({ index: priceE18(e18('1540.5')) })))],
])

export interface ListedGatewayOptions {
  readonly isRead?: () => boolean
  readonly unifiedIds?: NonNullable<GatewayDeps['unifiedIds']>
}

/** A gateway of these markets, in each of which the same has happened; the chain can be read while `isRead` says so. */
export async function aListedGateway({
  isRead = () => true,
  unifiedIds = {},
}: ListedGatewayOptions = {}): Promise<HistoryGateway> {
  const markets = Object.values(LISTED)
  const chainMarkets = {
    readMarket: ({ market }: Market) =>
      Promise.resolve(isRead() ? OBSERVED.get(market) : undefined),
  }
  const nowMs = () => LISTED_NOW_MS
  const gateway = await aHistoryGateway({ markets, nowMs, chainMarkets, unifiedIds })
  for (const { market, ordinal } of markets) gateway.project(feedOf({ market, ordinal }, story))
  return gateway
}
