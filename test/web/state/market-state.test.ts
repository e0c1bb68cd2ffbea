import { expect } from 'chai'
import type { LevelsSnapshot, LevelsUpdate, TradeRecord } from '../../../client/index.js'
import { crc32 } from '../../../core/crc32.js'
import { marketEntry } from '../../../core/records/market-entry.js'
import { createFrames } from '../../../web/state/frames.js'
import { openMarket } from '../../../web/state/market-state.js'
import { aPerp } from '../../support/builders.js'
import { fakeSocket } from './fake-socket.js'

const level = (price: string, size: string) => ({ price, size, ui_price: price, ui_size: size })
const sumOf = (...levels: readonly string[]): number => crc32(levels.join())

const SNAPSHOT: LevelsSnapshot = {
  bids: [level('0.0006', '10')],
  asks: [level('0.0007', '20'), level('0.0008', '30')],
  checksum: sumOf('0.0006:10', '0.0007:20', '0.0008:30'),
}
const UPDATE: LevelsUpdate = {
  bids: [],
  asks: [level('0.0007', '5')],
  checksum: sumOf('0.0006:10', '0.0007:5', '0.0008:30'),
}

function aMarketState() {
  const socket = fakeSocket()
  const due: (() => void)[] = []
  const frames = createFrames((run) => due.push(run))
  const entry = marketEntry(aPerp())
  const venue = { trades: () => Promise.reject(new Error('not read here')) }
  const state = openMarket({ entry, socket, venue, frames })
  /** Draws the frame that is due; returns how many there were. */
  const frame = (): number => due.splice(0).map((run) => run()).length
  return { socket, state, frame }
}

describe('web/state: a market', () => {
  it('is changed once a frame, however many messages come', () => {
    const { socket, state, frame } = aMarketState()
    let changes = -1
    state.book.subscribe(() => (changes += 1))
    const levels = socket.of('levels')
    levels.onSnapshot(SNAPSHOT, 1)
    levels.onUpdate(UPDATE, 2)
    expect(state.book.value).to.equal(undefined)
    expect(frame()).to.equal(1)
    expect(changes).to.equal(1)
    expect(state.book.value?.asks[0]?.amountE18).to.equal(5n * 10n ** 18n)
    expect(frame()).to.equal(0)
  })

  it('keeps the levels that have not changed as the same objects', () => {
    const { socket, state, frame } = aMarketState()
    const levels = socket.of('levels')
    levels.onSnapshot(SNAPSHOT, 1)
    frame()
    const before = state.book.value
    levels.onUpdate(UPDATE, 2)
    frame()
    expect(state.book.value?.asks[1]).to.equal(before?.asks[1])
    expect(state.book.value?.asks[0]).not.to.equal(before?.asks[0])
  })

  it('is wrong from a bad checksum until a snapshot that fits', () => {
    const { socket, state, frame } = aMarketState()
    socket.of('levels').onSnapshot(SNAPSHOT, 1)
    frame()
    socket.of('levels').onUpdate({ ...UPDATE, checksum: 1 }, 2)
    expect(state.isBookWrong.value).to.equal(true)
    frame()
    expect(state.book.value?.asks[0]?.amountE18).to.equal(20n * 10n ** 18n)
    socket.of('levels').onSnapshot(SNAPSHOT, 3)
    expect(state.isBookWrong.value).to.equal(false)
  })

  it('takes nothing that comes after it was left', () => {
    const { socket, state, frame } = aMarketState()
    const levels = socket.of('levels')
    const trades = socket.of('trades')
    levels.onSnapshot(SNAPSHOT, 1)
    state.close()
    trades.onSnapshot([{ trade_id: 1 }] as TradeRecord[], 1)
    frame()
    expect(state.book.value).to.equal(undefined)
    expect(state.trades.value).to.deep.equal([])
    expect(socket.followed()).to.deep.equal([])
  })

  it('shows each trade once, the newest first', () => {
    const { socket, state, frame } = aMarketState()
    const trades = socket.of('trades')
    trades.onSnapshot([{ trade_id: 2 }, { trade_id: 1 }] as TradeRecord[], 1)
    trades.onUpdate({ trade_id: 3 } as TradeRecord, 2)
    trades.onUpdate({ trade_id: 3 } as TradeRecord, 2)
    frame()
    expect(state.trades.value.map(({ trade_id }) => trade_id)).to.deep.equal([3, 2, 1])
  })

  it('follows the candles of one interval at a time', () => {
    const { socket, state, frame } = aMarketState()
    state.chooseInterval('1m')
    expect(state.interval.value).to.equal('1m')
    expect(socket.followed().filter((name) => name.startsWith('candles'))).to.deep.equal([
      'candles 1m',
    ])
    const candle = { bucket_start: '2026-01-01T00:00:00Z', trade_count: 1 }
    socket.of('candles').onSnapshot([candle] as never, 1)
    socket.of('candles').onUpdate({ ...candle, trade_count: 0 } as never, 2)
    frame()
    expect(state.candles.value).to.deep.equal([])
  })

  it('keeps the newest candles alone, however long it is open', () => {
    const { socket, state, frame } = aMarketState()
    const startOf = (at: number): string => new Date(at * 60_000).toISOString()
    for (let at = 0; at < 1_600; at += 1) {
      const candle = { bucket_start: startOf(at), trade_count: 1 }
      socket.of('candles').onUpdate(candle as never, at)
      frame()
    }
    expect(state.candles.value).to.have.length(1_500)
    expect(state.candles.value[0]?.bucket_start).to.equal(startOf(100))
  })
})
