import { assert } from '../assert.js'
import { E18 } from '../money.js'
import type { JudgedAccount, MarginStanding, AccountTrade } from './contract.js'
import type { FundsFacts, HeldFunds, ShownFunds } from './funds.js'
import {
  futureAccountOf,
  futureOf,
  type FutureAccountFacts,
  type FutureFacts,
} from './future-facts.js'
import {
  CONTRACT_MULTIPLIER,
  cngnAtBoth,
  cngnValue,
  futureModel,
  futureOutlook,
  initialTerms,
  lowerCngn,
  requirementOf,
  surplusOf,
} from './future-margin.js'
import { marginBalance, reservedMargin, type MarginFigures } from './margin-funds.js'
import { legOf, type Leg } from './margin-risk.js'
import { floorE18, sizeOf } from './perpetual-margin.js'

/** What the chain shows of a trading account for its balances. */
export interface FutureFunds {
  readonly account: FutureAccountFacts
  /** Wrapped cNGN in the account, without variation margin that is not paid. */
  readonly cngnBalance: bigint
}

/** Hides it from everything outside the records of futures. */
export const hideFutureFunds = (facts: FutureFunds): FundsFacts => facts as FundsFacts

/** USDC and cNGN of a trading account, and its margin in one series; matches claim their fees in USDC. */
export function futureFunds({ market, observed, facts: own, claims }: HeldFunds): ShownFunds {
  assert(observed !== undefined, `funds of ${market.market} are shown with its market's facts`)
  const facts = futureOf(observed.facts)
  const held = own as FutureFunds
  const { baseAssetSymbol, quoteAssetSymbol } = market.presentation
  const fees = claims.matches.reduce((sum, { fee }) => sum + fee, 0n)
  return {
    tokens: [
      { asset: market.quoteAssetAddress, token: baseAssetSymbol, byOrders: 0n, byMatches: fees },
      { asset: facts.cngnAsset, token: quoteAssetSymbol, byOrders: 0n, byMatches: 0n },
    ],
    margin: marginBalance(market.market, {
      ...figuresOf(facts, held),
      reserved: facts.indexStale
        ? undefined
        : reservedMargin(futureModel, facts, futureModel.positionOf(held.account), claims),
    }),
  }
}

/** As the futures manager computes margin, equal to the last unit. */
function figuresOf(
  facts: FutureFacts,
  { account, cngnBalance }: FutureFunds,
): Omit<MarginFigures, 'reserved'> {
  const { usdc, position, otherSize } = account
  const { index, indexStale, initialRate, maintenanceRate } = facts
  const size = sizeOf(position) + otherSize
  const { atMark } = cngnAtBoth(account, facts)
  const lower = lowerCngn(account, facts)
  const valued = (amount: bigint, factor: bigint): bigint | undefined => {
    if (amount === 0n) return 0n
    return indexStale ? undefined : cngnValue(amount, index, factor)
  }
  return {
    position: futureModel.positionOf(account),
    balance: usdc,
    collateral: valued(lower, initialTerms(facts).factor),
    unrealized: valued(atMark - cngnBalance, E18),
    initial: requirementOf(size, initialRate),
    maintenance: requirementOf(size, maintenanceRate),
    ...surplusesOf(facts, account),
    outlook: futureOutlook(facts, account),
  }
}

/** Undefined where a surplus depends on an index that is stale. */
function surplusesOf(facts: FutureFacts, account: FutureAccountFacts) {
  const { usdc, position, otherSize } = account
  const { index, indexStale, maintenanceRate: rate, maintenanceFactor: factor } = facts
  const size = sizeOf(position) + otherSize
  const surplus = (cngn: bigint, terms: ReturnType<typeof initialTerms>): bigint | undefined =>
    indexStale && (cngn !== 0n || size !== 0n)
      ? undefined
      : surplusOf({ usdc, cngn, size }, index, terms)
  return {
    initialSurplus: surplus(lowerCngn(account, facts), initialTerms(facts)),
    maintenanceSurplus: surplus(cngnAtBoth(account, facts).atIndex, { rate, factor }),
  }
}

/** As the manager computes it once the trades are booked at the present mark; undefined while the index is stale. */
export function futureMarginAfter(
  { observed, facts: own }: JudgedAccount,
  trades: readonly AccountTrade[],
): MarginStanding | undefined {
  const facts = futureOf(observed.facts)
  const before = futureAccountOf(own)
  const legs = trades.map(({ side, price, amount, fee }) => legOf(side, price, amount, fee))
  const total = (of: (leg: Leg) => bigint): bigint => legs.reduce((sum, leg) => sum + of(leg), 0n)
  const account: FutureAccountFacts = {
    ...before,
    position: before.position + total(({ size }) => size) / CONTRACT_MULTIPLIER,
    usdc: before.usdc - total(({ fee }) => fee),
    cngn:
      cngnAtBoth(before, facts).atMark +
      total(({ size, worth }) => floorE18(facts.mark * size - worth)),
    mark: facts.mark,
  }
  const { initialSurplus, maintenanceSurplus } = surplusesOf(facts, account)
  if (initialSurplus === undefined || maintenanceSurplus === undefined) return undefined
  return { position: futureModel.positionOf(account), initialSurplus, maintenanceSurplus }
}
