import type { AccountTrade, JudgedAccount, MarginStanding } from './contract.js'
import type { FundsFacts, HeldFunds, ShownFunds } from './funds.js'
import { assert } from '../assert.js'
import { marginBalance, reservedMargin, type MarginFigures } from './margin-funds.js'
import { legOf } from './margin-risk.js'
import { perpetualAccountOf, perpetualOf, type PerpetualFacts } from './perpetual-facts.js'
import {
  creditOf,
  liquidationPrice,
  marginOf,
  perpetualModel,
  perpetualOutlook,
  requirementOf,
  unsettledAt,
} from './perpetual-margin.js'
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
    asset,
    token,
    byOrders: 0n,
    byMatches: 0n,
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
    initialSurplus,
    maintenanceSurplus,
    outlook: perpetualOutlook(facts, held),
  }
}

/**
 * As the manager computes it once the trades are booked at the present mark, with what the account holds in other markets counted
 * as initial margin counts it; undefined while the account or the market cannot be priced.
 */
export function perpetualMarginAfter(
  { observed, facts: own }: JudgedAccount,
  trades: readonly AccountTrade[],
): MarginStanding | undefined {
  const facts = perpetualOf(observed.facts)
  const account = perpetualAccountOf(own)
  if (facts.pricesStale || account.valued === undefined) return undefined
  let { position, cash } = account
  if (position !== 0n) cash += unsettledAt(account, facts.mark)
  for (const { side, price, amount, fee } of trades) {
    const leg = legOf(side, price, amount, fee)
    position += leg.size
    cash += perpetualModel.resultOf(facts, leg)
  }
  const { elsewhere } = account.valued
  const after = { position, cash, unsettled: 0n, collateral: account.collateral }
  const initialSurplus = marginOf(facts, after, 'initial') + elsewhere
  const maintenanceSurplus = marginOf(facts, after, 'maintenance') + elsewhere
  const atPrice = liquidationPrice(facts, { position, surplus: maintenanceSurplus })
  return {
    position,
    initialSurplus,
    maintenanceSurplus,
    ...(atPrice !== undefined && { liquidationPriceE10: atPrice }),
  }
}
