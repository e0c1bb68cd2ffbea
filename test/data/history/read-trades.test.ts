import { expect } from 'chai'
import fc from 'fast-check'
import type { Trade } from '../../../core/records/trade-record.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { openHistory, streamed, type TestHistory } from '../../support/history.js'
import { marketActs } from '../../support/market-commands.js'
import { feedOf, feedOwner } from '../../support/market-feed.js'
import { runs } from '../../support/property-runs.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const OTHER = { market: 'cNGN-PERP', ordinal: 1 }

/** The same days each time. */
const daysOf = (seed: number) => fc.sample(marketActs(200), { seed, numRuns: 300 }).flat()

describe('the trades of a market', () => {
  const blocks = feedOf(SPOT, daysOf(11))
  const changes = blocks.flatMap((block) => block.changes)
  /** Of each trade the taker's leg, newest trade first. */
  const taken = changes
    .flatMap((change) => (change.kind === 'OrderFilled' ? [change] : []))
    .filter(({ fill }) => fill.liquidity === 'taker')
    .sort((a, b) => b.fill.tradeId - a.fill.tradeId)
  let history: TestHistory
  let reads: ReadModel

  before(() => {
    history = openHistory([SPOT, OTHER])
    reads = openReadModel(history.path)
    history.projection.applyBatch(streamed(blocks))
    history.projection.applyBatch(streamed(feedOf(OTHER, daysOf(12))))
  })
  after(() => {
    reads.close()
    history.remove()
  })

  it('are shown as they were filled, newest first, with what was reversed marked', () => {
    const reversed = new Set(
      changes.flatMap((change) => (change.kind === 'FillReversed' ? [change.fill.tradeId] : [])),
    )
    expect(taken.length).to.be.greaterThan(50)
    expect(reversed.size).to.be.greaterThan(0)
    expect(reads.trades(SPOT.market, 100_000)).to.deep.equal(
      taken.map(({ atMs, fill, seq }): Trade => {
        const { tradeId } = fill
        return { seq, atMs, ...(reversed.has(tradeId) ? { reversed: true } : {}), fill }
      }),
    )
  })

  it('come in pages that lose and repeat nothing', () => {
    const ids: number[] = []
    for (let before: number | undefined; ;) {
      const page = reads.trades(SPOT.market, 7, before)
      ids.push(...page.map(({ fill }) => fill.tradeId))
      if (page.length < 7) break
      before = page.at(-1)?.fill.tradeId
    }
    expect(ids).to.deep.equal(taken.map(({ fill }) => fill.tradeId))
  })

  it('that stand are those of a side and a range of time, the newest of them', () => {
    const all = reads.trades(SPOT.market, 100_000).filter(({ reversed }) => reversed !== true)
    const newest = all[0]?.atMs ?? 0
    const oldest = all.at(-1)?.atMs ?? 0
    const atMs = fc.integer({ min: oldest - 1, max: newest + 1 })
    const absent = { nil: undefined }
    const others = reads.trades(OTHER.market, 100_000)
    const idOf = ({ fill }: Trade) => fill.tradeId
    const anyId = fc.oneof(
      fc.constantFrom(...all.map(idOf)),
      fc.constantFrom(...others.map(idOf)),
      fc.integer({ min: 1, max: idOf(all[0] ?? expect.fail('no trades')) + 65_536 }),
    )
    fc.assert(
      fc.property(
        fc.record({
          limit: fc.integer({ min: 1, max: 60 }),
          takerSide: fc.option(fc.constantFrom('buy' as const, 'sell' as const), absent),
          fromMs: fc.option(atMs, absent),
          endMs: fc.option(atMs, absent),
          beforeTradeId: fc.option(anyId, absent),
        }),
        (page) => {
          const { limit, takerSide, fromMs, endMs, beforeTradeId } = page
          const asked = all
            .filter(({ fill }) => takerSide === undefined || fill.takerSide === takerSide)
            .filter((trade) => trade.atMs >= (fromMs ?? 0) && trade.atMs < (endMs ?? Infinity))
            .filter((trade) => idOf(trade) < (beforeTradeId ?? Infinity))
          expect(reads.tradesWithin(SPOT.market, page)).to.deep.equal(asked.slice(0, limit))
        },
      ),
      { numRuns: runs(100) },
    )
  })

  it('are fills of their owner, both legs of each, newest first, with the same marks', () => {
    const reversed = new Set(
      changes.flatMap((change) => (change.kind === 'FillReversed' ? [change.fill.tradeId] : [])),
    )
    const legs = changes.flatMap((change) => (change.kind === 'OrderFilled' ? [change] : []))
    const expected = legs.reverse().map(({ fill, orderId, side, atMs, seq }) => ({
      tradeId: fill.tradeId,
      orderId,
      liquidity: fill.liquidity,
      side,
      atMs,
      price: fill.price,
      amount: fill.amount,
      fee: fill.fee,
      txHash: fill.txHash,
      ...(reversed.has(fill.tradeId) ? { reversed: true } : {}),
      market: SPOT.market,
      position: { atMs, key: seq * 65_536 + SPOT.ordinal },
    }))
    expect(reads.fills(feedOwner(SPOT), { limit: 100_000 })).to.deep.equal(expected)
    const before = expected[3]?.position
    expect(reads.fills(feedOwner(SPOT), { limit: 2, before })).to.deep.equal(expected.slice(4, 6))
  })

  it('have the mark of a contract that has one', () => {
    history.db.exec(`UPDATE trades SET mark_price = '7'; UPDATE fills SET mark_price = '7'`)
    expect(reads.trades(SPOT.market, 1)[0]?.fill.markPrice).to.equal(7n)
    expect(reads.fills(feedOwner(SPOT), { limit: 1 })[0]?.markPrice).to.equal(7n)
  })
})
