import type { FundsFacts, HeldFunds, ShownFunds } from './funds.js'
import { assert } from '../assert.js'
import { marginBalance, reservedMargin, type MarginFigures } from './margin-funds.js'
import { perpetualOf, type PerpetualFacts } from './perpetual-facts.js'
import { creditOf, perpetualModel, requirementOf } from './perpetual-margin.js'
import type { PerpetualPosition } from './perpetual-position.js'

/** Hides what the chain shows of a perpetual account from everything outside its records. */
export const hidePerpetualFunds = (facts: PerpetualPosition): FundsFacts => facts as FundsFacts

/** Cash and posted collateral of a perpetual account, and its margin; nothing of a token is claimed but margin. */
export function perpetualFunds({ market, observed, facts: own, claims }: HeldFunds): ShownFunds {
  assert(observed !== undefined, `funds of ${market.market} are shown with its market's facts`)
  const facts = perpetualOf(observed.facts)
  const held = own as PerpetualPosition
  const { baseAssetSymbol, quoteAssetSymbol } = market.presentation
  const tokenOf = (asset: typeof market.assetAddress, token: string) => ({
    ...{ asset, token, byOrders: 0n, byMatches: 0n },
  })
  return {
    tokens: [
      tokenOf(market.quoteAssetAddress, quoteAssetSymbol),
      ...(facts.collateral === undefined ? [] : [tokenOf(facts.collateral.asset, baseAssetSymbol)]),
    ],
    margin: marginBalance(market.market, {
      ...figuresOf(facts, held),
      reserved: facts.pricesStale
        ? undefined
        : reservedMargin(perpetualModel, facts, held.position, claims),
    }),
  }
}

/** The surpluses are the manager's own answers. */
function figuresOf(
  facts: PerpetualFacts,
  held: PerpetualPosition,
): Omit<MarginFigures, 'reserved'> {
  const { position, cash, collateral, unsettled, initialSurplus, maintenanceSurplus } = held
  const ifPriced = (value: bigint): bigint | undefined => (facts.pricesStale ? undefined : value)
  return {
    position,
    balance: cash,
    collateral: collateral === 0n ? 0n : ifPriced(creditOf(facts, collateral, 'initial')),
    unrealized: unsettled,
    initial: ifPriced(requirementOf(facts, position, 'initial')),
    maintenance: ifPriced(requirementOf(facts, position, 'maintenance')),
    ...{ initialSurplus, maintenanceSurplus },
  }
}
