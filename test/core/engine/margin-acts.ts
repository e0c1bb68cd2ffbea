import fc from 'fast-check'
import { hideFuture, hideFutureAccount } from '../../../core/contracts/future-facts.js'
import { hidePerpetual, hidePerpetualAccount } from '../../../core/contracts/perpetual-facts.js'
import type { OrderOptions } from '../../../core/model/order.js'
import type { AccountFacts, MarketFacts } from '../../../core/model/observation.js'
import { amountE18, E18, priceE18, type PriceE18 } from '../../../core/money.js'
import { rarely } from '../../support/arbitrary-values.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { START_MS } from '../../support/matching.js'
import { anyControls, anyReduction } from '../../support/market-commands.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'

/** A step of a random day of a market with margin; small numbers, which each kind of market scales. */
export type MarginAct =
  | {
      readonly act: 'place'
      readonly buy: boolean
      readonly price: number
      readonly size: number
      /** A few of the least parts more, so that roundings show. */
      readonly odd: number
      readonly trader: number
      readonly livesSec: number
      readonly unchecked: boolean
      readonly reduceOnly: boolean
      readonly controls: OrderOptions
      /** Picks the order that it replaces. */
      readonly replaces: number | undefined
      /** What intake read of its account, if it did. */
      readonly account: AccountAct | undefined
    }
  | { readonly act: 'signature'; readonly pick: number; readonly valid: boolean }
  | { readonly act: 'cancel'; readonly pick: number }
  | { readonly act: 'reduce'; readonly pick: number; readonly size: number }
  | {
      readonly act: 'settle'
      readonly pick: number
      readonly outcome: 'success' | 'maker' | 'taker' | 'both' | 'unclear' | 'price'
    }
  | { readonly act: 'code'; readonly trader: number }
  | ({ readonly act: 'account'; readonly trader: number } & AccountAct)
  | ({ readonly act: 'facts' } & FactsAct)
  /** Time goes by; a silent chain shows nothing meanwhile. */
  | { readonly act: 'wait'; readonly sec: number; readonly silent: boolean }

export interface AccountAct {
  readonly position: number
  readonly cash: number
  readonly collateral: number
  readonly unsettled: number
  readonly isFrozen: boolean
  readonly isValued: boolean
  readonly isLeaving: boolean
  /** Blocks that the read is behind. */
  readonly lag: number
}

export interface FactsAct {
  readonly mark: number
  readonly index: number
  readonly odd: number
  readonly cap: number
  readonly total: number
  readonly trouble: 'none' | 'paused' | 'stale' | 'unsure' | 'depeg'
  readonly borrowing: boolean
  /** Expiry of a future comes nearer: seconds that are left of trading. */
  readonly leftSec: number
}

const DAY = 86_400

const oneIn = (n: number): fc.Arbitrary<boolean> =>
  fc.integer({ min: 1, max: n }).map((at) => at === n)

const accountAct: fc.Arbitrary<AccountAct> = fc.record({
  position: fc.integer({ min: -30, max: 30 }),
  cash: fc.integer({ min: -1, max: 15 }),
  collateral: fc.integer({ min: -2, max: 6 }),
  unsettled: fc.integer({ min: -2, max: 2 }),
  isFrozen: oneIn(15),
  isValued: oneIn(15).map((unvalued) => !unvalued),
  isLeaving: oneIn(25),
  lag: fc.integer({ min: 0, max: 3 }),
})

const factsAct: fc.Arbitrary<FactsAct> = fc.record({
  mark: fc.integer({ min: 96, max: 104 }),
  index: fc.integer({ min: 93, max: 107 }),
  odd: fc.nat(9),
  cap: fc.constantFrom(25, 1_000_000, 1_000_000),
  total: fc.integer({ min: 0, max: 20 }),
  trouble: fc.constantFrom(
    ...(['none', 'none', 'none', 'none', 'none', 'none', 'none'] as const),
    ...(['paused', 'stale', 'unsure', 'depeg'] as const),
  ),
  borrowing: fc.boolean(),
  leftSec: fc.constantFrom(10, 60, 7_200, 5 * DAY, 9 * DAY, ...Array<number>(12).fill(30 * DAY)),
})

const anyAct: fc.Arbitrary<MarginAct> = fc.oneof<fc.WeightedArbitrary<MarginAct>[]>(
  {
    weight: 24,
    arbitrary: fc.record({
      act: fc.constant('place'),
      buy: fc.boolean(),
      price: fc.integer({ min: 97, max: 103 }),
      size: fc.integer({ min: 1, max: 20 }),
      odd: fc.constantFrom(0, 0, 3),
      trader: fc.integer({ min: 1, max: 5 }),
      livesSec: fc.constantFrom(5, 15, 60, 600, DAY, DAY, DAY),
      unchecked: oneIn(20),
      reduceOnly: oneIn(7),
      controls: anyControls,
      replaces: rarely(fc.nat(500)),
      account: rarely(accountAct),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('signature'),
      pick: fc.nat(500),
      valid: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('cancel'), pick: fc.nat(500) }) },
  { weight: 2, arbitrary: anyReduction },
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constant('settle'),
      pick: fc.nat(500),
      outcome: fc.constantFrom(
        ...(['success', 'success', 'success', 'success', 'maker', 'taker', 'both'] as const),
        ...(['unclear', 'unclear', 'price'] as const),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('code'),
      trader: fc.integer({ min: 1, max: 5 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc
      .record({ act: fc.constant('account' as const), trader: fc.integer({ min: 1, max: 5 }) })
      .chain((act) => accountAct.map((account) => ({ ...act, ...account }))),
  },
  {
    weight: 3,
    arbitrary: factsAct.map((facts) => ({ act: 'facts' as const, ...facts })),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('wait'),
      sec: fc.constantFrom(1, 1, 3, 12, 31),
      silent: oneIn(6),
    }),
  },
)

/** Days of this many acts at most; fast-check would make most of them a few acts long. */
export const marginDays = (maxLength: number): fc.Arbitrary<MarginAct[]> =>
  fc.array(anyAct, { maxLength, size: 'max' })

/** How a kind of market scales what an act says. */
export interface Scale {
  readonly price: (hundredths: number) => PriceE18
  /** Of the engine's sizes, and the least part of them. */
  readonly unit: bigint
  readonly least: bigint
  readonly market: (act: FactsAct) => MarketFacts
  readonly account: (act: AccountAct, mark: PriceE18) => AccountFacts
  readonly markOf: (act: FactsAct) => PriceE18
}

const perpPrice = (hundredths: number, odd = 0): PriceE18 =>
  priceE18((BigInt(hundredths) * E18) / 100n + BigInt(odd))

/** Prices about 1, sizes in whole contracts, a tenth of initial margin. */
export const PERPETUAL: Scale = {
  price: perpPrice,
  unit: E18,
  least: 1n,
  markOf: ({ mark, odd }) => perpPrice(mark, odd),
  market: ({ mark, index, odd, cap, total, trouble, borrowing }) =>
    hidePerpetual(
      perpetualFacts({
        mark: perpPrice(mark, odd),
        index: perpPrice(index, odd),
        positionCap: amountE18(BigInt(cap) * E18),
        totalPosition: amountE18(BigInt(total) * E18),
        paused: trouble === 'paused',
        pricesStale: trouble === 'stale',
        ...(trouble === 'unsure' && { markConfidence: e18('0.7'), indexConfidence: e18('0.4') }),
        ...(trouble === 'depeg' && { stable: e18('0.95') }),
        borrowing,
        contingency: {
          perpThreshold: e18('0.75'),
          baseThreshold: e18('0.5'),
          factor: e18('0.2'),
          depegThreshold: e18('0.98'),
          depegFactor: e18('1.3'),
        },
        collateral: {
          asset: `0x${'c'.repeat(40)}`,
          marginFactor: e18('0.8'),
          initialScale: e18('0.9'),
          cap: amountE18(0n),
          total: amountE18(0n),
          depositsOpen: true,
        },
      }),
    ),
  account({ position, cash, collateral, unsettled, isFrozen, isValued }, mark) {
    const { valued, ...held } = perpetualAccount({
      position: BigInt(position) * E18,
      cash: BigInt(cash) * E18,
      collateral: BigInt(collateral > 0 ? collateral : 0) * E18,
      inAuction: isFrozen,
      valued: { unsettled: BigInt(unsettled) * E18 + 1n, mark, elsewhere: 0n },
    })
    return hidePerpetualAccount(isValued && valued ? { ...held, valued } : held)
  },
}

const futurePrice = (hundredths: number, odd = 0): PriceE18 =>
  priceE18(BigInt(hundredths) * 15n * E18 + BigInt(odd))

/** Prices about 1,500, sizes in whole contracts of 1,000 USDC, the rates of the devnet. */
export const FUTURE: Scale = {
  price: futurePrice,
  unit: 1_000n * E18,
  least: E18,
  markOf: ({ mark, odd }) => futurePrice(mark, odd),
  market: ({ mark, index, odd, cap, total, trouble, leftSec }) =>
    hideFuture(
      futureFacts({
        mark: futurePrice(mark, odd),
        index: futurePrice(index, odd),
        positionCap: amountE18(BigInt(cap) * E18),
        totalPosition: amountE18(BigInt(total) * E18),
        expirySec: START_MS / 1000 + 3_600 + leftSec,
        paused: trouble === 'paused',
        indexStale: trouble === 'stale',
      }),
    ),
  account: ({ position, cash, collateral, unsettled }, mark) =>
    hideFutureAccount(
      futureAccount({
        position: BigInt(position) * E18,
        // Mostly enough for margin, sometimes for a few fees alone, sometimes nothing.
        usdc: cash > 2 ? BigInt(cash) * 200n * E18 : BigInt(cash > 0 ? cash : 0) * 6n * E18,
        cngn: BigInt(collateral) * 200_000n * E18 + BigInt(unsettled),
        mark,
        otherSize: BigInt(unsettled > 0 ? unsettled : 0) * E18,
      }),
    ),
}
