import { expect } from 'chai'
import fc from 'fast-check'
import type { OrderRecord } from '../../../client/index.js'
import { E18 } from '../../../core/money.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { bookRows, spreadOf } from '../../../web/select/book-rows.js'
import { guardsOf, type Surroundings } from '../../../web/select/guards.js'
import { BadEntry, marketTerms } from '../../../web/select/market-terms.js'
import { orderProgress } from '../../../web/select/order-progress.js'
import { closing, gainOf, returnBps } from '../../../web/select/position.js'
import { aheadWords } from '../../../web/select/order-row.js'
import { queuePlaces } from '../../../web/select/queue.js'
import { recordRow, sentRow, type RowRecord } from '../../../web/select/row-state.js'
import { planOf, type Plan } from '../../../web/select/ticket.js'
import { averageOf, guardPrice, walkBook } from '../../../web/select/walk-book.js'
import { aMarket, aPerp } from '../../support/builders.js'
import { runs } from '../../support/property-runs.js'

const terms = marketTerms(marketEntry(aPerp()))
const spot = marketTerms(marketEntry(aMarket()))
const { tickE18: TICK, stepE18: STEP } = terms
const level = (ticks: bigint, steps: bigint) => ({
  priceE18: ticks * TICK,
  amountE18: steps * STEP,
})
const asks = [level(100n, 10n), level(101n, 20n), level(103n, 30n)]
const bids = [level(99n, 5n), level(98n, 7n)]
const book = { bids, asks }

describe('web/select: rows of the book', () => {
  it('sum up, mark own orders, and stop at their number', () => {
    const own = new Map([[101n * TICK, { amountE18: 4n * STEP, aheadE18: STEP }]])
    const rows = bookRows(terms, book, 'sell', { groupE18: 0n, rows: 2, own })
    expect(rows.map(({ priceE18, sumE18, ownE18 }) => [priceE18, sumE18, ownE18])).to.deep.equal([
      [100n * TICK, 10n * STEP, 0n],
      [101n * TICK, 30n * STEP, 4n * STEP],
    ])
    expect(rows.map(({ aheadE18 }) => aheadE18)).to.deep.equal([undefined, STEP])
  })

  it('show what is ahead of an own order, in the trader’s size', () => {
    const order = (id: string, limit_price: string, open_amount: string): OrderRecord =>
      ({ order_id: id, limit_price, open_amount }) as OrderRecord
    const bids = [
      order('a', '0.0005', '2000'),
      order('mine', '0.0005', '1000'),
      order('b', '0.0005', '9'),
      order('mine too', '0.0004', '7'),
    ]
    const places = queuePlaces(spot, { bids, asks: [order('x', '0.0006', '1')] }, (id) =>
      id.startsWith('mine'),
    )
    expect([...places]).to.deep.equal([
      ['mine', { aheadE18: E18, orders: 1 }],
      ['mine too', { aheadE18: 0n, orders: 0 }],
    ])
    const entry = marketEntry(aMarket())
    expect([...places.values()].map((place) => aheadWords(entry, place))).to.deep.equal([
      ...['1.00 USDC', 'first'],
    ])
  })

  it('are grouped so that no row shows a better price than it has', () => {
    const options = { groupE18: 2n * TICK, rows: 9 }
    const shown = (side: 'buy' | 'sell') =>
      bookRows(terms, book, side, options).map((row) => [row.priceE18 / TICK, row.sizeE18 / STEP])
    expect(shown('sell')).to.deep.equal([
      [100n, 10n],
      [102n, 20n],
      [104n, 30n],
    ])
    expect(shown('buy')).to.deep.equal([[98n, 12n]])
    const [row] = bookRows(terms, book, 'buy', options)
    expect(row).to.include({ bestEngineE18: 99n * TICK, worstEngineE18: 98n * TICK })
  })

  it('are the other way round where a trader counts so: a bid for cNGN offers USDC', () => {
    const bid = { priceE18: 5n * 10n ** 14n, amountE18: 2_000n * E18 }
    const options = { groupE18: 0n, rows: 5 }
    const [row] = bookRows(spot, { bids: [bid], asks: [] }, 'sell', options)
    expect(row).to.include({ priceE18: 2_000n * E18, sizeE18: E18, bestEngineE18: bid.priceE18 })
    expect(bookRows(spot, { bids: [bid], asks: [] }, 'buy', options)).to.deep.equal([])
  })

  it('have a spread, in basis points of the middle', () => {
    const options = { groupE18: 0n, rows: 1 }
    const [bid] = bookRows(terms, book, 'buy', options)
    const [ask] = bookRows(terms, book, 'sell', options)
    expect(spreadOf(bid, ask)).to.include({ absoluteE18: TICK, bps: 101n })
    expect(spreadOf(bid, undefined)).to.equal(undefined)
  })
})

describe('web/select: walk of the book', () => {
  it('takes the best first, and nothing beyond the limit', () => {
    const walk = walkBook(
      asks,
      'buy',
      { amountE18: 40n * STEP },
      { stepE18: STEP, limitE18: 101n * TICK },
    )
    expect(walk).to.include({ amountE18: 30n * STEP, levels: 2, leftE18: 10n * STEP })
    expect(walk.worstE18).to.equal(101n * TICK)
    const average = averageOf(walk) ?? 0n
    expect(average >= 100n * TICK && average < 101n * TICK).to.equal(true)
    expect(averageOf(walkBook([], 'buy', { amountE18: STEP }, { stepE18: STEP }))).to.equal(
      undefined,
    )
  })

  it('stops at a guard, which is beyond the best price by its share and no more', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('buy' as const, 'sell' as const),
        fc.bigInt(1n, 10n ** 9n),
        fc.bigInt(0n, 500n),
        (side, ticks, bps) => {
          const best = ticks * TICK
          const guard = guardPrice(side, best, bps, TICK) ?? 0n
          const beyond = side === 'buy' ? guard - best : best - guard
          expect(guard > 0n && guard % TICK === 0n).to.equal(true)
          expect(beyond >= 0n && beyond * 10_000n <= best * bps).to.equal(true)
        },
      ),
      { numRuns: runs(300) },
    )
    expect(guardPrice('buy', undefined, 100n, TICK)).to.equal(undefined)
  })
})

describe('web/select: guards', () => {
  const plan = (side: 'buy' | 'sell', ticks: bigint, steps: bigint): Plan => {
    const ticket = { side, priceE18: ticks * TICK, sizeE18: steps * STEP, guardBps: 100n }
    const made = planOf(terms, ticket, book)
    if (typeof made === 'string') throw new Error(made)
    return made
  }
  const calm: Surroundings = {
    isLive: true,
    isMarketOrder: false,
    isPostOnly: false,
    giveMostE18: 0n,
  }
  const codes = (made: Plan, around: Partial<Surroundings> = {}) =>
    guardsOf(terms, made, book, { ...calm, ...around }).map(
      ({ level: how, code }) => `${how} ${code}`,
    )

  it('say nothing of an order that rests near the book', () => {
    expect(codes(plan('buy', 99n, 1n))).to.deep.equal([])
  })

  it('warn of a crossing order, and ask about one far through the book', () => {
    expect(codes(plan('buy', 105n, 1n))).to.deep.equal(['warn crosses'])
    expect(codes(plan('buy', 106n, 1n))).to.deep.equal(['ask far_from_book', 'warn crosses'])
    expect(codes(plan('sell', 94n, 1n))).to.deep.equal(['ask far_from_book', 'warn crosses'])
    const postOnly = { isPostOnly: true }
    expect(codes(plan('buy', 101n, 1n), postOnly)).to.deep.equal(['warn would_be_rejected'])
  })

  it('ask about a limit on a book that is not live, and warn where a market order finds less', () => {
    expect(codes(plan('buy', 99n, 1n), { isLive: false })).to.deep.equal(['ask no_live_book'])
    const market = { isMarketOrder: true }
    expect(codes(plan('buy', 100n, 99n), market)).to.deep.equal(['warn book_is_thin'])
  })

  it('block every order of a series after its last trade', () => {
    expect(codes(plan('buy', 99n, 1n), { isEnded: true })).to.deep.equal(['block trading_ended'])
  })

  it('block what the venue or the chain would refuse, with what would pass', () => {
    const made = plan('buy', 99n, 5n)
    const blocked = (of = terms, around: Partial<Surroundings> = {}) =>
      guardsOf(of, made, book, { ...calm, ...around })
    const least = { ...terms, minNotionalE18: (99n * TICK * 6n * STEP) / E18 }
    const step = 6n * STEP
    expect(blocked(least)).to.deep.equal([
      { level: 'block', code: 'below_min_notional', nearestE18: step },
    ])
    const band = { lowE18: 50n * TICK, highE18: 97n * TICK }
    expect(blocked(terms, { band })).to.deep.equal([
      { level: 'block', code: 'outside_band', nearestE18: 97n * TICK },
    ])
    const poor = { freeE18: 1n, giveMostE18: 2n }
    expect(codes(made, poor)).to.deep.equal(['block insufficient_balance'])
    const own = { ownOtherE18: 103n * TICK }
    expect(codes(plan('buy', 103n, 1n), own)).to.include('block own_order_met')
    expect(codes(plan('buy', 102n, 1n), own)).not.to.include('block own_order_met')
  })
})

describe('web/select: positions', () => {
  const long = { sizeE18: 10n * E18, entryE18: 2n * E18, markE18: 3n * E18 }

  it('gain and return count from the entry, a loss rounded up', () => {
    expect([gainOf(long), returnBps(long)]).to.deep.equal([10n * E18, 5_000n])
    const short = { ...long, sizeE18: -10n * E18 }
    expect([gainOf(short), returnBps(short)]).to.deep.equal([-10n * E18, -5_000n])
    expect(gainOf({ sizeE18: -1n, entryE18: 1n, markE18: 2n })).to.equal(-1n)
    expect(gainOf({ ...long, markE18: undefined })).to.equal(undefined)
    expect(returnBps({ ...long, sizeE18: 0n })).to.equal(undefined)
  })

  it('a share closes whole steps on the other side', () => {
    const closed = (sizeE18: bigint, percent: bigint) => closing({ sizeE18 }, percent, E18)
    expect(closed(10n * E18, 25n)).to.deep.equal({ side: 'sell', amountE18: 2n * E18 })
    expect(closed(-10n * E18, 100n)).to.deep.equal({ side: 'buy', amountE18: 10n * E18 })
    expect(closed(E18, 50n)).to.equal(undefined)
  })
})

describe('web/select: rows of own orders', () => {
  const record = (changed: Partial<RowRecord>): RowRecord => ({
    status: 'active',
    desired_amount: '4',
    filled_amount: '1',
    pending_amount: '2',
    ...changed,
  })

  it('count as filled what is settled alone', () => {
    expect(recordRow(record({}))).to.deep.equal({
      state: 'open',
      isLive: true,
      settledBps: 2_500n,
      pendingBps: 5_000n,
    })
  })

  it('say why an order is held or has ended, and that its last matches settle', () => {
    const held = recordRow(record({ held_reason: 'pair_waits' }))
    expect(held).to.include({ state: 'held', reason: 'pair_waits', isLive: true })
    const ended = { status: 'cancelled', cancel_reason: 'fee_bound_too_low' } as const
    expect(recordRow(record(ended)).state).to.equal('settling')
    const over = recordRow(record({ ...ended, pending_amount: '0' }))
    expect(over).to.include({ state: 'cancelled', reason: 'fee_bound_too_low', isLive: false })
  })

  it('begin before the venue has the order, and keep what it refused', () => {
    expect(sentRow({ stage: 'signing' })).to.include({ state: 'signing', isLive: false })
    const refused = sentRow({ stage: 'refused', code: 'nonce_used', words: 'so' })
    expect(refused).to.include({ state: 'refused', reason: 'nonce_used' })
  })
})

describe('web/select: what a toast says of an order', () => {
  const said = (changed: Partial<OrderRecord>) => {
    const record = {
      status: 'active',
      desired_amount: '4',
      filled_amount: '0',
      pending_amount: '0',
    }
    const { text, kind, isOver } = orderProgress({ ...record, ...changed } as OrderRecord)
    return `${kind} ${text}${isOver ? '.' : ''}`
  }

  it('is what the chain has settled, and why it ended', () => {
    expect(said({})).to.equal('good open')
    expect(said({ filled_amount: '1' })).to.equal('good open, 25 % filled')
    expect(said({ status: 'matching' })).to.equal('busy matching …')
    expect(said({ status: 'filled', filled_amount: '4' })).to.equal('good filled.')
    const ended = { status: 'cancelled', cancel_reason: 'fee_bound_too_low' } as const
    expect(said(ended)).to.match(/^bad cancelled, .*fee.*\.$/)
    expect(said({ ...ended, filled_amount: '2' })).to.match(/^good cancelled, 50 % filled, /)
    const wished = { ...ended, cancel_reason: 'cancelled on the page' }
    expect(said(wished)).to.equal('good cancelled, cancelled on the page.')
    expect(said({ ...ended, pending_amount: '2' })).to.equal('busy settling …')
    expect(said({ status: 'expired' })).to.equal('good expired.')
  })
})

describe('web/select: terms of a market', () => {
  it('are read from its entry, which must have steps', () => {
    expect(spot).to.include({ isInverted: true, isMargined: false })
    expect(terms).to.include({ isInverted: false, isMargined: true })
    const broken = { ...marketEntry(aMarket()), tick_size: '0' }
    expect(() => marketTerms(broken)).to.throw(BadEntry, '0 is not a positive decimal')
  })
})
