import { expect } from 'chai'
import { createLocalFills, type FillEvent, type FillRecord } from '../../client/index.js'

const leg = (changes: Partial<FillEvent> = {}): FillEvent => ({
  settlement_id: 'cNGN-USDC:7',
  order_id: 'mine',
  status: 'pending',
  liquidity: 'taker',
  side: 'buy',
  price: '0.00065',
  size: '100',
  fee: '0.0001',
  created_at: '2026-11-22T10:00:00.000Z',
  ...changes,
})
const hash = `0x${'77'.repeat(32)}`
const settled = leg({ status: 'settled', trade_id: 2048, tx_hash: hash })
const record = (changes: Partial<FillRecord> = {}): FillRecord => ({
  trade_id: 2048,
  order_id: 'mine',
  liquidity: 'taker',
  side: 'buy',
  price: '0.00065',
  size: '100',
  fee: '0.0001',
  market: 'cNGN-USDC',
  display_name: 'cNGN-USDC',
  asset_address: `0x${'c1'.repeat(20)}`,
  sub_id: '0',
  tx_hash: hash,
  created_at: '2026-11-22T10:00:00.000Z',
  ...changes,
})

describe('local fills', () => {
  it('count a leg once, whether the channel or the history names it first', () => {
    for (const order of [
      ['channel', 'history'],
      ['history', 'channel'],
    ]) {
      const fills = createLocalFills()
      for (const source of order) {
        if (source === 'channel') fills.apply([settled])
        else fills.applyHistory([record(), record({ trade_id: 1024 })])
      }
      expect(fills.settled().map(({ trade_id }) => trade_id)).to.have.members([2048, 1024])
    }
  })

  it('follow a leg by its settlement: pending, settled, reversed', () => {
    const fills = createLocalFills()
    fills.apply(leg())
    expect([fills.pending().length, fills.settled().length]).to.deep.equal([1, 0])
    fills.apply(settled)
    expect([fills.pending().length, fills.settled().length]).to.deep.equal([0, 1])
    fills.apply({ ...settled, status: 'reversed', reason: 'not_carried_out' })
    fills.applyHistory([record()])
    expect([fills.pending().length, fills.settled().length]).to.deep.equal([0, 0])
  })

  it('keep both legs of a trade between two orders of one owner', () => {
    const fills = createLocalFills()
    fills.apply([settled, { ...settled, order_id: 'also-mine', side: 'sell', liquidity: 'maker' }])
    expect(fills.settled()).to.have.length(2)
    fills.applyHistory([record({ order_id: 'also-mine' })])
    expect(fills.settled()).to.have.length(2)
  })

  it('drop the oldest where a bound is given, but none that is pending', () => {
    const fills = createLocalFills({ keep: 2 })
    const at = (minute: number) => `2026-11-22T10:0${minute}:00.000Z`
    const named = (minute: number) => ({ settlement_id: `m:${minute}`, created_at: at(minute) })
    fills.apply(leg(named(0)))
    for (const minute of [4, 2, 3]) fills.apply({ ...settled, ...named(minute), trade_id: minute })
    expect(fills.settled().map(({ created_at }) => created_at)).to.deep.equal([at(4), at(3)])
    expect(fills.pending()).to.have.length(1)
    const older = [7, 6, 5].map((minute) => record({ trade_id: minute, created_at: at(minute) }))
    fills.applyHistory(older)
    expect(
      fills
        .settled()
        .slice(2)
        .map(({ trade_id }) => trade_id),
    ).to.deep.equal([7, 6])
  })
})
