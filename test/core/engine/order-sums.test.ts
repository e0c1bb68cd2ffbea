import { expect } from 'chai'
import fc from 'fast-check'
import { notionalFloor } from '../../../core/contracts/fees.js'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import { applyChange, emptyView, standOf, type OrderStand } from '../../../core/engine/feed.js'
import { averagePrice, sumsAfter } from '../../../core/engine/order-sums.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { ordersUpdate } from '../../../core/records/frames.js'
import { formatDecimal, parseDecimal } from '../../../core/decimal.js'
import type { Fill } from '../../../core/model/match.js'
import { aFill, aFuture, aMarket, anOrder } from '../../support/builders.js'
import { aChange } from '../../support/changes.js'
import { daysOfFigures } from '../../support/days-of-figures.js'
import { feedOf } from '../../support/market-feed.js'
import { e18 } from '../../support/perpetual.js'
import { runs } from '../../support/property-runs.js'

const MARKET = aMarket()

interface Totals {
  amount: bigint
  quote: bigint
  fee: bigint
}
const nothing = (): Totals => ({ amount: 0n, quote: 0n, fee: 0n })

const e18Of = (text: string | undefined): bigint => parseDecimal(text ?? '0', 18) ?? -1n

/** What the newest `orders` frame of each order says of its fills. */
function shownTotals(changes: readonly Change[]) {
  const view = emptyView(MARKET)
  const shown = new Map<string, Totals>()
  for (const change of changes) {
    const stand: OrderStand | undefined = applyChange(view, change)
    const { data } = ordersUpdate(MARKET, change, { stand, ownerSeq: 0 })
    shown.set(change.orderId, {
      amount: e18Of(data.filled_amount),
      quote: e18Of(data.filled_quote),
      fee: e18Of(data.fee_paid),
    })
    const rest =
      e18Of(data.desired_amount) - e18Of(data.inherited_filled_amount) - e18Of(data.filled_amount)
    expect(rest).to.equal(change.desired - change.filled)
  }
  return shown
}

/** The legs that stand, of each order, and the matches that stand, as the chain carried them out. */
function standing(changes: readonly Change[]) {
  const legs = new Map<string, Map<string, Fill>>()
  const settled = new Map<string, Fill>()
  for (const change of changes) {
    if (change.kind !== 'OrderFilled' && change.kind !== 'FillReversed') continue
    const { orderId, fill } = change
    const own = legs.get(orderId) ?? new Map<string, Fill>()
    legs.set(orderId, own)
    if (change.kind === 'OrderFilled') {
      own.set(fill.settlementId, fill)
      settled.set(fill.settlementId, fill)
    } else {
      own.delete(fill.settlementId)
      settled.delete(fill.settlementId)
    }
  }
  return { legs, settled: [...settled.values()] }
}

const sum = (totals: Iterable<Totals>): Totals =>
  [...totals].reduce(
    (all, { amount, quote, fee }) => ({
      amount: all.amount + amount,
      quote: all.quote + quote,
      fee: all.fee + fee,
    }),
    nothing(),
  )
const totalsOf = (fills: Iterable<Fill>): Totals =>
  sum(
    [...fills].map(({ price, amount, fee }) => ({
      amount,
      quote: notionalFloor(price, amount),
      fee,
    })),
  )

describe('the figures of orders over a random market day', () => {
  it('are those of their own fills, and add up to what the chain has carried out (MON-031)', () => {
    let seen = { replaced: 0, reversed: 0, resized: 0, fills: 0 }
    fc.assert(
      fc.property(daysOfFigures, (acts) => {
        const changes = feedOf(MARKET, acts).flatMap((block) => block.changes)
        const shown = shownTotals(changes)
        const { legs, settled } = standing(changes)
        for (const [orderId, totals] of shown) {
          expect(totals, orderId).to.deep.equal(totalsOf(legs.get(orderId)?.values() ?? []))
        }
        const matched = settled.map(({ price, amount, takerFee }) => ({
          amount: 2n * amount,
          quote: 2n * notionalFloor(price, amount),
          fee: takerFee,
        }))
        expect(sum(shown.values())).to.deep.equal(sum(matched))
        const count = (is: (change: Change) => boolean) => changes.filter(is).length
        seen = {
          replaced:
            seen.replaced +
            count((each) => each.kind === 'OrderPlaced' && each.order.initialFilled > 0n),
          reversed: seen.reversed + count(({ kind }) => kind === 'FillReversed'),
          resized: seen.resized + count(({ kind }) => kind === 'OrderResized'),
          fills: seen.fills + count(({ kind }) => kind === 'OrderFilled'),
        }
      }),
      { numRuns: runs(2_000) },
    )
    for (const [what, times] of Object.entries(seen)) expect(times, what).to.be.greaterThan(25)
  })
})

describe('the figures of an order', () => {
  const order = anOrder()
  const filled = (price: string, amount: string, fee: string) =>
    aChange(1, order, {
      kind: 'OrderFilled',
      fill: aFill({
        price: priceE18(e18(price)),
        amount: amountE18(e18(amount)),
        fee: quoteE18(e18(fee)),
      }),
    })

  it('average one price to itself, whatever is rounded off its notional (MON-030)', () => {
    const one = sumsAfter(MARKET, filled('0.000000000000000007', '0.000001', '0'), undefined)
    expect(one && averagePrice(one)).to.equal(7n)
  })

  it('count on a future in USDC of notional, and average in cNGN per USDC (MON-030)', () => {
    const first = sumsAfter(aFuture(), filled('1500', '1000', '2.5'), undefined)
    const both = sumsAfter(aFuture(), filled('1530', '2000', '5'), first)
    expect(both).to.include({ amount: e18('3000'), quote: e18('3000'), fee: e18('7.5') })
    expect(both && averagePrice(both)).to.equal(e18('1520'))
  })

  it('are shown only where they are of all that is filled, and of nothing as a fee alone (MON-025)', () => {
    const view = emptyView(MARKET)
    /** What the frame of the next change says of the fills, whose amount is `filled`. */
    const shown = (facts: ChangeFacts, filled: bigint) => {
      const change = aChange(view.seq + 1, order, facts, { filled })
      const { data } = ordersUpdate(MARKET, change, {
        stand: applyChange(view, change),
        ownerSeq: 0,
      })
      const { filled_amount, filled_quote, average_price, fee_paid } = data
      return [filled_amount, filled_quote, average_price, fee_paid]
    }
    const fill = aFill({ price: priceE18(e18('0.5')), amount: amountE18(e18('20')) })
    const fee = formatDecimal(fill.fee, 18)
    expect(shown({ kind: 'OrderPlaced', order, rank: 1 }, 0n)).to.deep.equal([
      ...['0', undefined, undefined, '0'],
    ])
    expect(shown({ kind: 'OrderFilled', fill }, 20n)).to.deep.equal(['20', '10', '0.5', fee])
    const unknown = [undefined, undefined, undefined]
    // As a restore with a gap counts what the chain has filled meanwhile: there is no fill of it.
    expect(shown({ kind: 'OrderHeld', hold: 'insufficient_balance' }, 50n)).to.deep.equal([
      ...['50', ...unknown],
    ])
    const reversed = { kind: 'FillReversed', fill, revert: 'x' } as const
    expect(shown(reversed, 30n)).to.deep.equal(['30', ...unknown])
    expect(shown({ kind: 'OrderFilled', fill }, 20n)).to.deep.equal(['20', '10', '0.5', fee])
    expect(shown(reversed, 0n)).to.deep.equal(['0', undefined, undefined, '0'])
  })

  it('never count what was inherited, also after an order that matched nothing has ended', () => {
    const view = emptyView(MARKET)
    const heir = anOrder({ orderId: 'heir', initialFilled: amountE18(e18('400')) })
    for (const [index, each] of [order, heir].entries()) {
      const seq = 2 * index + 1
      const filled = each.initialFilled / e18('1')
      applyChange(
        view,
        aChange(seq, each, { kind: 'OrderPlaced', order: each, rank: seq }, { filled }),
      )
      const end = { status: 'cancelled', filled } as const
      applyChange(view, aChange(seq + 1, each, { kind: 'OrderCancelled', cancelReason: 'x' }, end))
    }
    expect(standOf(view, order.orderId), 'of which there is nothing to know').to.equal(undefined)
    expect(standOf(view, heir.orderId)).to.include({ initialFilled: e18('400'), cancelReason: 'x' })
  })

  it('of which nothing is known stay unknown when a fill is taken back', () => {
    const reversed = { ...filled('1', '1', '0'), kind: 'FillReversed', revert: 'x' } as Change
    expect(sumsAfter(MARKET, reversed, undefined)).to.equal(undefined)
  })
})
