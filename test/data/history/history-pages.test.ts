import { expect } from 'chai'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { openHistory, type TestHistory } from '../../support/history.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const OTHER = { market: 'other', ordinal: 1 }
const ANOTHER = `0x${'bb'.repeat(20)}` as const

describe('the pages of an owner’s history', () => {
  let history: TestHistory
  let reads: ReadModel
  before(() => {
    history = openHistory([SPOT, OTHER])
    reads = openReadModel(history.path)
    for (const market of [SPOT, OTHER]) {
      const block = aBlock(market.market, story(market))
      history.projection.applyBatch([{ streamSeq: 1, block }])
    }
  })
  after(() => {
    reads.close()
    history.remove()
  })

  const orderOf = ({ market }: typeof SPOT, name: string, over: Partial<Order> = {}): Order =>
    anOrder({ orderId: `${market} ${name}`, market, ...over })
  const ownerOf = () => anOrder().owner
  /** A maker of the owner, a taker of another, and a fill of both; in both markets at the same times. */
  function story(market: typeof SPOT): Change[] {
    const placed = (order: Order, rank: number): ChangeFacts => ({
      kind: 'OrderPlaced',
      order,
      rank,
    })
    const maker = orderOf(market, 'maker', { nonce: 1n })
    const second = orderOf(market, 'second', { nonce: 2n })
    const taker = orderOf(market, 'taker', { side: 'sell', owner: ANOTHER })
    const fill = aFill({
      settlementId: `${market.market}:4`,
      tradeId: 5 * 65_536 + market.ordinal,
      makerOrderId: maker.orderId,
      takerOrderId: taker.orderId,
      price: priceE18(2n * E18),
      amount: amountE18(3n * E18),
      takerSide: 'sell',
    })
    const own = { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) }
    return [
      aChange(1, maker, placed(maker, 1)),
      aChange(2, second, placed(second, 2)),
      aChange(3, taker, placed(taker, 3)),
      aChange(4, maker, { kind: 'OrderFilled', fill: own }, { filled: 3n }),
      aChange(5, taker, { kind: 'OrderFilled', fill }, { filled: 3n }),
    ]
  }
  const newestFirst = ['other second', 'cNGN-USDC second', 'other maker', 'cNGN-USDC maker']

  it('have the orders of all markets, newest first and then by their place in the log', () => {
    const orders = reads.orderHistory(ownerOf(), { limit: 9 })
    expect(orders.map(({ order }) => order.orderId)).to.deep.equal(newestFirst)
    expect(reads.orderHistory(ANOTHER, { limit: 9 })).to.have.length(2)
    expect(orders.map(({ sums }) => sums?.quote)).to.deep.equal([
      ...[undefined, undefined, 6n * E18, 6n * E18],
    ])
    const { progress, order, position } = orders[3] ?? orders[0] ?? expect.fail('no orders')
    const sums = { amount: 3n * E18, quote: 6n * E18, product: 6n * E18 * E18, fee: 0n }
    expect(reads.order(order.orderId)).to.deep.equal({ order, progress, sums })
    expect(position).to.deep.equal({ atMs: progress.createdAtMs, key: 65_536 })
  })

  it('go on strictly behind the last row of the page before', () => {
    const seen: string[] = []
    let before
    for (;;) {
      const [row, ...more] = reads.orderHistory(ownerOf(), { limit: 1, before })
      expect(more).to.deep.equal([])
      if (row === undefined) break
      seen.push(row.order.orderId)
      before = row.position
    }
    expect(seen).to.deep.equal(newestFirst)
  })

  it('have each leg of a fill with its market and its place', () => {
    const [first, second, ...more] = reads.fills(ownerOf(), { limit: 9 })
    expect(more).to.deep.equal([])
    expect(first).to.deep.include({
      market: 'other',
      orderId: 'other maker',
      liquidity: 'maker',
      side: 'buy',
      fee: 0n,
      price: 2n * E18,
      amount: 3n * E18,
      tradeId: 5 * 65_536 + 1,
      position: { atMs: first?.atMs, key: 4 * 65_536 + 1 },
    })
    expect(first).to.not.have.any.keys('reversed', 'markPrice')
    expect(second).to.deep.include({ market: 'cNGN-USDC', orderId: 'cNGN-USDC maker' })
    const before = first?.position
    expect(reads.fills(ownerOf(), { limit: 9, before })).to.deep.equal([second])
    expect(reads.fills(ownerOf(), { limit: 1 })).to.deep.equal([first])
  })
})
