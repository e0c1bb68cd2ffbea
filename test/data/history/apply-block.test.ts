import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Fill } from '../../../core/model/match.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aBlock, aChange, CHANGES_START_MS, type Stand } from '../../support/changes.js'
import { allRows, openHistory, type TestHistory, projectedSpot } from '../../support/history.js'

const MARKET = 'cNGN-USDC'
const e18 = (units: bigint) => amountE18(units * E18)
const maker = anOrder({ orderId: 'maker-1', nonce: 1n, desiredAmount: e18(10n) })
const taker = anOrder({ orderId: 'taker-1', nonce: 2n, side: 'sell', desiredAmount: e18(4n) })
const match = {
  settlementId: `${MARKET}:2`,
  makerOrderId: 'maker-1',
  takerOrderId: 'taker-1',
  price: priceE18(E18 / 1000n),
  amount: e18(4n),
  takerFee: quoteE18(10n ** 13n),
}
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })
const fill = aFill({ ...match, tradeId: 5 * 65_536, takerSide: 'sell', fee: match.takerFee })
const makerFill = { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) }

/** A maker of 10 and a taker of 4 that matches and settles: changes 1 to 5. */
const settled: Change[] = [
  aChange(1, maker, placed(maker, 1), { open: 10n }),
  aChange(2, maker, { kind: 'OrderMatched', match }, { open: 6n, pending: 4n }),
  aChange(3, taker, placed(taker, 2), { pending: 4n, status: 'matching' }),
  aChange(4, maker, { kind: 'OrderFilled', fill: makerFill }, { open: 6n, filled: 4n }),
  aChange(5, taker, { kind: 'OrderFilled', fill }, { filled: 4n, status: 'filled' }),
]

describe('applying blocks to the read model', () => {
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

  const apply = (...changes: Change[]) => {
    const { streamSeq } = history.projection.position(MARKET)
    const block = aBlock(MARKET, changes)
    history.projection.applyBatch([{ streamSeq: streamSeq + 1, block }])
  }
  const expectStand = (orderId: string, seq: number, stand: Stand, extra: object = {}) => {
    expect(reads.order(orderId)?.progress).to.deep.equal({
      status: stand.status ?? 'active',
      filled: e18(stand.filled ?? 0n),
      pending: e18(stand.pending ?? 0n),
      open: e18(stand.open ?? 0n),
      createdAtMs: CHANGES_START_MS + 1000,
      updatedAtMs: CHANGES_START_MS + seq * 1000,
      ...extra,
    })
  }

  it('keeps why an order is not open through its fills, until it returns or ends', () => {
    const heldReason = () => reads.order('maker-1')?.progress.heldReason
    const hold = 'insufficient_balance'
    const [, , takerPlaced] = settled
    if (takerPlaced === undefined) throw new Error('no such story')
    const laterFill = (it: Fill) => ({ ...it, tradeId: 6 * 65_536 })
    const placedHeld = { ...placed(maker, 1), hold } as ChangeFacts
    apply(
      aChange(1, maker, placedHeld, { pending: 4n }),
      aChange(2, maker, { kind: 'OrderMatched', match }, { pending: 4n }),
      takerPlaced,
    )
    apply(aChange(4, maker, { kind: 'OrderHeld', hold }, { pending: 4n }))
    expect(heldReason()).to.equal(hold)
    apply(
      aChange(5, maker, { kind: 'OrderFilled', fill: laterFill(makerFill) }, { filled: 4n }),
      aChange(
        6,
        taker,
        { kind: 'OrderFilled', fill: laterFill(fill) },
        { filled: 4n, status: 'filled' },
      ),
    )
    expect(heldReason()).to.equal(hold)
    apply(aChange(7, maker, { kind: 'OrderReleased' }, { filled: 4n, open: 6n }))
    expect(heldReason()).to.equal(undefined)
    apply(aChange(8, maker, { kind: 'OrderHeld', hold: 'expiring' }, { filled: 4n }))
    expect(heldReason()).to.equal('expiring')
    apply(aChange(9, maker, { kind: 'OrderExpired' }, { filled: 4n, status: 'expired' }))
    expect(reads.order('maker-1')?.progress).to.not.have.property('heldReason')
  })

  it('OrderPlaced stores the order as it was signed, with its rank', () => {
    apply(aChange(1, maker, placed(maker, 17), { open: 10n }))
    expect(reads.order('maker-1')?.order).to.deep.equal(maker)
    expectStand('maker-1', 1, { open: 10n })
    expect(reads.openOrders(MARKET).map(({ rank, order }) => [rank, order])).to.deep.equal([
      [17, maker],
    ])
  })

  it('OrderReleased says of an order placed unchecked that it was checked', () => {
    const late: typeof maker = { ...maker, signatureStatus: 'unchecked' }
    const hold = 'signature_unchecked'
    apply(aChange(1, late, { ...placed(late, 1), hold } as never, { open: 0n }))
    expect(reads.order('maker-1')?.order).to.deep.equal(late)
    apply(aChange(2, late, { kind: 'OrderReleased' }, { open: 10n }))
    expect(reads.order('maker-1')?.order).to.deep.equal({ ...late, signatureStatus: 'checked' })
    expect(reads.openOrders(MARKET)[0]?.order.signatureStatus).to.equal('checked')
  })

  it('OrderPlaced may end the order at once', () => {
    const stand: Stand = { status: 'cancelled' }
    apply(aChange(1, maker, { ...placed(maker, 1), cancelReason: 'self_trade' } as never, stand))
    expectStand('maker-1', 1, stand, {
      cancelReason: 'self_trade',
      cancelledAtMs: CHANGES_START_MS + 1000,
    })
    expect(reads.openOrders(MARKET)).to.deep.equal([])
  })

  const later: [ChangeFacts, Stand, object?][] = [
    [
      { kind: 'OrderMatched', match },
      { open: 6n, pending: 4n },
    ],
    [
      { kind: 'OrderMatched', match },
      { pending: 10n, status: 'matching' },
    ],
    [
      { kind: 'MatchReverted', settlementId: match.settlementId, revert: 'TM_PriceTooLow' },
      { open: 10n },
    ],
    [
      {
        kind: 'MatchReverted',
        settlementId: match.settlementId,
        revert: 'TM_PriceTooLow',
        cancelReason: 'settlement_refused',
      },
      { status: 'cancelled' },
      { cancelReason: 'settlement_refused', cancelledAtMs: CHANGES_START_MS + 2000 },
    ],
    [{ kind: 'OrderHeld', hold: 'expiring' }, {}, { heldReason: 'expiring' }],
    [{ kind: 'OrderReleased' }, { open: 10n }],
    [
      { kind: 'OrderReleased', cancelReason: 'self_trade' },
      { status: 'cancelled' },
      { cancelReason: 'self_trade', cancelledAtMs: CHANGES_START_MS + 2000 },
    ],
    [
      { kind: 'OrderCancelled', cancelReason: 'unspecified' },
      { status: 'cancelled', pending: 3n },
      { cancelReason: 'unspecified', cancelledAtMs: CHANGES_START_MS + 2000 },
    ],
    [{ kind: 'OrderExpired' }, { status: 'expired', filled: 2n }],
  ]
  for (const [facts, stand, extra] of later) {
    it(`${facts.kind} leaves the order ${stand.status ?? 'active'}, open ${stand.open ?? 0n}`, () => {
      apply(aChange(1, maker, placed(maker, 1), { open: 10n }))
      apply(aChange(2, maker, facts, stand))
      expectStand('maker-1', 2, stand, extra)
      expect(reads.openOrders(MARKET)).to.have.length(stand.open === undefined ? 0 : 1)
    })
  }

  it('OrderFilled moves both orders and completes one trade', () => {
    apply(...settled)
    expectStand('maker-1', 4, { open: 6n, filled: 4n })
    expect(reads.order('taker-1')?.progress).to.include({ status: 'filled', filled: e18(4n) })
    expect(reads.trades(MARKET, 10)).to.deep.equal([
      { fill, seq: 5, atMs: CHANGES_START_MS + 5000 },
    ])
    expect(reads.lastTradeSec(MARKET)).to.equal(CHANGES_START_MS / 1000 + 5)
    expect(reads.projectedSeq(MARKET)).to.equal(5)
  })

  it('OrderFilled stores one row for each leg', () => {
    apply(...settled)
    const legs = history.db
      .prepare('SELECT order_id, liquidity, fee, trade_id, at_ms FROM fills ORDER BY fill_key')
      .safeIntegers(false)
      .all()
    expect(legs).to.deep.equal([
      {
        order_id: 'maker-1',
        liquidity: 'maker',
        fee: '0',
        trade_id: 5 * 65_536,
        at_ms: CHANGES_START_MS + 4000,
      },
      {
        order_id: 'taker-1',
        liquidity: 'taker',
        fee: String(match.takerFee),
        trade_id: 5 * 65_536,
        at_ms: CHANGES_START_MS + 5000,
      },
    ])
  })

  it('OrderFilled of a future counts size as exchanged, cNGN as volume, and keeps the mark (FUT-010)', () => {
    const market = 'USDC-cNGN-30NOV26'
    const futures = openHistory([{ market, ordinal: 2 }], 'future')
    const marked = {
      price: priceE18(1_495n * E18),
      markPrice: priceE18(1_500n * E18),
      tradeId: 5 * 65_536 + 2,
    }
    const changes = settled.map((change) =>
      'fill' in change ? { ...change, fill: { ...change.fill, ...marked } } : change,
    ) as Change[]
    futures.projection.applyBatch([{ streamSeq: 1, block: aBlock(market, changes) }])
    const rows = allRows(futures.db)
    expect(rows['fills']).to.have.length(2)
    for (const row of [...(rows['fills'] ?? []), ...(rows['trades'] ?? [])])
      expect(row).to.include({ mark_price: `${marked.markPrice}` })
    expect(rows['order_progress']?.at(0)).to.include({ filled_quote: `${4n * E18}` })
    const volumes = { volume: `${4n * E18}`, quote_volume: `${5_980n * E18}` }
    expect(rows['candles']?.at(0)).to.include(volumes)
    futures.remove()
  })

  it('keeps the first cancellation while what was pending still settles', () => {
    const cancelled = { kind: 'OrderCancelled', cancelReason: 'unspecified' } as const
    apply(...settled.slice(0, 3))
    apply(aChange(4, maker, cancelled, { status: 'cancelled', pending: 4n }))
    const late = { ...fill, tradeId: 6 * 65_536 }
    apply(
      aChange(
        5,
        maker,
        { kind: 'OrderFilled', fill: { ...late, liquidity: 'maker' } },
        { status: 'cancelled', filled: 4n },
      ),
      aChange(6, taker, { kind: 'OrderFilled', fill: late }, { status: 'filled', filled: 4n }),
    )
    expectStand(
      'maker-1',
      5,
      { status: 'cancelled', filled: 4n },
      { cancelReason: 'unspecified', cancelledAtMs: CHANGES_START_MS + 4000 },
    )
  })

  it('keeps text of any shape and numbers of any size', () => {
    const odd = anOrder({
      orderId: `'; DROP TABLE orders; -- \u0000 🙂`,
      nonce: 2n ** 256n - 1n,
      desiredAmount: amountE18(2n ** 255n),
    })
    const change = aChange(1, odd, placed(odd, 1))
    apply({ ...change, open: amountE18(2n ** 255n) })
    expect(reads.order(odd.orderId)?.order).to.deep.equal(odd)
    expect(reads.openOrders(MARKET)[0]?.progress.open).to.equal(2n ** 255n)
  })

  describe('the cursor', () => {
    it('moves with the rows', () => {
      apply(...settled.slice(0, 3))
      apply(...settled.slice(3))
      expect(history.projection.position(MARKET)).to.deep.equal({ streamSeq: 2, feedSeq: 5 })
    })

    it('stays, and no row remains, when anything in the batch fails', () => {
      apply(...settled.slice(0, 2))
      const before = allRows(history.db)
      const unknown = anOrder({ orderId: 'never-placed', nonce: 9n })
      const batch = [
        { streamSeq: 2, block: aBlock(MARKET, settled.slice(2)) },
        { streamSeq: 3, block: aBlock(MARKET, [aChange(6, unknown, { kind: 'OrderExpired' })]) },
      ]
      expect(() => history.projection.applyBatch(batch)).to.throw(InvariantBroken, 'never placed')
      expect(allRows(history.db)).to.deep.equal(before)
      history.projection.applyBatch(batch.slice(0, 1))
      expect(reads.projectedSeq(MARKET)).to.equal(5)
      expect(reads.stats24h(MARKET, CHANGES_START_MS)?.volume).to.equal(match.amount)
    })

    it('skips a message that was applied before', () => {
      const batch = [{ streamSeq: 1, block: aBlock(MARKET, settled) }]
      history.projection.applyBatch([...batch, ...batch])
      const once = allRows(history.db)
      history.projection.applyBatch(batch)
      expect(allRows(history.db)).to.deep.equal(once)
      expect(reads.trades(MARKET, 10)).to.have.length(1)
    })

    const broken: Record<string, () => void> = {
      'a gap in the changes': () => apply(...settled.slice(1)),
      'a gap within a block': () => apply(...settled.slice(0, 2), ...settled.slice(3)),
      'a change that comes again in a new message': () => {
        apply(...settled)
        apply(...settled)
      },
      'an old message with changes that are new': () => {
        apply(...settled.slice(0, 3))
        history.projection.applyBatch([{ streamSeq: 1, block: aBlock(MARKET, settled) }])
      },
      'a market that is not projected': () =>
        history.projection.applyBatch([{ streamSeq: 1, block: aBlock('cNGN-PERP', settled) }]),
      'a trade with the number of another market': () => {
        const wrong = { ...fill, tradeId: fill.tradeId + 1 }
        apply(...settled.slice(0, 4), aChange(5, taker, { kind: 'OrderFilled', fill: wrong }))
      },
    }
    for (const [name, act] of Object.entries(broken)) {
      it(`halts on ${name}`, () => expect(act).to.throw(InvariantBroken))
    }

    it('refuses a maker leg whose trade does not follow in its block', () => {
      expect(() => apply(...settled.slice(0, 4))).to.throw(/FOREIGN KEY/)
      expect(reads.projectedSeq(MARKET)).to.equal(0)
    })
  })

  it('keeps the ordinal that a market was made with, and refuses one that is taken', async () => {
    const { createProjection } = await import('../../../data/history/project.js')
    const reopen = (market: string, ordinal: number) => () =>
      createProjection(history.db, [projectedSpot({ market, ordinal })])
    expect(reopen(MARKET, 1)).not.to.throw()
    const ordinalOf = history.db.prepare('SELECT market_id FROM markets WHERE market = ?').pluck()
    expect(Number(ordinalOf.get(MARKET))).to.equal(0)
    expect(reopen('cNGN-PERP', 0)).to.throw(InvariantBroken)
    const taken = projectedSpot({ market: 'cNGN-PERP', ordinal: 0 })
    expect(history.projection.add(taken)).to.deep.equal({ ordinal: 0, takenBy: MARKET })
    expect(reopen('cNGN-PERP', 1)).not.to.throw()
  })
})
