import { expect } from 'chai'
import type { ChangeFacts } from '../../../core/model/change.js'
import type { Order } from '../../../core/model/order.js'
import { createKeptOrders, type KeptOrders } from '../../../data/history/kept-orders.js'
import { RETENTION_MS } from '../../../data/history/project.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aBlock, aChange, CHANGES_START_MS } from '../../support/changes.js'
import { openHistory, type TestHistory } from '../../support/history.js'

const MARKET = 'cNGN-USDC'
const maker = anOrder({ orderId: 'maker-1', nonce: 1n })
const taker = anOrder({ orderId: 'taker-1', nonce: 2n, side: 'sell' })
const idle = anOrder({ orderId: 'idle-1', nonce: 3n })
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })

describe('what the history keeps of orders', () => {
  let history: TestHistory
  let kept: KeptOrders
  beforeEach(() => {
    history = openHistory([{ market: MARKET, ordinal: 0 }])
    kept = createKeptOrders(history.db)
    const fill = aFill({ tradeId: 5 * 65_536, takerSide: 'sell' })
    const makerFill = { ...fill, liquidity: 'maker' as const }
    const changes = [
      aChange(1, maker, placed(maker, 1), { open: 10n }),
      aChange(2, taker, placed(taker, 2), { open: 10n }),
      aChange(3, idle, placed(idle, 3), { open: 10n }),
      aChange(4, maker, { kind: 'OrderFilled', fill: makerFill }, { status: 'filled' }),
      aChange(5, taker, { kind: 'OrderFilled', fill }, { status: 'filled' }),
      aChange(6, idle, { kind: 'OrderExpired' }, { status: 'expired' }),
    ]
    history.projection.applyBatch([{ streamSeq: 9, block: aBlock(MARKET, changes) }])
  })
  afterEach(() => history.remove())

  it('is as of a position in the feed of its market', () => {
    expect(kept.position(MARKET)).to.deep.equal({ streamSeq: 9, feedSeq: 6 })
    expect(kept.position('other')).to.deep.equal({ streamSeq: 0, feedSeq: 0 })
  })

  it('is every order with a fill, those whose time is not over, and no other', () => {
    const standing = () =>
      ['maker-1', 'taker-1', 'idle-1', 'unknown'].map((id) => kept.standing(id))
    expect(standing()).to.deep.equal(['filled', 'filled', 'unfilled', 'forgotten'])
    const late = anOrder({ orderId: 'late-1', nonce: 4n })
    const atMs = CHANGES_START_MS + 6_000 + RETENTION_MS
    const block = aBlock(MARKET, [aChange(7, late, placed(late, 4), { open: 10n, atMs })])
    history.projection.applyBatch([{ streamSeq: 10, block }])
    expect(standing()).to.deep.equal(['filled', 'filled', 'forgotten', 'forgotten'])
  })

  it('lags behind from the moment at which an order without a fill is due', () => {
    const dueMs = CHANGES_START_MS + 6_000 + RETENTION_MS
    expect(kept.isBehind(MARKET, dueMs - 1)).to.equal(false)
    expect(kept.isBehind(MARKET, dueMs)).to.equal(true)
    expect(kept.isBehind('other', dueMs)).to.equal(false)
  })
})
