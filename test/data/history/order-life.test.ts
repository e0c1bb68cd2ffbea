import { expect } from 'chai'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, quoteE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { ORDER_EVENTS_MAX } from '../../../data/history/write-events.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aBlock, aChange, CHANGES_START_MS } from '../../support/changes.js'
import { openHistory, type TestHistory } from '../../support/history.js'

const MARKET = 'cNGN-USDC'
const OTHER_OWNER = `0x${'bb'.repeat(20)}` as const
const maker = anOrder({ orderId: 'maker-1', nonce: 1n })
const second = anOrder({ orderId: 'maker-2', nonce: 2n })
const taker = anOrder({ orderId: 'taker-1', nonce: 1n, side: 'sell', owner: OTHER_OWNER })
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })
const atMs = (seq: number): number => CHANGES_START_MS + seq * 1000

describe('the life of an order', () => {
  let history: TestHistory
  let reads: ReadModel
  beforeEach(() => {
    history = openHistory([{ market: MARKET, ordinal: 0 }])
    reads = openReadModel(history.path)
  })
  afterEach(() => {
    reads.close()
    history.remove()
  })

  const apply = (changes: readonly Change[]): void => {
    const { streamSeq } = history.projection.position(MARKET)
    const block = aBlock(MARKET, changes)
    history.projection.applyBatch([{ streamSeq: streamSeq + 1, block }])
  }
  const life = (order: Order, placedAtMs = atMs(1)) => reads.orderLife(order, placedAtMs)
  const fillOf = (seq: number, of: Order) => {
    const amount = amountE18(E18)
    const settlementId = `${MARKET}:${seq}`
    return aFill({
      settlementId,
      amount,
      makerOrderId: of.orderId,
      takerSide: 'sell',
      tradeId: (seq + 1) * 65_536,
    })
  }
  /** A match of the order with the taker in the changes `seq` and `seq + 1`. */
  const filled = (seq: number, of: Order = maker): Change[] => {
    const fill = fillOf(seq, of)
    const own = { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) }
    return [
      aChange(seq, of, { kind: 'OrderFilled', fill: own }),
      aChange(seq + 1, taker, { kind: 'OrderFilled', fill }),
    ]
  }

  it('is empty while nothing has happened to it', () => {
    apply([aChange(1, maker, placed(maker, 1))])
    expect(life(maker)).to.deep.equal({ events: [], fills: [], isWhole: true })
    expect(life(anOrder({ orderId: 'unknown' }))).to.deep.equal({
      events: [],
      fills: [],
      isWhole: true,
    })
  })

  it('has each hold, release, refusal and reversal, oldest first', () => {
    const { settlementId, tradeId } = fillOf(7, maker)
    const refused = `${MARKET}:4`
    const revert = 'TM_PriceTooLow'
    const balance = 'insufficient_balance'
    const [makerLeg, takerLeg] = filled(7)
    if (makerLeg === undefined || takerLeg === undefined) throw new Error('no legs')
    const own = 'fill' in makerLeg ? makerLeg.fill : fillOf(7, maker)
    apply([
      aChange(1, maker, { ...placed(maker, 1), hold: 'signature_unchecked' } as ChangeFacts),
      aChange(2, maker, { kind: 'OrderReleased', hold: balance }),
      aChange(3, maker, { kind: 'OrderHeld', hold: balance }),
      aChange(4, maker, { kind: 'MatchReverted', settlementId: refused, revert, hold: balance }),
      aChange(5, maker, { kind: 'MatchReverted', settlementId: refused, revert }),
      aChange(6, taker, placed(taker, 2)),
      makerLeg,
      takerLeg,
      aChange(9, maker, { kind: 'FillReversed', fill: own, revert: 'gone' }),
      aChange(10, maker, { kind: 'OrderCancelled', cancelReason: 'unspecified' }),
    ])
    expect(life(maker).events).to.deep.equal([
      { atMs: atMs(1), kind: 'held', hold: 'signature_unchecked' },
      { atMs: atMs(2), kind: 'released', hold: balance },
      { atMs: atMs(3), kind: 'held', hold: balance },
      { atMs: atMs(4), kind: 'refused', hold: balance, settlementId: refused, revert },
      { atMs: atMs(5), kind: 'refused', settlementId: refused, revert },
      { atMs: atMs(9), kind: 'reversed', settlementId, revert: 'gone', tradeId },
    ])
    expect(life(taker).events).to.deep.equal([])
  })

  it('has no holds of a moment', () => {
    apply([
      aChange(1, maker, { ...placed(maker, 1), hold: 'continuing' } as ChangeFacts),
      aChange(2, maker, { kind: 'OrderHeld', hold: 'expiring' }),
      aChange(3, maker, { kind: 'OrderHeld', hold: 'continuing' }),
    ])
    expect(life(maker).events).to.deep.equal([])
  })

  it('has its own fills, oldest first, with the other order and the transaction of each', () => {
    apply([
      aChange(1, maker, placed(maker, 1)),
      aChange(2, second, placed(second, 2)),
      aChange(3, taker, placed(taker, 3)),
      ...filled(4),
      ...filled(6, second),
      ...filled(8),
    ])
    const { price, amount, txHash, blockNumber } = fillOf(4, maker)
    const shown = (seq: number, counterpartId: string) => ({
      tradeId: (seq + 1) * 65_536,
      settlementId: `${MARKET}:${seq}`,
      counterpartId,
      price,
      amount,
      txHash,
      blockNumber,
    })
    expect(life(maker)).to.deep.equal({
      events: [],
      fills: [4, 8].map((seq) => ({
        ...shown(seq, 'taker-1'),
        atMs: atMs(seq),
        liquidity: 'maker',
      })),
      isWhole: true,
    })
    const ofTaker = [
      ...[shown(4, 'maker-1'), shown(6, 'maker-2'), shown(8, 'maker-1')].map((fill, index) => ({
        ...fill,
        atMs: atMs(5 + 2 * index),
        liquidity: 'taker',
      })),
    ]
    expect(life(taker).fills).to.deep.equal(ofTaker)
    expect(life(taker, atMs(7)).fills).to.deep.equal(ofTaker.slice(1))
  })

  it('has its newest hundred events, and is not whole from then on', () => {
    apply([aChange(1, maker, placed(maker, 1))])
    const hold = (seq: number) =>
      aChange(seq, maker, { kind: 'OrderHeld', hold: 'insufficient_balance' })
    apply(Array.from({ length: ORDER_EVENTS_MAX - 1 }, (_, index) => hold(index + 2)))
    expect(life(maker).events).to.have.length(ORDER_EVENTS_MAX - 1)
    expect(life(maker).isWhole).to.equal(true)
    apply([hold(ORDER_EVENTS_MAX + 1)])
    expect(life(maker).events).to.have.length(ORDER_EVENTS_MAX)
    expect(life(maker).isWhole).to.equal(false)
    apply([hold(ORDER_EVENTS_MAX + 2)])
    const { events, isWhole } = life(maker)
    expect(events.map((event) => event.atMs)).to.deep.equal(
      Array.from({ length: ORDER_EVENTS_MAX }, (_, index) => atMs(index + 3)),
    )
    expect(isWhole).to.equal(false)
  })

  it('has its newest hundred fills, and is whole up to that number', () => {
    apply([
      aChange(1, maker, placed(maker, 1)),
      aChange(2, second, placed(second, 2)),
      aChange(3, taker, placed(taker, 3)),
    ])
    const fills = (from: number, count: number): Change[] =>
      Array.from({ length: count }, (_, index) => filled(from + 2 * index)).flat()
    apply(fills(4, 100))
    expect(life(maker).fills).to.have.length(100)
    expect(life(maker).isWhole).to.equal(true)
    apply(fills(204, 1))
    expect(life(maker).isWhole).to.equal(false)
    const shown = life(maker).fills
    expect(shown).to.have.length(100)
    expect([shown[0]?.atMs, shown.at(-1)?.atMs]).to.deep.equal([atMs(6), atMs(204)])
  })

  it('is not whole behind ten thousand other fills of its owner', () => {
    apply([
      aChange(1, maker, placed(maker, 1)),
      aChange(2, second, placed(second, 2)),
      aChange(3, taker, placed(taker, 3)),
      ...filled(4),
      ...filled(6, second),
    ])
    const copies = (count: number): void => {
      history.db
        .prepare(
          `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ?)
           INSERT INTO fills SELECT owner, at_ms, fill_key + n, trade_id, market_id, order_id, liquidity,
             side, price, amount, fee, tx_hash, mark_price
           FROM fills, numbers WHERE order_id = 'maker-2'`,
        )
        .run(count)
    }
    copies(9_997)
    expect(life(maker).fills).to.have.length(1)
    expect(life(maker).isWhole).to.equal(true)
    history.db.exec(`DELETE FROM fills WHERE order_id = 'maker-2' AND fill_key <> ${6 * 65_536}`)
    copies(9_998)
    expect(life(maker).isWhole).to.equal(false)
    history.db.exec(`DELETE FROM fills WHERE order_id = 'maker-2' AND fill_key <> ${6 * 65_536}`)
    copies(9_999)
    expect(life(maker).fills).to.have.length(0)
    expect(life(maker).isWhole).to.equal(false)
  })
})
