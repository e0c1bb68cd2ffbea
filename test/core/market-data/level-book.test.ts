import { expect } from 'chai'
import fc from 'fast-check'
import { crc32 } from 'node:zlib'
import { applyChange, emptyView, openOrders, type MarketView } from '../../../core/engine/feed.js'
import {
  bestLevels,
  bestLevelsBefore,
  checksumOf,
  levelBookOf,
  levelsThatDiffer,
  moveLevel,
  type LevelBook,
  type LevelChange,
} from '../../../core/market-data/level-book.js'
import type { Side } from '../../../core/model/order.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import type { BookLevels, PriceLevel } from '../../../core/records/listing-record.js'
import { aMarket } from '../../support/builders.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const MARKET = { market: 'cNGN-USDC', ordinal: 0 }
const ALL = Number.MAX_SAFE_INTEGER

/** The levels of the open orders, added up one by one. */
function naive(view: MarketView, depth: number): BookLevels {
  const side = (name: Side): PriceLevel[] => {
    const orders = [...openOrders(view)].filter(({ order }) => order.side === name)
    const prices = [...new Set(orders.map(({ order }) => order.limitPrice))]
    prices.sort((a, b) => ((name === 'buy' ? a > b : a < b) ? -1 : 1))
    return prices.slice(0, depth).map((price) => ({
      price,
      open: amountE18(
        orders
          .filter(({ order }) => order.limitPrice === price)
          .reduce((sum, { progress }) => sum + progress.open, 0n),
      ),
    }))
  }
  return { bids: side('buy'), asks: side('sell') }
}

/** What a client holds of these levels after an update. */
function applied(levels: BookLevels, update: BookLevels): BookLevels {
  const side = (name: 'bids' | 'asks', isBid: boolean): PriceLevel[] => {
    const open = new Map(levels[name].map(({ price, open }) => [price, open]))
    for (const level of update[name]) open.set(level.price, level.open)
    return [...open]
      .filter(([, size]) => size > 0n)
      .map(([price, size]) => ({ price, open: size }))
      .sort((a, b) => (a.price > b.price === isBid ? -1 : 1))
  }
  return { bids: side('bids', true), asks: side('asks', false) }
}

interface Opening {
  readonly side: Side
  readonly price: bigint
  readonly units: bigint
}

/** What comes to be open at some prices, one after the other; often nothing. */
const anyOpenings: fc.Arbitrary<Opening[]> = fc.array(
  fc.record({
    side: fc.constantFrom('buy', 'sell'),
    price: fc.bigInt({ min: 95n, max: 105n }),
    units: fc.bigInt({ min: 0n, max: 3n }),
  }),
  { maxLength: 20, size: 'max' },
)

/** Folds and returns the change after which so much is open at the price. */
function setOpen(book: LevelBook, { side, price, units }: Opening): LevelChange {
  const limitPrice = priceE18(price * E18)
  const openDelta = units * E18 - (book[side].open.get(limitPrice) ?? 0n)
  const change = { side, limitPrice, openDelta }
  moveLevel(book, change)
  return change
}

describe('level book', () => {
  it('kept change by change is the sum of the open orders, at any depth', () => {
    fc.assert(
      fc.property(marketActs(60), fc.constantFrom(1, 2, 3, ALL), (acts, depth) => {
        const view = emptyView(aMarket())
        const book = levelBookOf([])
        for (const change of feedOf(MARKET, acts).flatMap(({ changes }) => changes)) {
          applyChange(view, change)
          moveLevel(book, change)
          expect(bestLevels(book, depth)).to.deep.equal(naive(view, depth))
        }
        expect(levelBookOf(openOrders(view))).to.deep.equal(book)
      }),
      { numRuns: runs(40) },
    )
  })

  it('tells the levels before its newest changes, and what leads from them to the present ones', () => {
    const anyDepth = fc.integer({ min: 1, max: 4 })
    fc.assert(
      fc.property(anyOpenings, anyOpenings, anyDepth, (older, newer, depth) => {
        const book = levelBookOf([])
        for (const opening of older) setOpen(book, opening)
        const before = bestLevels(book, depth)
        const changes = newer.map((opening) => setOpen(book, opening))
        const earlier = bestLevelsBefore(book, changes, depth)
        expect(earlier).to.deep.equal(before)
        const now = bestLevels(book, depth)
        expect(applied(earlier, levelsThatDiffer(earlier, now))).to.deep.equal(now)
        expect(levelsThatDiffer(now, now)).to.deep.equal({ bids: [], asks: [] })
      }),
    )
  })

  it('refuses a level below zero', () => {
    const change = { side: 'buy', limitPrice: priceE18(E18), openDelta: -1n } as const
    expect(() => moveLevel(levelBookOf([]), change)).to.throw(/has -1 open/)
  })

  it('covers the best ten of each side by its checksum, bids first (STR-045)', () => {
    const level = (price: bigint): PriceLevel => ({
      price: priceE18(price * E18),
      open: amountE18(E18 / 2n),
    })
    const bids = Array.from({ length: 12 }, (_, index) => level(BigInt(30 - index)))
    const asks = [level(40n)]
    const text = `${Array.from({ length: 10 }, (_, index) => `${30 - index}:0.5`).join(',')},40:0.5`
    expect(checksumOf({ bids, asks })).to.equal(crc32(text))
    expect(checksumOf({ bids: [], asks: [] })).to.equal(0)
  })
})
