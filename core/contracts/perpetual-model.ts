import { legOf, type Leg, type MarginModel } from './margin-purse.js'
import type { PerpetualAccount, PerpetualFacts } from './perpetual-facts.js'
import { creditOf, floorE18, requirementOf, unsettledAt } from './perpetual-margin.js'

/** All that a leg gains or loses is settled into cash. */
function resultOf({ mark }: PerpetualFacts, { size, worth, fee }: Leg): bigint {
  return floorE18(mark * size - worth) - fee
}

/** Initial margin as the manager computes it, between two observations at the market's newest prices. */
export const perpetualModel: MarginModel<PerpetualAccount, PerpetualFacts> = {
  positionOf: ({ position }) => position,
  isFrozen: ({ inAuction }) => inAuction,
  isValued: ({ valued }) => valued !== undefined,
  standing(account, market) {
    if (market.pricesStale) return undefined
    const profit = account.position === 0n ? 0n : unsettledAt(account, market.mark)
    const cash = account.cash + profit
    const { elsewhere = 0n } = account.valued ?? {}
    const equity = cash + creditOf(market, account.collateral, 'initial') + elsewhere
    return { cash, equity }
  },
  requirement: (market, position) => requirementOf(market, position, 'initial'),
  resultOf,
  cashOf: resultOf,
  legAtBest({ mark }, { side, limitPrice }, amount) {
    const isBetter = side === 'buy' ? limitPrice < mark : limitPrice > mark
    return legOf(side, isBetter ? limitPrice : mark, amount)
  },
  mayBorrow: ({ borrowing }) => borrowing,
  // The chain may still refuse one that costs cash below initial margin (decision P7).
  reducesFreely: () => true,
}
