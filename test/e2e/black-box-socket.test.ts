import { expect } from 'chai'
import type { Devnet } from '../support/venue.js'
import {
  ALIAS,
  ALIAS_LIVES,
  e18,
  MARKET,
  traderOf,
  type BlackBoxTrader,
} from './black-box/client.js'
import { DECIMAL, expectShape, INTEGER_TEXT, isInteger, ISO, TEXT } from './black-box/shapes.js'
import { listen, subscribe, type Frame } from './black-box/socket.js'
import { sharedVenue } from './stage/shared-venue.js'

const SIGNED = /^-?(0|[1-9][0-9]*)(\.[0-9]*[1-9])?$/
const BOOK_UPDATE = {
  side: /^(buy|sell)$/,
  price_ticks: INTEGER_TEXT,
  limit_price: DECIMAL,
  size_delta: SIGNED,
  order_open: DECIMAL,
  order_id: TEXT,
}
const TRADES_UPDATE = {
  trade_id: isInteger,
  price: DECIMAL,
  size: DECIMAL,
  aggressor_side: /^(buy|sell)$/,
  taker_order_id: TEXT,
  maker_order_id: TEXT,
  created_at: ISO,
}
const UPDATE = { type: 'update', market: MARKET, seq: isInteger, prev_seq: isInteger, ts: ISO }

describe('a trader listens', function () {
  let devnet: Devnet
  let ann: BlackBoxTrader
  let bob: BlackBoxTrader
  before(async function () {
    ;({ devnet } = await sharedVenue())
    ann = traderOf(devnet, 4)
    bob = traderOf(devnet, 5)
  })

  const isSnapshot = (channel: string) => (it: Frame) =>
    it.type === 'snapshot' && it.channel === channel
  const rest = (amount = '10', price = '0.0061') => ann.place({ side: 'sell', price, amount })
  /** A settled trade; resolves with the orders of maker and taker. */
  const trade = async () => {
    const maker = await rest()
    const taker = await bob.place({ side: 'buy', price: '0.0061', amount: '10' })
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    return { maker, taker }
  }
  /** A socket that has its snapshots. */
  const follow = async (...channels: string[]) => {
    const socket = await listen(devnet, ...channels.map((it) => subscribe(it, MARKET)))
    const snapshots = await Promise.all(channels.map((it) => socket.next(isSnapshot(it))))
    return { ...socket, snapshots }
  }

  it('not without an upgrade: 426 says to what', async () => {
    const { status, headers, body } = await ann.get('/v1/ws')
    expect(status).to.equal(426)
    expect(headers.get('upgrade')).to.equal('websocket')
    expect(body).to.deep.equal({
      error: 'this endpoint speaks WebSocket',
      code: 'upgrade_required',
      request_id: headers.get('x-request-id'),
    })
  })

  it('to the book: the snapshot is the REST book (STR-016, STR-017)', async () => {
    const order = await rest()
    const { snapshots, close } = await follow('book')
    const [snapshot] = snapshots
    expectShape(snapshot, { type: 'snapshot', channel: 'book', market: MARKET, seq: isInteger })
    expect(snapshot?.data).to.deep.equal(await ann.book())
    await ann.cancel(order)
    close()
  })

  it('to the trades: the snapshot is the newest fifty, as REST shows them (STR-018)', async () => {
    await trade()
    const { snapshots, close } = await follow('trades')
    const { trades } = await ann.trades()
    expect(snapshots[0]?.data).to.deep.equal(trades.slice(0, 50))
    close()
  })

  it('and hears of a placing and a cancel, field by field', async () => {
    const { next, snapshots, updates, close } = await follow('book')
    const order = await rest('12.5')
    await ann.cancel(order)
    await next((it) => it.type === 'update' && it.seq === (snapshots[0]?.seq ?? 0) + 2)
    const [placed, cancelled] = updates('book')
    for (const frame of [placed, cancelled]) {
      expectShape(frame, { ...UPDATE, channel: 'book' })
      expectShape(frame?.data, BOOK_UPDATE)
    }
    const same = { order_id: order.order_id, side: 'sell', limit_price: '0.0061' }
    const price_ticks = e18('0.0061').toString()
    expect(placed?.data).to.deep.equal({
      ...same,
      price_ticks,
      size_delta: '12.5',
      order_open: '12.5',
    })
    expect(cancelled?.data).to.deep.equal({
      ...same,
      price_ticks,
      size_delta: '-12.5',
      order_open: '0',
    })
    close()
  })

  it('and hears of a trade: one frame, field by field, as REST shows it (STR-015)', async () => {
    const { next, close } = await follow('trades')
    const { taker, maker } = await trade()
    const frame = await next((it) => it.type === 'update')
    expectShape(frame, { ...UPDATE, channel: 'trades' })
    expectShape(frame.data, TRADES_UPDATE)
    expect(frame.data).to.include({
      taker_order_id: taker.order_id,
      maker_order_id: maker.order_id,
      aggressor_side: 'buy',
      price: '0.0061',
      size: '10',
    })
    const [shown] = (await ann.trades()).trades
    expect(shown).to.include(frame.data)
    // The number of the trade in its market, and the market's ordinal.
    const { trade_id: tradeId } = frame.data as { readonly trade_id: number }
    expect(tradeId % 65_536).to.equal(0)
    expect(tradeId / 65_536).to.be.within(1, frame.seq)
    close()
  })

  it('without a gap: seq rises by one, prev_seq is the one before (STR-001)', async () => {
    const { next, snapshots, updates, close } = await follow('book')
    await trade()
    const order = await rest()
    await ann.cancel(order)
    await next((it) => it.data?.order_id === order.order_id && it.data.order_open === '0')
    let last = snapshots[0]?.seq ?? -1
    for (const frame of updates('book')) {
      expect([frame.seq, frame.prev_seq]).to.deep.equal([last + 1, last])
      last = frame.seq
    }
    expect(updates('book').length).to.be.at.least(6)
    close()
  })

  it('to a fill as one block: the maker’s change, then the taker’s with the trade (SET-005, STR-003)', async () => {
    const { next, frames, updates, close } = await follow('book', 'trades')
    const { maker, taker } = await trade()
    const filled = await next((it) => it.channel === 'trades' && it.type === 'update')
    await next((it) => it.channel === 'book' && it.seq === filled.seq)
    const at = (seq: number) => updates('book').find((it) => it.seq === seq)?.data
    expect(at(filled.seq - 1)).to.include({ order_id: maker.order_id, size_delta: '0' })
    expect(at(filled.seq)).to.include({ order_id: taker.order_id, size_delta: '0' })
    const between = frames.filter((it) => it.seq === filled.seq || it.seq === filled.seq - 1)
    expect(between.filter(({ type }) => type === 'update')).to.have.length(3)
    close()
  })

  it('and folds, by order and by level, to the REST book (STR-010)', async () => {
    const { next, snapshots, updates, close } = await follow('book')
    const staying = await rest('33', '0.0062')
    await trade()
    const last = await rest('5')
    await ann.cancel(last)
    await next((it) => it.data?.order_id === last.order_id && it.data.order_open === '0')
    const orders = new Map<string, bigint>()
    const levels = new Map<string, bigint>()
    const { asks } = snapshots[0]?.data as { asks: { order_id: string; open_amount: string }[] }
    for (const ask of asks) orders.set(ask.order_id, e18(ask.open_amount))
    for (const { data } of updates('book')) {
      orders.set(data.order_id as string, e18(data.order_open as string))
      const level = `${data.side as string} ${data.price_ticks as string}`
      levels.set(level, (levels.get(level) ?? 0n) + e18(data.size_delta as string))
    }
    const open = [...orders].filter(([, amount]) => amount > 0n)
    expect(open).to.deep.include([staying.order_id, e18('33')])
    const book = await ann.book()
    const shown = [...book.asks, ...book.bids].map((it) => it.order_id)
    expect(shown).to.include.members(open.map(([id]) => id))
    expect(levels.get(`sell ${e18('0.0062')}`)).to.equal(e18('33'))
    expect(levels.get(`sell ${e18('0.0061')}`)).to.equal(0n)
    await ann.cancel(staying)
    close()
  })

  it('from a seq on: the same frames again, and no snapshot (STR-028)', async () => {
    const live = await follow('book', 'trades')
    await trade()
    const filled = await live.next((it) => it.channel === 'trades' && it.type === 'update')
    await live.next((it) => it.channel === 'book' && it.seq === filled.seq)
    const since_seq = live.snapshots[0]?.seq
    for (const channel of ['book', 'trades']) {
      const again = await listen(devnet, subscribe(channel, MARKET, { since_seq }))
      await again.next((it) => it.seq === filled.seq)
      const seen = live.updates(channel).filter((it) => it.seq <= filled.seq)
      expect(again.frames.slice(0, seen.length)).to.deep.equal(seen)
      again.close()
    }
    live.close()
  })

  it('from seq 0 on: from the very first change (STR-029)', async () => {
    const { frames, next, close } = await listen(
      devnet,
      subscribe('book', MARKET, { since_seq: 0 }),
    )
    await next((it) => it.seq === 2)
    expect(frames.slice(0, 2).map((it) => [it.type, it.seq, it.prev_seq])).to.deep.equal([
      ['update', 1, 0],
      ['update', 2, 1],
    ])
    close()
  })

  it('from a seq that is none, or beyond the head (STR-030, STR-031)', async () => {
    const { frames, settled, send, next, close } = await listen(devnet)
    for (const since_seq of [-1, 1.5, '3', null]) send(subscribe('book', MARKET, { since_seq }))
    await settled()
    const errors = frames.filter(({ type }) => type === 'error')
    expect(errors.map(({ code }) => code)).to.deep.equal(Array(4).fill('bad_op'))
    send(subscribe('book', MARKET, { since_seq: 1_000_000_000, req_id: 'far' }))
    await next(isSnapshot('book'))
    const tail = frames.slice(-2)
    expect(tail.map((it) => [it.type, it.req_id])).to.deep.equal([
      ['error', 'far'],
      ['snapshot', 'far'],
    ])
    expect(tail[0]).to.include({ code: 'resume_too_old', channel: 'book', market: MARKET })
    close()
  })

  it('from the head on: silence, or an ack to a client that gave a request id (STR-032)', async () => {
    const { snapshots, close } = await follow('book')
    const seq = snapshots[0]?.seq
    const quiet = await listen(devnet, subscribe('book', MARKET, { since_seq: seq }))
    await quiet.settled()
    expect(quiet.frames.map(({ type }) => type)).to.deep.equal(['pong'])
    const named = await listen(devnet, subscribe('book', MARKET, { since_seq: seq, req_id: 'r1' }))
    await named.settled()
    expect(named.frames[0]).to.deep.include({ type: 'ack', message: 'resumed', seq, req_id: 'r1' })
    for (const socket of [quiet, named, { close }]) socket.close()
  })

  it('by the deprecated identifier while it lives, answered under the canonical one (STR-023)', async () => {
    const { frames, next, send, settled, close } = await listen(devnet, subscribe('trades', ALIAS))
    await settled()
    if (ALIAS_LIVES) {
      expect((await next(isSnapshot('trades'))).market).to.equal(MARKET)
      send({ op: 'unsubscribe', channel: 'trades', market: ALIAS })
      expect((await next((it) => it.type === 'ack')).market).to.equal(MARKET)
    } else expect(frames[0]?.code).to.equal('unknown_market')
    close()
  })

  it('by asset and sub id, which is the same subscription', async () => {
    const pair = `${devnet.wrapped_cngn}:0`
    const { frames, settled, send, next, close } = await listen(devnet, subscribe('book', pair))
    expect((await next(isSnapshot('book'))).market).to.equal(MARKET)
    send(subscribe('book', MARKET))
    const order = await rest()
    await next((it) => it.data?.order_id === order.order_id)
    await settled()
    expect(frames.filter(isSnapshot('book'))).to.have.length(1)
    expect(frames.filter((it) => it.data?.order_id === order.order_id)).to.have.length(1)
    await ann.cancel(order)
    close()
  })

  it('no more after unsubscribe, which is acknowledged', async () => {
    const { send, next, updates, settled, close } = await follow('book')
    send({ op: 'unsubscribe', channel: 'book', market: MARKET, req_id: 'bye' })
    const ack = await next((it) => it.type === 'ack')
    expect(ack).to.deep.equal({
      type: 'ack',
      channel: 'book',
      market: MARKET,
      message: 'unsubscribed',
      req_id: 'bye',
    })
    const witness = await follow('book')
    const order = await rest()
    await ann.cancel(order)
    await witness.next((it) => it.data?.order_id === order.order_id && it.data.order_open === '0')
    await settled()
    expect(updates('book').filter((it) => it.data.order_id === order.order_id)).to.deep.equal([])
    for (const socket of [witness, { close }]) socket.close()
  })

  it('and is answered a pong, and errors with their codes and texts (STR-038)', async () => {
    const { frames, send, settled, close } = await listen(devnet)
    for (const [frame, code, message] of [
      ['{', 'bad_json', 'invalid frame'],
      ['[]', 'bad_op', 'unknown op'],
      [{ op: 'dance' }, 'bad_op', 'unknown op'],
      [{}, 'bad_op', 'unknown op'],
      [subscribe('candles', MARKET), 'bad_channel', 'unknown channel'],
      [subscribe('book', 'cNGN-EUR'), 'unknown_market', 'no such market'],
      [{ op: 'subscribe', channel: 'book' }, 'unknown_market', 'no such market'],
      [subscribe('orders', MARKET), 'auth_required', 'authenticate before subscribing to orders'],
    ] as const) {
      send(frame)
      await settled()
      const answers = frames.slice(-2)
      expect(answers[0], JSON.stringify(frame)).to.deep.include({ type: 'error', code, message })
      expect(answers[1]?.type).to.equal('pong')
    }
    send({ op: 'ping' })
    await settled()
    expect(frames.at(-2)).to.deep.equal({ type: 'pong' })
    close()
  })

  it('and is cut off when a frame is larger than 64 KiB', async () => {
    const { send, closed } = await listen(devnet)
    send({ op: 'ping', ballast: 'x'.repeat(65_536) })
    expect(await closed).to.equal(1009)
  })

  it('in its own spelling of op and channel, and by its own request ids', async () => {
    const { next, send, close } = await listen(devnet)
    send({ op: ' Subscribe ', channel: 'TRADES', market: MARKET, req_id: 'one' })
    expect((await next((it) => it.type === 'snapshot')).req_id).to.equal('one')
    send({ op: 'PING', req_id: 'two' })
    expect((await next((it) => it.type === 'pong')).req_id).to.equal('two')
    close()
  })
})
