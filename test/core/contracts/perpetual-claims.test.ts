import { expect } from 'chai'
import fc from 'fast-check'
import { perpCapacity, perpClaims } from '../../../core/contracts/perpetual-claims.js'
import type { PerpetualAccount, PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import { cashDeltaOf, isAccepted } from '../../../core/contracts/perpetual-margin.js'
import { E18, priceE18, quoteE18 } from '../../../core/money.js'
import { aPerp } from '../../support/builders.js'
import { e18, perpetualAccount, perpetualFacts } from '../../support/perpetual.js'
import { MAKER, TAKER, termsOf, type ClaimedFill } from '../../support/claimed-fill.js'
import { runs } from '../../support/property-runs.js'

const MARKET = aPerp()
function claimed(fill: Partial<ClaimedFill>, facts: PerpetualFacts, accountId = TAKER) {
  const all = { takerBuys: true, price: E18, amount: e18('100'), fee: 0n, ...fill }
  const claims = perpClaims(MARKET, termsOf(all), facts)
  const parts = claims?.filter(({ key }) => key.accountId === accountId)
  return (
    parts && Object.fromEntries<bigint>(parts.map(({ key, debit }) => [key.of?.part ?? '', debit]))
  )
}

describe('claims of a perpetual match', () => {
  const facts = perpetualFacts()

  it('are the margin of its contracts, on the side that it moves to, for both accounts', () => {
    expect(claimed({}, facts)).to.deep.equal({ long: e18('10') })
    expect(claimed({}, facts, MAKER)).to.deep.equal({ short: e18('10') })
    expect(claimed({ takerBuys: false }, facts)).to.deep.equal({ short: e18('10') })
  })

  it('are what the fill is worse than the mark, and the fee, in cash as well', () => {
    const fill = { price: e18('1.01'), fee: e18('0.25') }
    expect(claimed(fill, facts)).to.deep.equal({ long: e18('11.25'), cash: e18('1.25') })
    expect(claimed(fill, facts, MAKER)).to.deep.equal({ short: e18('10') })
    expect(claimed({ ...fill, takerBuys: false }, facts)).to.deep.equal({
      short: e18('10.25'),
      cash: e18('0.25'),
    })
  })

  it('take from the other side what costs more than the contracts release', () => {
    expect(claimed({ price: e18('1.2') }, facts)).to.deep.equal({
      long: e18('30'),
      short: e18('10'),
      cash: e18('20'),
    })
  })

  it('round each part against the account', () => {
    const fill = { price: E18 + 1n, amount: 1n }
    expect(claimed(fill, facts)).to.deep.equal({ long: 2n, short: 1n, cash: 1n })
    expect(claimed(fill, facts, MAKER)).to.deep.equal({ short: 1n })
  })

  it('of several makers are each their own, and the taker’s fee is claimed once', () => {
    const [first] = termsOf({
      takerBuys: true,
      price: E18,
      amount: e18('100'),
      fee: 7n,
    }).fillDetails
    if (first === undefined) throw new Error('there is no fill')
    const of = (makers: readonly bigint[]) => {
      const fillDetails = makers.map((filledAccount) => ({ ...first, filledAccount }))
      const terms = { takerAccount: TAKER, takerIsBuyer: true, takerFee: quoteE18(7n), fillDetails }
      const claims = perpClaims(MARKET, terms, perpetualFacts()) ?? []
      return (accountId: bigint) =>
        new Map(
          claims.flatMap(({ key, debit }) =>
            key.accountId === accountId ? [[key.of?.part, debit]] : [],
          ),
        )
    }
    const one = of([MAKER])
    const two = of([MAKER, 9n])
    expect(one(TAKER).get('cash')).to.equal(7n)
    expect(two(TAKER).get('cash')).to.equal(7n)
    const margin = (one(TAKER).get('long') ?? 0n) - 7n
    expect(two(TAKER).get('long')).to.equal(2n * margin + 7n)
    expect(two(MAKER)).to.deep.equal(one(MAKER))
    expect(two(9n)).to.deep.equal(one(MAKER))
  })

  it('are unknown while there are no prices', () => {
    expect(claimed({}, perpetualFacts({ pricesStale: true }))).to.equal(undefined)
  })

  it('have a key of their own for each account and part, all of the market', () => {
    const claims = perpClaims(
      MARKET,
      termsOf({ takerBuys: true, price: 2n * E18, amount: E18, fee: 1n }),
      facts,
    )
    const ids = claims?.map(({ key }) => key.id) ?? []
    expect(new Set(ids).size).to.equal(4)
    for (const { key } of claims ?? []) {
      expect(key.of?.market).to.equal(MARKET)
      expect(key.balance).to.equal(undefined)
    }
  })
})

describe('capacities of an account', () => {
  const facts = perpetualFacts()
  const capacities = (account: Partial<PerpetualAccount>, at = facts) =>
    ['long', 'short', 'cash'].map((part) => perpCapacity(at, perpetualAccount(account), part))

  it('are its surplus on the side of its position, and twice the margin more on the other', () => {
    const valued = { unsettled: e18('-3'), mark: facts.mark, elsewhere: e18('1') }
    const long = { position: e18('100'), cash: e18('40'), valued }
    expect(capacities(long)).to.deep.equal([e18('28'), e18('48'), e18('37')])
    const short = { ...long, position: e18('-100') }
    expect(capacities(short)).to.deep.equal([e18('48'), e18('28'), e18('37')])
  })

  it('are the surplus on both without a position, which has no profit', () => {
    const valued = { unsettled: e18('5'), mark: facts.mark, elsewhere: 0n }
    expect(capacities({ cash: e18('40'), valued })).to.deep.equal([e18('40'), e18('40'), e18('40')])
  })

  it('have no bound in cash where it may become negative', () => {
    const [, , cash = 0n] = capacities({ cash: e18('-40') }, perpetualFacts({ borrowing: true }))
    expect(cash > 10n ** 60n).to.equal(true)
  })

  it('are nothing while the account cannot be valued', () => {
    const unpriced = { inAuction: false, position: 0n, cash: E18, collateral: 0n }
    const stale = perpetualFacts({ pricesStale: true })
    for (const part of ['long', 'short', 'cash']) {
      expect(perpCapacity(facts, unpriced, part)).to.equal(0n)
      expect(perpCapacity(stale, perpetualAccount(), part)).to.equal(0n)
    }
  })
})

const between = (min: bigint, max: bigint) => fc.bigInt({ min, max })
const someFacts = fc
  .record({
    mark: between(1n, 3n * E18),
    index: between(1n, 3n * E18),
    initialRate: between(0n, E18),
    markConfidence: between(0n, E18),
    stable: between(e18('0.5'), E18),
    borrowing: fc.boolean(),
    threshold: between(0n, E18),
  })
  .map(({ mark, index, threshold, ...rest }) => {
    const contingency = {
      perpThreshold: threshold,
      baseThreshold: 0n,
      factor: e18('0.4'),
      depegThreshold: threshold,
      depegFactor: e18('1.2'),
    }
    return perpetualFacts({ ...rest, mark: priceE18(mark), index: priceE18(index), contingency })
  })
const someAccount = fc.record({
  position: between(-e18('200'), e18('200')),
  cash: between(-e18('20'), e18('120')),
  unsettled: between(-e18('20'), e18('20')),
})
const someFill = fc.record({
  takerBuys: fc.boolean(),
  /** Of the mark. */
  percent: fc.integer({ min: 80, max: 120 }),
  amount: between(1n, e18('120')),
  fee: between(0n, e18('2')),
})

/** The account after a trade, which settles its profit into cash. */
function traded(account: PerpetualAccount, trade: { size: bigint; cashDelta: bigint }) {
  const { valued, position, cash } = account
  const profit = position === 0n ? 0n : (valued?.unsettled ?? 0n)
  return {
    ...account,
    position: position + trade.size,
    cash: cash + profit + trade.cashDelta,
    ...(valued && { valued: { ...valued, unsettled: 0n } }),
  }
}

/** Each match passes by itself, as the simulation of each shows; then so does each choice of them, one after the other. */
it('matches whose claims fit together pass together, whichever of them the chain carries out', () => {
  fc.assert(
    fc.property(
      someFacts,
      someAccount,
      fc.array(fc.tuple(someFill, fc.boolean()), { minLength: 2, maxLength: 6 }),
      (facts, { position, cash, unsettled }, chosen) => {
        const valued = { unsettled, mark: facts.mark, elsewhere: 0n }
        const account = perpetualAccount({ position, cash, valued })
        const left = new Map<string, bigint>()
        let now = account
        for (const [fill, isCarriedOut] of chosen) {
          const price = (facts.mark * BigInt(fill.percent)) / 100n
          const { takerBuys, amount, fee } = fill
          const size = takerBuys ? amount : -amount
          const trade = { size, cashDelta: cashDeltaOf(facts, { size, price, fee }) }
          if (!isAccepted(facts, account, trade)) continue
          const claims = perpClaims(MARKET, termsOf({ takerBuys, price, amount, fee }), facts) ?? []
          const own = claims.filter(({ key }) => key.accountId === TAKER)
          const leftOf = ({ id, of }: (typeof own)[number]['key']) =>
            left.get(id) ?? perpCapacity(facts, account, of?.part ?? '')
          if (own.some(({ key, debit }) => debit > leftOf(key))) continue
          for (const { key, debit } of own) left.set(key.id, leftOf(key) - debit)
          if (!isCarriedOut) continue
          expect(isAccepted(facts, now, trade)).to.equal(true)
          now = traded(now, trade)
        }
      },
    ),
    { numRuns: runs(3_000) },
  )
})
