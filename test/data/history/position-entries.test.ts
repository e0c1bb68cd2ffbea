import { expect } from 'chai'
import type { Change, ChangeFacts } from '../../../core/model/change.js'
import type { Order } from '../../../core/model/order.js'
import { amountE18, E18, priceE18, quoteE18 } from '../../../core/money.js'
import { openReadModel, type ReadModel } from '../../../data/history/read-model.js'
import { aFill, anOrder } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { openHistory, projectedSpot, type TestHistory } from '../../support/history.js'

const MARKET = 'cNGN-PERP'
const e18 = (units: bigint) => amountE18(units * E18)
const maker = anOrder({ orderId: 'm', nonce: 1n, subaccountId: 11n, desiredAmount: e18(10n) })
const taker = anOrder({
  orderId: 't',
  nonce: 2n,
  subaccountId: 22n,
  side: 'sell',
  desiredAmount: e18(4n),
})
const match = {
  settlementId: `${MARKET}:2`,
  makerOrderId: 'm',
  takerOrderId: 't',
  price: priceE18(E18 / 1000n),
  amount: e18(4n),
  takerFee: quoteE18(10n ** 13n),
}
const placed = (order: Order, rank: number): ChangeFacts => ({ kind: 'OrderPlaced', order, rank })
const fill = aFill({ ...match, tradeId: 5 * 65_536 + 1, takerSide: 'sell', fee: match.takerFee })
const makerFill = { ...fill, liquidity: 'maker' as const, fee: quoteE18(0n) }
const settled: Change[] = [
  aChange(1, maker, placed(maker, 1), { open: 10n }),
  aChange(2, maker, { kind: 'OrderMatched', match }, { open: 6n, pending: 4n }),
  aChange(3, taker, placed(taker, 2), { pending: 4n, status: 'matching' }),
  aChange(4, maker, { kind: 'OrderFilled', fill: makerFill }, { open: 6n, filled: 4n }),
  aChange(5, taker, { kind: 'OrderFilled', fill }, { filled: 4n, status: 'filled' }),
]

describe('entries of positions in the read model', () => {
  let history: TestHistory
  let reads: ReadModel
  beforeEach(() => {
    history = openHistory([])
    history.projection.add({
      ...projectedSpot({ market: MARKET, ordinal: 1 }),
      contractType: 'perpetual',
    })
    reads = openReadModel(history.path)
  })
  afterEach(() => {
    reads.close()
    history.remove()
  })
  const apply = (market: string, ...changes: Change[]) => {
    const { streamSeq } = history.projection.position(market)
    history.projection.applyBatch([{ streamSeq: streamSeq + 1, block: aBlock(market, changes) }])
  }

  it('add up the fills of each account', () => {
    apply(MARKET, ...settled)
    const cost = 4n * E18 * (E18 / 1000n)
    expect(reads.positionEntry(MARKET, 11n)).to.deep.equal({ size: 4n * E18, cost })
    expect(reads.positionEntry(MARKET, 22n)).to.deep.equal({ size: -4n * E18, cost: -cost })
    // The exposure that was exchanged, not a payment.
    for (const id of ['m', 't']) expect(reads.order(id)?.sums?.quote).to.equal(cost / E18)
    expect(reads.positionEntry(MARKET, 33n)).to.equal(undefined)
    expect(reads.positionEntry('cNGN-USDC', 11n)).to.equal(undefined)
  })

  it('go without a fill that the chain has lost', () => {
    apply(MARKET, ...settled)
    const reversed = (leg: typeof fill): ChangeFacts => ({
      kind: 'FillReversed',
      fill: leg,
      revert: 'not_carried_out',
    })
    apply(
      MARKET,
      aChange(6, maker, reversed(makerFill), { open: 10n }),
      aChange(7, taker, reversed(fill), { status: 'cancelled' }),
    )
    for (const account of [11n, 22n])
      expect(reads.positionEntry(MARKET, account)).to.deep.equal({ size: 0n, cost: 0n })
  })

  it('are not kept where no positions are shown', () => {
    history.projection.add(projectedSpot({ market: 'cNGN-USDC', ordinal: 0 }))
    const spot = { ...match, settlementId: 'cNGN-USDC:2' }
    const of = (leg: typeof fill) => ({ ...leg, ...spot, tradeId: 5 * 65_536 })
    apply(
      'cNGN-USDC',
      ...settled.map((change) => {
        if (change.kind === 'OrderMatched') return { ...change, match: spot }
        return change.kind === 'OrderFilled' ? { ...change, fill: of(change.fill) } : change
      }),
    )
    expect(reads.trades('cNGN-USDC', 5)).to.have.length(1)
    expect(history.db.prepare('SELECT * FROM position_entries').all()).to.deep.equal([])
  })
})
