import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { balanceMeans, type BalancePurse } from '../../../core/contracts/balances.js'
import type { SettledMatch } from '../../../core/contracts/contract.js'
import type { LiveOrder } from '../../../core/engine/live-order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'

/** An order for so many units at a price of two, with what of a live order the means read. */
const order = (side: 'buy' | 'sell', unmatched: bigint, orderId = 'own') =>
  ({
    ...{ side, orderId, limitPrice: priceE18(2n * E18), unmatched: amountE18(unmatched) },
  }) as LiveOrder
/** Ten units at a price of two, for a fee of one, taken by the order `own`. */
const match = {
  ...{ settlementId: 's', takerOrderId: 'own', makerOrderId: 'other' },
  ...{ price: priceE18(2n * E18), amount: amountE18(10n), takerFee: quoteE18(1n) },
}
const settledIn = (blockNumber: bigint): SettledMatch => ({ match, blockNumber })
const seen = (base: bigint, quote: bigint, blockNumber: bigint) => ({
  ...{ subaccountId: 1n, leaving: false, blockNumber, blockTimeSec: 0 },
  ...{ blockHash: '0x' as const, facts: { base: amountE18(base), quote: quoteE18(quote) } },
})
const short = (needed: bigint) => ({ reason: 'insufficient_balance', needed })
const available = ({ availableBase, availableQuote }: BalancePurse) => [
  availableBase,
  availableQuote,
]

describe('means of an account that pays with balances', () => {
  let purse: BalancePurse
  beforeEach(() => (purse = balanceMeans.openPurse(undefined)))
  const observe = (base: bigint, quote: bigint, blockNumber = 100n): void =>
    balanceMeans.observe(purse, seen(base, quote, blockNumber))

  it('are enough for everything while nothing was observed', () => {
    balanceMeans.reserve(purse, order('buy', 1n), 5n)
    balanceMeans.reserve(purse, order('sell', 1n), 5n)
    expect(balanceMeans.shortOfMatch(purse, order('buy', 1n), 10n)).to.equal(undefined)
    expect(balanceMeans.shortToOpen(purse, order('buy', 50n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(purse, order('sell', 50n))).to.equal(undefined)
    const hold = { reason: 'insufficient_balance', needed: 9n } as const
    expect(balanceMeans.hasEnough(purse, order('buy', 50n), hold)).to.equal(true)
    expect(available(purse)).to.deep.equal([undefined, undefined])
    observe(7n, 9n)
    expect(available(purse)).to.deep.equal([2n, 4n])
  })

  it('pay quote for a buy and base for a sell, to the last unit', () => {
    observe(10n, 21n)
    expect(balanceMeans.shortToOpen(purse, order('buy', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToOpen(purse, order('buy', 11n))).to.deep.equal(short(22n))
    expect(balanceMeans.shortToOpen(purse, order('sell', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToOpen(purse, order('sell', 11n))).to.deep.equal(short(11n))
    expect(balanceMeans.shortOfMatch(purse, order('buy', 1n), 21n)).to.equal(undefined)
    expect(balanceMeans.shortOfMatch(purse, order('buy', 1n), 22n)).to.deep.equal(short(22n))
    const waits = (needed: bigint) => ({ reason: 'insufficient_balance', needed }) as const
    expect(balanceMeans.hasEnough(purse, order('sell', 1n), waits(10n))).to.equal(true)
    expect(balanceMeans.hasEnough(purse, order('sell', 1n), waits(11n))).to.equal(false)
  })

  it('charge the fee to the order that takes, if it buys', () => {
    expect(balanceMeans.costOf(order('buy', 10n), match)).to.equal(21n)
    expect(balanceMeans.costOf(order('buy', 10n, 'other'), match)).to.equal(20n)
    expect(balanceMeans.costOf(order('sell', 10n), match)).to.equal(10n)
  })

  it('count what is reserved as still there for an order that is open, on its own side only', () => {
    observe(10n, 20n)
    balanceMeans.reserve(purse, order('buy', 1n), 8n)
    balanceMeans.reserve(purse, order('sell', 1n), 3n)
    expect(available(purse)).to.deep.equal([7n, 12n])
    expect(balanceMeans.shortToOpen(purse, order('buy', 10n))).to.deep.equal(short(20n))
    expect(balanceMeans.shortToStay(purse, order('buy', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(purse, order('buy', 11n))).to.deep.equal(short(22n))
    expect(balanceMeans.shortToStay(purse, order('sell', 10n))).to.equal(undefined)
    expect(balanceMeans.shortToStay(purse, order('sell', 11n))).to.deep.equal(short(11n))
    balanceMeans.release(purse, order('buy', 1n), 8n)
    balanceMeans.release(purse, order('sell', 1n), 3n)
    expect(available(purse)).to.deep.equal([10n, 20n])
  })

  it('move by what settled after the observed block, and move back when the chain lost it', () => {
    observe(100n, 100n)
    balanceMeans.settle(purse, order('buy', 0n), settledIn(100n))
    expect(available(purse)).to.deep.equal([100n, 100n])
    balanceMeans.settle(purse, order('buy', 0n), settledIn(101n))
    expect(available(purse)).to.deep.equal([110n, 79n])
    balanceMeans.settle(purse, order('sell', 0n), settledIn(101n))
    expect(available(purse)).to.deep.equal([100n, 98n])
    balanceMeans.settle(purse, order('sell', 0n, 'other'), settledIn(102n))
    expect(available(purse)).to.deep.equal([90n, 118n])
    balanceMeans.unsettle(purse, order('buy', 0n), settledIn(101n))
    expect(available(purse)).to.deep.equal([80n, 139n])
    observe(100n, 100n, 102n)
    expect(available(purse)).to.deep.equal([100n, 100n])
    // The chain goes back by a block: what settled in 102 counts again.
    observe(100n, 100n, 101n)
    expect(available(purse)).to.deep.equal([90n, 120n])
  })

  it('are the same after a checkpoint', () => {
    observe(100n, 100n)
    balanceMeans.settle(purse, order('buy', 0n), settledIn(101n))
    balanceMeans.reserve(purse, order('buy', 1n), 8n)
    balanceMeans.reserve(purse, order('sell', 1n), 3n)
    const { observed } = purse
    const kept = balanceMeans.snapshot(purse)
    const restored = balanceMeans.restore(kept, { observed, market: undefined })
    expect(restored).to.deep.equal(purse)
    balanceMeans.settle(restored, order('buy', 0n), settledIn(102n))
    expect(balanceMeans.snapshot(purse)).to.deep.equal(kept)
  })

  it('are checked against the costs that await settlement', () => {
    observe(100n, 100n)
    balanceMeans.reserve(purse, order('buy', 1n), 8n)
    balanceMeans.reserve(purse, order('sell', 1n), 3n)
    const bought = { order: order('buy', 1n), cost: 8n }
    const sold = { order: order('sell', 1n), cost: 3n }
    balanceMeans.check(purse, [bought, sold])
    for (const wrong of [[], [bought], [sold], [bought, sold, sold]]) {
      expect(() => balanceMeans.check(purse, wrong)).to.throw(InvariantBroken, 'reserved')
    }
    for (const name of ['availableBase', 'availableQuote'] as const) {
      const moved = { ...purse, [name]: 1n }
      expect(() => balanceMeans.check(moved, [bought, sold])).to.throw(InvariantBroken, 'available')
    }
  })
})
