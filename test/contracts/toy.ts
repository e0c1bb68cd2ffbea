import type { CancelReason, MarketReason } from '../../interface/reasons.js'
import { assert } from '../../core/assert.js'
import { sealTrading, type Contract } from '../../core/contracts/contract.js'
import { feePerUnitFloor, notionalFloor } from '../../core/contracts/fees.js'
import type { ContractType } from '../../core/model/market.js'
import { movesOfBase } from '../../core/contracts/trade-moves.js'
import type { AccountFacts, MarketFacts } from '../../core/model/observation.js'
import { amountE18, E18, quoteE18, type PriceE18 } from '../../core/money.js'
import { struct } from '../../core/wire/compound.js'
import { flag, priceE18 as priceCodec, uint } from '../../core/wire/codec.js'

/**
 * A contract type of the tests' own: positions margined against a credit, in a market that the chain can halt. Its facts
 * and state are like no other type's; everything outside this file only passes them on.
 */
export const TOY = 'toy' as ContractType

export interface ToyAccountFacts {
  /** What the account may have at stake, quote at 1e18. */
  readonly credit: bigint
}

interface ToyMarketFacts {
  readonly halted: boolean
  /** Orders further than a tenth away from it do not match. */
  readonly mark: PriceE18
}

interface ToyRiskAccount {
  credit: bigint | undefined
  /** Base of all matches in flight and settled; the mark gives its worth. */
  atStake: bigint
  mark: PriceE18
}

interface ToyRiskSnapshot {
  readonly atStake: bigint
}

interface ToyTypes {
  readonly accountFacts: ToyAccountFacts
  readonly marketFacts: ToyMarketFacts
  readonly riskAccount: ToyRiskAccount
  readonly riskSnapshot: ToyRiskSnapshot
  readonly cost: { readonly amount: bigint }
}

/** Codes that the tables of the venue lack. */
const HALTED = 'halted' as string as MarketReason
const TOO_FAR = 'too_far_from_mark' as string as CancelReason

/** The largest amount of one match. */
export const TOY_MAX_MATCH = amountE18(5n * E18)

export const toyAccountFacts = (facts: ToyAccountFacts): AccountFacts => facts as AccountFacts
export const toyMarketFacts = (facts: ToyMarketFacts): MarketFacts => facts as MarketFacts

export const toy: Contract = {
  type: TOY,
  settlementType: 'cash_settled_perpetual',
  trading: sealTrading<ToyTypes>({
    quoteOf: (_, price, amount) => notionalFloor(price, amount),
    quoteSymbol: ({ presentation }) => presentation.quoteAssetSymbol,
    takerFee: () => quoteE18(0n),
    feePerUnit: feePerUnitFloor,
    restChecks: [],
    holdOf: (market) =>
      market === undefined || market.facts.halted ? { reason: HALTED } : undefined,
    pair({ incoming, resting, amount }, market) {
      const mark = market?.facts.mark ?? resting.limitPrice
      const away = resting.limitPrice - mark
      if (10n * (away < 0n ? -away : away) > mark) {
        return { aside: incoming, cancelReason: TOO_FAR }
      }
      return { amount: amount < TOY_MAX_MATCH ? amount : TOY_MAX_MATCH }
    },
    cancelReason: () => 'settlement_refused',
    means: {
      openRiskAccount: (market) => ({
        credit: undefined,
        atStake: 0n,
        mark: market?.facts.mark ?? (0n as PriceE18),
      }),
      revalue(riskAccount, { facts }) {
        riskAccount.mark = facts.mark
      },
      observe(riskAccount, { facts }) {
        riskAccount.credit = facts.credit
      },
      costOf: (_, { amount }) => ({ amount }),
      shortOfMatch: (riskAccount, _, { amount }) => ifShort(riskAccount, amount),
      shortToOpen: () => undefined,
      shortToStay: () => undefined,
      hasEnough: (riskAccount, _, { needed = 0n }) => ifShort(riskAccount, needed) === undefined,
      reserve(riskAccount, _, { amount }) {
        riskAccount.atStake += amount
      },
      release(riskAccount, _, { amount }) {
        riskAccount.atStake -= amount
      },
      settle(riskAccount, _, { match }) {
        riskAccount.atStake += match.amount
      },
      unsettle(riskAccount, _, { match }) {
        riskAccount.atStake -= match.amount
      },
      snapshot: ({ atStake }) => ({ atStake }),
      restore: ({ atStake }, { observed, market }) => ({
        atStake,
        credit: observed?.facts.credit,
        mark: market?.facts.mark ?? (0n as PriceE18),
      }),
      check: ({ atStake }) => assert(atStake >= 0n, 'a stake cannot be negative'),
    },
    wire: {
      accountFacts: struct<ToyAccountFacts>({ credit: uint }),
      marketFacts: struct<ToyMarketFacts>({ halted: flag, mark: priceCodec }),
      riskAccount: struct<ToyRiskSnapshot>({ atStake: uint }),
    },
  }),
  present: {
    marketEntry: () => ({ toy: { credit_unit: 'quote' } }),
    uiDecimals: { price: 2, size: 2 },
    hasTicker: false,
    chartType: 'crypto',
    movesOf: movesOfBase,
  },
}

function ifShort({ credit, atStake, mark }: ToyRiskAccount, amount: bigint) {
  const stake = notionalFloor(mark, amountE18(atStake + amount))
  if (credit === undefined || stake <= credit) return undefined
  return { reason: 'insufficient_balance', needed: amount } as const
}
