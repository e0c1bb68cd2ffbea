import { expect } from 'chai'
import fc from 'fast-check'
import type { ClaimKey } from '../../../core/contracts/claims.js'
import { futureCapacity, futureClaims } from '../../../core/contracts/future-claims.js'
import type { FutureAccountFacts, FutureFacts } from '../../../core/contracts/future-facts.js'
import {
  initialTerms,
  isFillAccepted,
  POSITION_STEP,
  variationOf,
} from '../../../core/contracts/future-margin.js'
import { E18, priceE18 } from '../../../core/money.js'
import { aFuture } from '../../support/builders.js'
import { futureAccount, futureFacts } from '../../support/future.js'
import { e18 } from '../../support/perpetual.js'
import { MAKER, TAKER, termsOf, type ClaimedFill } from '../../support/claimed-fill.js'
import { runs } from '../../support/property-runs.js'

const MARKET = aFuture()
const partOf = ({ of, balance }: ClaimKey): string =>
  of?.part ?? (balance?.asset === MARKET.quoteAssetAddress ? 'usdc' : 'cngn')

function claimed(fill: Partial<ClaimedFill>, facts: FutureFacts, accountId = TAKER) {
  const all = { takerBuys: true, price: e18('1500'), amount: E18, fee: 0n, ...fill }
  const claims = futureClaims(MARKET, termsOf(all), facts)
  const own = claims?.filter(({ key }) => key.accountId === accountId)
  return own && Object.fromEntries<bigint>(own.map(({ key, debit }) => [partOf(key), debit]))
}

describe('claims of a match in dated futures', () => {
  const facts = futureFacts()

  it('are a tenth of its notional on the side that each account moves to', () => {
    expect(claimed({}, facts)).to.deep.equal({ long: e18('100') })
    expect(claimed({}, facts, MAKER)).to.deep.equal({ short: e18('100') })
    expect(claimed({ takerBuys: false }, facts)).to.deep.equal({ short: e18('100') })
  })

  it('are what it is worse than the mark as a debt and in cNGN, and the fee, in USDC as well', () => {
    // 13.5 cNGN worse: 13,500 cNGN are 9 USDC, as a debt 10.
    const fill = { price: e18('1513.5'), fee: e18('2.5') }
    expect(claimed(fill, facts)).to.deep.equal({
      long: e18('112.5'),
      usdc: e18('2.5'),
      cngn: e18('13500'),
    })
    expect(claimed(fill, facts, MAKER)).to.deep.equal({ short: e18('100') })
  })

  it('take from the other side what costs more than the contracts release', () => {
    expect(claimed({ price: e18('1770') }, facts)).to.deep.equal({
      long: e18('300'),
      short: e18('100'),
      cngn: e18('270000'),
    })
  })

  it('are rounded up to the unit', () => {
    expect(claimed({ amount: 1n }, futureFacts({ initialRate: 1n }))).to.deep.equal({ long: 1n })
  })

  it('count the fee of the taker once, in whatever parts its match is filled', () => {
    const terms = termsOf({ takerBuys: true, price: e18('1500'), amount: E18, fee: e18('2.5') })
    const { fillDetails } = terms
    const twice = { ...terms, fillDetails: [...fillDetails, ...fillDetails] }
    const own = futureClaims(MARKET, twice, facts)?.filter(({ key }) => key.accountId === TAKER)
    expect(own?.map(({ key, debit }) => [partOf(key), debit])).to.deep.equal([
      ['long', e18('202.5')],
      ['usdc', e18('2.5')],
    ])
  })

  it('are kept apart by series where the margin is shared', () => {
    const idsOf = (subId: bigint) => {
      const terms = termsOf({ takerBuys: true, price: e18('1500'), amount: E18, fee: 0n })
      return futureClaims({ ...MARKET, subId }, terms, facts)?.map(({ key }) => key.id) ?? []
    }
    expect(new Set([...idsOf(1n), ...idsOf(2n)]).size).to.equal(4)
  })

  it('are unknown while the index is stale, and nothing is left then', () => {
    const stale = futureFacts({ indexStale: true })
    expect(claimed({}, stale)).to.equal(undefined)
    expect(futureCapacity(stale, futureAccount(), 'long')).to.equal(0n)
  })

  it('draw on what is beyond margin, and on twice that of the position on its other side', () => {
    const account = futureAccount({ position: 2n * E18, usdc: e18('1000'), otherSize: E18 })
    expect(futureCapacity(facts, account, 'long')).to.equal(e18('700'))
    expect(futureCapacity(facts, account, 'short')).to.equal(e18('1100'))
  })
})

const between = (min: bigint, max: bigint) => fc.bigInt({ min, max })
const steps = (min: bigint, max: bigint) => between(min, max).map((count) => count * POSITION_STEP)
const someFacts = fc
  .record({
    index: between(E18, e18('3000')),
    /** The mark, of the index. */
    percent: between(60n, 140n),
    initialRate: between(1n, E18),
    initialFactor: between(E18 / 2n, E18),
  })
  .map(({ index, percent, ...rest }) => {
    const mark = priceE18((index * percent) / 100n)
    return futureFacts({ ...rest, index: priceE18(index), mark })
  })
const someAccount = fc.record({
  position: steps(-20_000n, 20_000n),
  usdc: between(0n, e18('3000')),
  cngn: between(-e18('1000000'), e18('3000000')),
  otherSize: steps(0n, 2_000n),
})
const someFill = fc.record({
  takerBuys: fc.boolean(),
  /** Of the index. */
  percent: fc.integer({ min: 90, max: 110 }),
  amount: steps(1n, 10_000n),
  fee: between(0n, e18('20')),
})

/** Each match passes by itself, as the simulation of each shows; then so does each choice of them, one after the other. */
it('matches of futures whose claims fit together pass together, whichever the chain carries out', () => {
  let carriedOut = 0
  const [seed = 0] = fc.sample(fc.nat(), 1)
  fc.assert(
    fc.property(
      someFacts,
      someAccount,
      fc.array(fc.tuple(someFill, fc.boolean()), { minLength: 2, maxLength: 6 }),
      (facts, chosenAccount, chosen) => {
        const account: FutureAccountFacts = { ...futureAccount(chosenAccount), mark: facts.mark }
        const terms = initialTerms(facts)
        const left = new Map<string, bigint>()
        let now = account
        for (const [{ takerBuys, percent, amount, fee }, isCarriedOut] of chosen) {
          const price = (facts.index * BigInt(percent)) / 100n
          const fill = { size: takerBuys ? amount : -amount, price, fee }
          if (!isFillAccepted(account, fill, facts, terms)) continue
          const claims = futureClaims(MARKET, termsOf({ takerBuys, price, amount, fee }), facts)
          const own = (claims ?? []).filter(({ key }) => key.accountId === TAKER)
          const leftOf = ({ id, of }: (typeof own)[number]['key']) =>
            left.get(id) ??
            (of === undefined ? account.usdc : futureCapacity(facts, account, of.part))
          if (own.some(({ key, debit }) => debit > leftOf(key))) continue
          for (const { key, debit } of own) left.set(key.id, leftOf(key) - debit)
          if (!isCarriedOut) continue
          expect(isFillAccepted(now, fill, facts, terms)).to.equal(true)
          carriedOut += 1
          now = {
            ...now,
            position: now.position + fill.size,
            usdc: now.usdc - fee,
            cngn: now.cngn + variationOf(fill.size, price, facts.mark),
          }
        }
      },
    ),
    { seed, numRuns: runs(3_000) },
  )
  expect(carriedOut, `matches that were carried out, seed ${seed}`).to.be.above(500)
})
