import { futureAccountOf, futureOf } from '../../../core/contracts/future-facts.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import { ceilDiv, E18, floorDiv, sizeOf, type NaiveRules } from './naive-rules.js'

/** cNGN in USD: what is owned counts for less, what is owed for more, each division against the account. */
function valueOf(facts: MarketFacts, cngn: bigint): bigint {
  const { index, initialFactor } = futureOf(facts)
  return cngn >= 0n
    ? floorDiv(floorDiv(cngn * E18, index) * initialFactor, E18)
    : -ceilDiv(ceilDiv(-cngn * E18, index) * E18, initialFactor)
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)

const required = (facts: MarketFacts, size: bigint): bigint =>
  ceilDiv(sizeOf(size) * futureOf(facts).initialRate, E18)

/** A dated future by FUT-004, FUT-008, FUT-014, FUT-015, FUT-021, FUT-026 and the rules of the perpetual. Sizes are USDC, a thousand a contract. */
export const naiveFuture: NaiveRules = {
  holdOf(seen, nowMs, spareMs) {
    if (seen === undefined) return 'market_unread'
    const { expirySec, paused, moduleAllowed, positionCap, indexStale } = futureOf(seen.facts)
    if (nowMs >= (expirySec - 3600) * 1000) return 'trading_ended'
    if (nowMs > seen.readAtMs + 2_000 + spareMs) return 'band_stale'
    if (paused) return 'trading_paused'
    if (!moduleAllowed || positionCap === 0n) return 'trading_disabled'
    return indexStale ? 'index_stale' : undefined
  },
  range(seen, nowMs) {
    if (seen === undefined) return undefined
    const { index, expirySec } = futureOf(seen.facts)
    const leftSec = BigInt(expirySec - Math.ceil(nowMs / 1000) - 60)
    const fortnight = 14n * 86_400n
    const left = leftSec < 0n ? 0n : leftSec
    const narrowing = left >= fortnight ? 9n * E18 : (9n * E18 * left) / fortnight
    const width = (E18 + narrowing) / 100n
    return {
      low: ceilDiv(index * (E18 - width), E18),
      high: floorDiv(index * (E18 + width), E18),
    }
  },
  fee: (_, amount) => (amount * 25n) / 10_000n,
  refusesShortMargin: true,
  margin: {
    position: (account) => futureAccountOf(account).position * 1000n,
    isFrozen: () => false,
    isValued: () => true,
    hasPrices: (facts) => !futureOf(facts).indexStale,
    cash: (account) => futureAccountOf(account).usdc,
    equity(account, facts) {
      const { usdc, cngn, position, mark, otherSize, others } = futureAccountOf(account)
      const { mark: newMark, index } = futureOf(facts)
      const worthAt = (price: bigint) => (position * 1000n * (price - mark)) / E18
      const elsewhere = others ? (others.net * 1000n * index) / E18 - others.worth : 0n
      const lower = least(cngn + worthAt(newMark), cngn + worthAt(index) + elsewhere)
      return usdc + valueOf(facts, lower) - required(facts, otherSize * 1000n)
    },
    required,
    result: (facts, { size, worth, fee }) =>
      valueOf(
        facts,
        least(
          floorDiv(futureOf(facts).mark * size - worth, E18),
          floorDiv(futureOf(facts).index * size - worth, E18),
        ),
      ) - fee,
    cashResult: (_, { fee }) => -fee,
    mayBorrow: () => false,
    judgesReductions: true,
    values: (facts) => [futureOf(facts).mark, futureOf(facts).index],
    positions(facts) {
      const { totalPosition, positionCap } = futureOf(facts)
      return { total: totalPosition * 1000n, cap: positionCap * 1000n }
    },
  },
}
