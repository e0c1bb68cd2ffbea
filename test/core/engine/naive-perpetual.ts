import { perpetualAccountOf, perpetualOf } from '../../../core/contracts/perpetual-facts.js'
import type { MarketFacts } from '../../../core/model/observation.js'
import { E18, floorDiv, sizeOf, type NaiveRules } from './naive-rules.js'

/** x × y at 1e18, cut off. */
const times = (x: bigint, y: bigint): bigint => (x * y) / E18

/** Share of the index value that is added while a price is not sure. */
function surcharge(facts: MarketFacts, confidence: bigint): bigint {
  return times(E18 - confidence, perpetualOf(facts).contingency.factor)
}

/** A perpetual by PER-023 to PER-038, PER-041 and the manager's formulas. */
export const naivePerpetual: NaiveRules = {
  holdOf(seen, nowMs, spareMs) {
    if (seen === undefined) return 'market_unread'
    const oldestMs = nowMs - 10_000 - spareMs
    if (seen.readAtMs < oldestMs || seen.blockTimeSec * 1000 < oldestMs) return 'chain_stale'
    const { paused, moduleAllowed, disabled, positionCap, pricesStale } = perpetualOf(seen.facts)
    if (paused) return 'trading_paused'
    if (!moduleAllowed || disabled || positionCap === 0n) return 'trading_disabled'
    return pricesStale ? 'prices_stale' : undefined
  },
  fee: (price, amount) => (((price * amount) / E18) * 25n) / 10_000n,
  refusesShortMargin: false,
  margin: {
    position: (account) => perpetualAccountOf(account).position,
    isFrozen: (account) => perpetualAccountOf(account).inAuction,
    isValued: (account) => perpetualAccountOf(account).valued !== undefined,
    hasPrices: (facts) => !perpetualOf(facts).pricesStale,
    cash(account, facts) {
      const { position, cash, valued } = perpetualAccountOf(account)
      if (position === 0n || valued === undefined) return cash
      const { mark } = perpetualOf(facts)
      // One unit for what the chain may have rounded.
      const moved = floorDiv((mark - valued.mark) * position, E18) - 1n
      return cash + valued.unsettled + (mark === valued.mark ? 0n : moved)
    },
    equity(account, facts) {
      const { collateral, valued } = perpetualAccountOf(account)
      const { index, indexConfidence, collateral: terms, contingency } = perpetualOf(facts)
      const cash = this.cash(account, facts) + (valued?.elsewhere ?? 0n)
      if (terms === undefined || collateral === 0n) return cash
      const value = times(collateral, index)
      const credit = times(times(value, terms.marginFactor), terms.initialScale)
      const isUnsure = indexConfidence < contingency.baseThreshold
      return cash + credit - (isUnsure ? times(surcharge(facts, indexConfidence), value) : 0n)
    },
    required(facts, position) {
      const { mark, index, initialRate, stable } = perpetualOf(facts)
      const { markConfidence, indexConfidence, contingency } = perpetualOf(facts)
      const size = sizeOf(position)
      const confidence = markConfidence < indexConfidence ? markConfidence : indexConfidence
      let margin = times(times(size, mark), initialRate)
      if (confidence < contingency.perpThreshold)
        margin += times(times(surcharge(facts, confidence), index), size)
      if (stable < contingency.depegThreshold) {
        const share = times(contingency.depegThreshold - stable, contingency.depegFactor)
        margin += times(times(size, share), index)
      }
      return margin
    },
    result: (facts, { size, worth, fee }) =>
      floorDiv(perpetualOf(facts).mark * size - worth, E18) - fee,
    cashResult(facts, leg) {
      return this.result(facts, leg)
    },
    mayBorrow: (facts) => perpetualOf(facts).borrowing,
    judgesReductions: false,
    values: (facts) => [perpetualOf(facts).mark],
    positions(facts) {
      const { totalPosition, positionCap } = perpetualOf(facts)
      return { total: totalPosition, cap: positionCap }
    },
  },
}
