import { E18, mulDivCeil } from '../money.js'
import type { FutureAccount, FutureFacts } from './future-facts.js'
import {
  CONTRACT_MULTIPLIER,
  cngnValue,
  requirementOf,
  variationOf,
  type MarginTerms,
} from './future-margin.js'
import { legOf, type MarginModel } from './margin-purse.js'
import { floorE18, sizeOf } from './perpetual-margin.js'

/** Rate and factor of initial margin. */
export const initialTerms = ({ initialRate, initialFactor }: FutureFacts): MarginTerms => ({
  rate: initialRate,
  factor: initialFactor,
})

/**
 * Initial margin as the futures manager computes it, at the market's newest prices. The engine counts sizes in USDC, a
 * thousand to the contract. What a trade gains in cNGN counts as an asset, what it loses as a debt: the account may have
 * both, and then the estimate is below what the manager says.
 */
export const futureModel: MarginModel<FutureAccount, FutureFacts> = {
  positionOf: ({ position }) => position * CONTRACT_MULTIPLIER,
  isFrozen: () => false,
  standing({ usdc, cngn, position, mark, otherSize }, market) {
    if (market.indexStale) return undefined
    const { rate, factor } = initialTerms(market)
    const owned = cngn + variationOf(position, mark, market.mark)
    const equity = usdc + cngnValue(owned, market.index, factor) - requirementOf(otherSize, rate)
    return { cash: usdc, equity }
  },
  requirement: ({ initialRate }, position) => mulDivCeil(sizeOf(position), initialRate, E18),
  resultOf({ mark, index, initialFactor }, { size, worth, fee }) {
    // Without any price nothing is judged; a leg in flight counts with its fee until there is one.
    if (index === 0n) return -fee
    return cngnValue(floorE18(mark * size - worth), index, initialFactor) - fee
  },
  legAtBest({ mark }, { side, limitPrice }, amount) {
    const isBetter = side === 'buy' ? limitPrice < mark : limitPrice > mark
    return legOf(side, isBetter ? limitPrice : mark, amount)
  },
  // Variation margin may be owed, a fee is paid in USDC.
  cashOf: (_, { fee }) => -fee,
  mayBorrow: () => false,
  // One that pays anything has to leave initial margin.
  reducesFreely: ({ mark }, { size, worth, fee }) => fee === 0n && mark * size >= worth,
}
