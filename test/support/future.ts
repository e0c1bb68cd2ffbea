import {
  hideFuture,
  hideFutureAccount,
  type FutureAccountFacts,
  type FutureFacts,
} from '../../core/contracts/future-facts.js'
import type { AccountFacts, MarketFacts, MarketObservation } from '../../core/model/observation.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { START_MS } from './matching.js'
import { e18 } from './perpetual.js'

const THIRTY_DAYS_SEC = 30 * 86_400

/** A series that trades for 30 days: mark and index at 1,500, the rates of the devnet. */
export const futureFacts = (facts: Partial<FutureFacts> = {}): FutureFacts => ({
  expirySec: START_MS / 1000 + THIRTY_DAYS_SEC,
  moduleAllowed: true,
  paused: false,
  indexStale: false,
  index: priceE18(e18('1500')),
  mark: priceE18(e18('1500')),
  totalPosition: amountE18(0n),
  positionCap: amountE18(10n ** 30n),
  initialRate: e18('0.1'),
  maintenanceRate: e18('0.07'),
  initialFactor: e18('0.9'),
  maintenanceFactor: e18('0.95'),
  cngnAsset: `0x${'c1'.repeat(20)}`,
  ...facts,
})

/** Those facts of the series, read at the start of the day. */
export const observedFuture = (facts: Partial<FutureFacts> = {}): MarketObservation => ({
  facts: hideFuture(futureFacts(facts)),
  blockNumber: 1n,
  blockTimeSec: START_MS / 1000,
  readAtMs: START_MS,
})

/** An account with a million USDC and no position. */
export const futureAccount = (account: Partial<FutureAccountFacts> = {}): FutureAccountFacts => ({
  position: 0n,
  usdc: e18('1000000'),
  cngn: 0n,
  mark: priceE18(e18('1500')),
  otherSize: 0n,
  ...account,
})

const amountIn = (words: readonly string[], key: string, usual: bigint): bigint => {
  const said = words.includes(key) ? words[words.indexOf(key) + 1] : undefined
  return said === undefined ? usual : e18(said)
}

/** `index 1500 mark 1500 left 7200 cap 10 total 2 [stale] [paused]`: what is not said is as above; `left` in seconds. */
export function futureFactsOfWords(words: readonly string[]): MarketFacts {
  const usual = futureFacts()
  const left = words.includes('left') ? Number(words[words.indexOf('left') + 1]) : THIRTY_DAYS_SEC
  const index = amountIn(words, 'index', usual.index)
  return hideFuture({
    ...usual,
    expirySec: START_MS / 1000 + left,
    index: priceE18(index),
    mark: priceE18(amountIn(words, 'mark', usual.mark)),
    positionCap: amountE18(amountIn(words, 'cap', usual.positionCap)),
    totalPosition: amountE18(amountIn(words, 'total', 0n)),
    indexStale: words.includes('stale'),
    paused: words.includes('paused'),
  })
}

/** `position 2 usdc 100 cngn -5000 at 1500`: contracts; what is not said is as above. */
export function futureAccountOfWords(words: readonly string[]): AccountFacts {
  const usual = futureAccount()
  return hideFutureAccount({
    ...usual,
    position: amountIn(words, 'position', 0n),
    usdc: amountIn(words, 'usdc', usual.usdc),
    cngn: amountIn(words, 'cngn', 0n),
    mark: priceE18(amountIn(words, 'at', usual.mark)),
  })
}
