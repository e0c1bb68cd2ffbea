import { expect } from 'chai'
import fc from 'fast-check'
import { assert } from '../../../core/assert.js'
import { heldReasonAfter, type Block, type Change } from '../../../core/model/change.js'
import { isLiving, type Order, type OrderProgress } from '../../../core/model/order.js'
import { notionalFloor } from '../../../core/contracts/fees.js'
import type { Fill } from '../../../core/model/match.js'
import { amountE18, quoteE18 } from '../../../core/money.js'
import type { StreamedBlock } from '../../../data/history/project.js'
import { openReadModel } from '../../../data/history/read-model.js'
import type { StoredOrder } from '../../../data/history/read-orders.js'
import { allRows, openHistory, streamed, type TestHistory } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf, feedOwner } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const MARKETS = [
  { market: 'cNGN-USDC', ordinal: 0 },
  { market: 'cNGN-PERP', ordinal: 1 },
]
const anyFeeds = fc
  .tuple(marketActs(60), marketActs(60))
  .map((acts) => MARKETS.map((market, index) => feedOf(market, acts[index] ?? [])))

/** Two sequences, or one block of each in turn: the arrival order of two markets is not defined. */
const inTurn = (feeds: Block[][]): StreamedBlock[] => {
  const [first = [], second = []] = feeds.map(streamed)
  const length = Math.max(first.length, second.length)
  return Array.from({ length }, (_, index) => [second[index], first[index]])
    .flat()
    .filter((block) => block !== undefined)
}
const oneAfterTheOther = (feeds: Block[][]): StreamedBlock[] => feeds.flatMap(streamed)

/** What the changes add up to, folded as simply as can be. */
function naive(blocks: readonly Block[]) {
  const orders = new Map<string, StoredOrder>()
  for (const change of blocks.flatMap((block) => block.changes)) {
    const known = orders.get(change.orderId)
    const stored = change.kind === 'OrderPlaced' ? change.order : known?.order
    const order: Order | undefined = stored && afterChange(stored, change)
    assert(order !== undefined, 'a placement comes first')
    const traded = 'fill' in change ? change.fill : undefined
    const sign = change.kind === 'FillReversed' ? -1n : 1n
    const { amount = 0n, quote = 0n, product = 0n, fee = 0n } = known?.sums ?? {}
    const sums =
      traded === undefined
        ? known?.sums
        : {
            amount: amountE18(amount + sign * traded.amount),
            quote: quoteE18(quote + sign * notionalFloor(traded.price, traded.amount)),
            product: product + sign * traded.price * traded.amount,
            fee: quoteE18(fee + sign * traded.fee),
          }
    orders.set(change.orderId, {
      order,
      progress: progressAfter(change, known?.progress),
      ...(sums === undefined ? {} : { sums }),
    })
  }
  return orders
}

function afterChange(order: Order, { kind, desired }: Change): Order {
  if (kind === 'OrderReleased') return { ...order, signatureStatus: 'checked' }
  if (kind !== 'OrderResized') return order
  const { signedDesiredAmount = order.desiredAmount } = order
  return { ...order, desiredAmount: desired, signedDesiredAmount }
}

function progressAfter(change: Change, before?: OrderProgress): OrderProgress {
  const reason = 'cancelReason' in change ? change.cancelReason : undefined
  const { status, filled, pending, open } = change
  const cancelReason = before?.cancelReason ?? reason
  const heldReason = heldReasonAfter(change, before?.heldReason)
  const cancelledAtMs = before?.cancelledAtMs ?? (status === 'cancelled' ? change.atMs : undefined)
  return {
    status,
    filled,
    pending,
    open,
    createdAtMs: before?.createdAtMs ?? change.atMs,
    updatedAtMs: change.atMs,
    ...(heldReason === undefined ? {} : { heldReason }),
    ...(cancelReason === undefined ? {} : { cancelReason }),
    ...(cancelledAtMs === undefined ? {} : { cancelledAtMs }),
  }
}

describe('the projection of a random market', () => {
  it('is the same row for row however the blocks were grouped and the markets interleaved (OPE-011)', () => {
    fc.assert(
      fc.property(anyFeeds, fc.integer({ min: 1, max: 9 }), (feeds, size) => {
        const live = openHistory(MARKETS)
        const rebuilt = openHistory(MARKETS)
        try {
          const blocks = inTurn(feeds)
          for (let at = 0; at < blocks.length; at += size) {
            live.projection.applyBatch(blocks.slice(at, at + size))
          }
          rebuilt.projection.applyBatch(oneAfterTheOther(feeds))
          expect(allRows(live.db)).to.deep.equal(allRows(rebuilt.db))
        } finally {
          live.remove()
          rebuilt.remove()
        }
      }),
      { numRuns: runs(25) },
    )
  })

  it('answers what a plain fold of the changes says', () => {
    fc.assert(
      fc.property(anyFeeds, (feeds) => {
        const history = openHistory(MARKETS)
        const reads = openReadModel(history.path)
        try {
          history.projection.applyBatch(oneAfterTheOther(feeds))
          for (const [index, { market }] of MARKETS.entries()) {
            const blocks = feeds[index] ?? []
            const orders = naive(blocks)
            const changes = blocks.flatMap((block) => block.changes)
            for (const [id, stored] of orders) expect(reads.order(id)).to.deep.equal(stored)
            const owner = feedOwner(MARKETS[index] ?? expect.fail('no market'))
            const living = reads
              .orderHistory(owner, { limit: 10_000 })
              .filter(({ progress }) => isLiving(progress.status))
            expect(reads.liveOrders(owner, { limit: 10_000 })).to.deep.equal(living)
            const [some] = living
            if (some !== undefined) {
              const { subaccountId } = some.order
              expect(
                reads.liveOrders(owner, { limit: 10_000 }, { market, subaccountId }),
              ).to.deep.equal(living.filter(({ order }) => order.subaccountId === subaccountId))
              expect(reads.liveOrders(owner, { limit: 1, before: some.position })).to.deep.equal(
                living.slice(1, 2),
              )
            }
            expect(idsOf(reads.openOrders(market).map(({ order }) => order))).to.deep.equal(
              idsOf([...orders.values()].filter((o) => o.progress.open > 0n).map((o) => o.order)),
            )
            const trades = tradesOf(changes)
            expect(
              reads.trades(market, 1000).map(({ fill, reversed }) => [fill, reversed === true]),
            ).to.deep.equal(trades.reverse())
            const standing = trades.flatMap(([fill, reversed]) => (reversed ? [] : [fill]))
            expect(reads.lastPrice(market)).to.equal(standing[0]?.price)
            expect(volumeOf(history, index)).to.equal(
              standing.reduce((sum, { amount }) => sum + amount, 0n),
            )
            expect(reads.projectedSeq(market)).to.equal(changes.length)
          }
        } finally {
          reads.close()
          history.remove()
        }
      }),
      { numRuns: runs(25) },
    )
  })
})

/** The takers' legs in order, and whether each was taken back later. */
function tradesOf(changes: readonly Change[]): [Fill, boolean][] {
  const reversed = new Set(
    changes.flatMap((change) => (change.kind === 'FillReversed' ? [change.fill.tradeId] : [])),
  )
  return changes.flatMap((change): [Fill, boolean][] =>
    change.kind === 'OrderFilled' && change.fill.liquidity === 'taker'
      ? [[change.fill, reversed.has(change.fill.tradeId)]]
      : [],
  )
}

/** What the market's daily candles add up to. */
const volumeOf = ({ db }: TestHistory, ordinal: number): bigint =>
  db
    .prepare<[number], string>(
      'SELECT volume FROM candles WHERE width_sec = 86400 AND market_id = ?',
    )
    .pluck()
    .all(ordinal)
    .reduce((sum, volume) => sum + BigInt(volume), 0n)

const idsOf = (orders: readonly Order[]) => orders.map((order) => order.orderId).sort()
