import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { balanceMeans, type BalanceRiskAccount } from '../../../core/contracts/balances.js'
import type { SettledMatch } from '../../../core/contracts/contract.js'
import type { Exposure } from '../../../core/contracts/future-margin.js'
import type { LiveOrder } from '../../../core/model/live-order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'

/** An order for so many units at a price of two, with what of a live order the means read. */
const order = (side: 'buy' | 'sell', unmatched: bigint, orderId = 'own') =>
  ({
    side,
    orderId,
    limitPrice: priceE18(2n * E18),
    unmatched: amountE18(unmatched),
  }) as LiveOrder
/** Ten units at a price of two, for a fee of one, taken by the order `own`. */
const match = {
  settlementId: 's',
  takerOrderId: 'own',
  makerOrderId: 'other',
  price: priceE18(2n * E18),
  amount: amountE18(10n),
  takerFee: quoteE18(1n),
}
const settledIn = (blockNumber: bigint): SettledMatch => ({ match, blockNumber })
const seen = (base: bigint, quote: bigint, blockNumber: bigint) => ({
  subaccountId: 1n,
  leaving: false,
  blockNumber,
  blockTimeSec: 0,
  blockHash: '0x' as const,
  facts: { base: amountE18(base), quote: quoteE18(quote) },
})
const short = (needed: bigint) => ({ reason: 'insufficient_balance', needed })
const available = ({ availableBase, availableQuote }: BalanceRiskAccount) => [
  availableBase,
  availableQuote,
]

describe('means of an account that pays with balances', () => {
  let riskAccount: BalanceRiskAccount
  beforeEach(() => (riskAccount = balanceMeans.openRiskAccount(undefined)))
  const observe = (base: bigint, quote: bigint, blockNumber = 100n): void =>
    balanceMeans.observe(riskAccount, seen(base, quote, blockNumber))

  it('are enough for everything while nothing was observed (MAT-054)', () => {
    balanceMeans.reserve(riskAccount, order('buy', 1n), 5n)
    balanceMeans.reserve(riskAccount, order('sell', 1n), 5n)
    expect(balanceMeans.shortOfMatch(riskAccount, order('buy', 1n), 10n, match)).to.equal(undefined)
    expect(balanceMeans.shortToOpen(riskAccount, order('buy', 50n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(riskAccount, order('sell', 50n))).to.equal(undefined)
    const hold = { reason: 'insufficient_balance', needed: 9n } as const
    expect(balanceMeans.hasEnough(riskAccount, order('buy', 50n), hold)).to.equal(true)
    expect(available(riskAccount)).to.deep.equal([undefined, undefined])
    observe(7n, 9n)
    expect(available(riskAccount)).to.deep.equal([2n, 4n])
  })

  it('pay quote for a buy and base for a sell, to the last unit', () => {
    observe(10n, 21n)
    expect(balanceMeans.shortToOpen(riskAccount, order('buy', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToOpen(riskAccount, order('buy', 11n))).to.deep.equal(short(22n))
    expect(balanceMeans.shortToOpen(riskAccount, order('sell', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToOpen(riskAccount, order('sell', 11n))).to.deep.equal(short(11n))
    expect(balanceMeans.shortOfMatch(riskAccount, order('buy', 1n), 21n, match)).to.equal(undefined)
    expect(balanceMeans.shortOfMatch(riskAccount, order('buy', 1n), 22n, match)).to.deep.equal(
      short(22n),
    )
    const waits = (needed: bigint) => ({ reason: 'insufficient_balance', needed }) as const
    expect(balanceMeans.hasEnough(riskAccount, order('sell', 1n), waits(10n))).to.equal(true)
    expect(balanceMeans.hasEnough(riskAccount, order('sell', 1n), waits(11n))).to.equal(false)
  })

  it('charge the fee to the order that takes, if it buys (MON-016)', () => {
    expect(balanceMeans.costOf(order('buy', 10n), match)).to.equal(21n)
    expect(balanceMeans.costOf(order('buy', 10n, 'other'), match)).to.equal(20n)
    expect(balanceMeans.costOf(order('sell', 10n), match)).to.equal(10n)
  })

  it('count what is reserved as still there for an order that is open, on its own side only (MAT-052)', () => {
    observe(10n, 20n)
    balanceMeans.reserve(riskAccount, order('buy', 1n), 8n)
    balanceMeans.reserve(riskAccount, order('sell', 1n), 3n)
    expect(available(riskAccount)).to.deep.equal([7n, 12n])
    expect(balanceMeans.shortToOpen(riskAccount, order('buy', 10n))).to.deep.equal(short(20n))
    expect(balanceMeans.shortToStay(riskAccount, order('buy', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(riskAccount, order('buy', 11n))).to.deep.equal(short(22n))
    expect(balanceMeans.shortToStay(riskAccount, order('sell', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(riskAccount, order('sell', 11n))).to.deep.equal(short(11n))
    balanceMeans.release(riskAccount, order('buy', 1n), 8n)
    balanceMeans.release(riskAccount, order('sell', 1n), 3n)
    expect(available(riskAccount)).to.deep.equal([10n, 20n])
  })

  it('move by what settled after the observed block, and move back when the chain lost it (MAT-046)', () => {
    observe(100n, 100n)
    balanceMeans.settle(riskAccount, order('buy', 0n), settledIn(100n))
    expect(available(riskAccount)).to.deep.equal([100n, 100n])
    balanceMeans.settle(riskAccount, order('buy', 0n), settledIn(101n))
    expect(available(riskAccount)).to.deep.equal([110n, 79n])
    balanceMeans.settle(riskAccount, order('sell', 0n), settledIn(101n))
    expect(available(riskAccount)).to.deep.equal([100n, 98n])
    balanceMeans.settle(riskAccount, order('sell', 0n, 'other'), settledIn(102n))
    expect(available(riskAccount)).to.deep.equal([90n, 118n])
    balanceMeans.unsettle(riskAccount, order('buy', 0n), settledIn(101n))
    expect(available(riskAccount)).to.deep.equal([80n, 139n])
    observe(100n, 100n, 102n)
    expect(available(riskAccount)).to.deep.equal([100n, 100n])
    // The chain goes back by a block: what settled in 102 counts again.
    observe(100n, 100n, 101n)
    expect(available(riskAccount)).to.deep.equal([90n, 120n])
  })

  it('are the same after a checkpoint', () => {
    observe(100n, 100n)
    balanceMeans.settle(riskAccount, order('buy', 0n), settledIn(101n))
    balanceMeans.reserve(riskAccount, order('buy', 1n), 8n)
    balanceMeans.reserve(riskAccount, order('sell', 1n), 3n)
    const { observed } = riskAccount
    const kept = balanceMeans.snapshot(riskAccount)
    const restored = balanceMeans.restore(kept, { observed, market: undefined })
    expect(restored).to.deep.equal(riskAccount)
    balanceMeans.settle(restored, order('buy', 0n), settledIn(102n))
    expect(balanceMeans.snapshot(riskAccount)).to.deep.equal(kept)
  })

  it('are checked against the costs that await settlement', () => {
    observe(100n, 100n)
    balanceMeans.reserve(riskAccount, order('buy', 1n), 8n)
    balanceMeans.reserve(riskAccount, order('sell', 1n), 3n)
    const bought = { order: order('buy', 1n), cost: 8n }
    const sold = { order: order('sell', 1n), cost: 3n }
    balanceMeans.check(riskAccount, [bought, sold])
    for (const wrong of [[], [bought], [sold], [bought, sold, sold]]) {
      expect(() => balanceMeans.check(riskAccount, wrong)).to.throw(InvariantBroken, 'reserved')
    }
    for (const name of ['availableBase', 'availableQuote'] as const) {
      const moved = { ...riskAccount, [name]: 1n }
      expect(() => balanceMeans.check(moved, [bought, sold])).to.throw(InvariantBroken, 'available')
    }
  })

  describe('with a position or a debt in futures', () => {
    /** 1,000 USDC, 3,000 cNGN of which all counts, at an index of three and a factor of 0.9: 1,900 USDC of margin. */
    const observeExposed = (different: Partial<Exposure> = {}): void => {
      const exposure = {
        cngn: 3_000n * E18,
        required: 1_000n * E18,
        index: priceE18(3n * E18),
        factor: (9n * E18) / 10n,
        ...different,
      }
      const observed = seen(3_000n * E18, 1_000n * E18, 100n)
      balanceMeans.observe(riskAccount, { ...observed, facts: { ...observed.facts, exposure } })
    }
    const marginShort = (needed: bigint) => ({ reason: 'insufficient_margin', needed })
    const at = (side: 'buy' | 'sell', units: bigint, price = priceE18(2n * E18)): LiveOrder => ({
      ...order(side, units * E18),
      limitPrice: price,
    })

    it('are what keeps initial margin, with what the fill brings in (FUT-040)', () => {
      observeExposed()
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 501n))).to.deep.equal(
        short(1_002n * E18),
      )
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 500n))).to.equal(undefined)
      // 40 USDC and 3,480 cNGN, which count as 1,044, are left.
      observeExposed({ required: 1_084n * E18 })
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 480n))).to.equal(undefined)
      observeExposed({ required: 1_084n * E18 + 1n })
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 480n))).to.deep.equal(
        marginShort(960n * E18),
      )
      // Sold above its worth, cNGN adds margin.
      expect(balanceMeans.shortToOpen(riskAccount, at('sell', 3_000n))).to.equal(undefined)
      const cheap = at('sell', 3_000n, priceE18(1n))
      expect(balanceMeans.shortToOpen(riskAccount, cheap)).to.deep.equal(marginShort(3_000n * E18))
    })

    it('are judged for a match with its fee, and with what others in flight pay', () => {
      observeExposed({ required: 1_050n * E18 })
      const amount = amountE18(100n * E18)
      const one = { ...match, amount, takerFee: quoteE18(0n) }
      const cost = balanceMeans.costOf(at('buy', 100n), one)
      expect(balanceMeans.shortOfMatch(riskAccount, at('buy', 100n), cost, one)).to.equal(undefined)
      // Three in flight pay 600 and are not known to bring anything: 250 are left of the margin.
      for (let n = 0; n < 3; n++) balanceMeans.reserve(riskAccount, at('buy', 100n), cost)
      expect(balanceMeans.shortOfMatch(riskAccount, at('buy', 100n), cost, one)).to.equal(undefined)
      const withFee = { ...one, takerFee: quoteE18(81n * E18) }
      const paid = cost + 81n * E18
      expect(balanceMeans.shortOfMatch(riskAccount, at('buy', 100n), paid, withFee)).to.deep.equal(
        marginShort(paid),
      )
      // An open order stays: what is in flight may be settled already.
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 200n))).to.deep.equal(
        marginShort(400n * E18),
      )
      expect(balanceMeans.shortToStay(riskAccount, at('buy', 200n))).to.equal(undefined)
    })

    it('of a sale count what it brings in, less the fee of one that takes', () => {
      const cheap = priceE18(E18 / 10n)
      const sale = at('sell', 300n, cheap)
      const one = { ...match, amount: amountE18(300n * E18), price: cheap, takerFee: quoteE18(1n) }
      const cost = balanceMeans.costOf(sale, one)
      const hold = { reason: 'insufficient_margin', needed: 300n * E18 } as const
      // 1,030 USDC and 2,700 cNGN, which count as 810, are left.
      observeExposed({ required: 1_840n * E18 })
      expect(balanceMeans.shortOfMatch(riskAccount, sale, cost, one)).to.deep.equal(hold)
      const asMaker = { ...sale, orderId: 'other' }
      expect(balanceMeans.shortOfMatch(riskAccount, asMaker, cost, one)).to.equal(undefined)
      expect(balanceMeans.hasEnough(riskAccount, sale, hold)).to.equal(true)
      observeExposed({ required: 1_840n * E18 - 1n })
      expect(balanceMeans.shortOfMatch(riskAccount, sale, cost, one)).to.equal(undefined)
      observeExposed({ required: 1_840n * E18 + 1n })
      expect(balanceMeans.shortOfMatch(riskAccount, asMaker, cost, one)).to.deep.equal(hold)
      expect(balanceMeans.hasEnough(riskAccount, sale, hold)).to.equal(false)
    })

    it('are nothing while the index is stale, unless nothing is at stake (FUT-039)', () => {
      observeExposed({ index: priceE18(0n) })
      const hold = marginShort(2n * E18)
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 1n))).to.deep.equal(hold)
      const held = { reason: 'insufficient_margin', needed: 2n * E18 } as const
      expect(balanceMeans.hasEnough(riskAccount, at('buy', 1n), held)).to.equal(false)
      observeExposed()
      expect(balanceMeans.hasEnough(riskAccount, at('buy', 1n), held)).to.equal(true)
      // A position needs an index even where the purchase leaves no cNGN.
      observeExposed({ index: priceE18(0n), required: E18, cngn: -E18 })
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 1n))).to.deep.equal(hold)
      // Without a position, a purchase that ends the debt needs no index.
      observeExposed({ index: priceE18(0n), required: 0n, cngn: -E18 })
      expect(balanceMeans.shortToOpen(riskAccount, at('buy', 1n))).to.equal(undefined)
    })
  })
})
