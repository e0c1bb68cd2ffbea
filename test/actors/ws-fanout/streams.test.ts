import { expect } from 'chai'
import { feedStream } from '../../../bus-schemas/subjects.js'
import { formatDecimal } from '../../../core/decimal.js'
import { applyChange, emptyView, openOrders } from '../../../core/engine/feed.js'
import type { Change } from '../../../core/model/change.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { busyHistory } from '../../support/random-history.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'

const MARKET = 'cNGN-USDC'
const of = (channel: string, type: string) => (frame: Frame) =>
  frame.channel === channel && frame.type === type
const updates = (client: SocketClient, channel: string): Frame[] =>
  client.frames.filter(of(channel, 'update'))
const updateTexts = (client: SocketClient): string[] =>
  client.texts.filter((text) => text.startsWith('{"type":"update"'))

/** Open amount by order id, as a client holds it that applies `order_open`. */
function bookOf(client: SocketClient): Record<string, string> {
  const book: Record<string, string> = {}
  for (const frame of client.frames) {
    if (of('book', 'snapshot')(frame)) {
      const { bids, asks } = frame.data as Record<
        string,
        { order_id: string; open_amount: string }[]
      >
      for (const order of [...(bids ?? []), ...(asks ?? [])])
        book[order.order_id] = order.open_amount
    }
    if (of('book', 'update')(frame)) {
      const { order_id, order_open } = frame.data as { order_id: string; order_open: string }
      if (order_open === '0') delete book[order_id]
      else book[order_id] = order_open
    }
  }
  return book
}

describe('ws-fanout streams', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  function expectedBook(changes: readonly Change[]): Record<string, string> {
    const view = emptyView(rig.market)
    for (const change of changes) applyChange(view, change)
    return Object.fromEntries(
      [...openOrders(view)].map(({ order, progress }) => [
        order.orderId,
        formatDecimal(progress.open, 18),
      ]),
    )
  }

  async function resumed(sinceSeq: number, channel = 'book'): Promise<SocketClient> {
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel, market: MARKET, since_seq: sinceSeq, req_id: 'r' })
    await client.next((frame) => frame.req_id === 'r')
    return client
  }

  it('gives each of many subscribers in a burst a snapshot and then every change once (STR-008, STR-016)', async () => {
    rig = await startRig()
    const changes = busyHistory(120)
    const clients: SocketClient[] = []
    for (let at = 0; at < changes.length; at += 30) {
      const publishing = rig.publish(changes.slice(at, at + 30))
      const client = await rig.connect()
      clients.push(client)
      client.send({ op: 'subscribe', channel: 'book', market: MARKET })
      client.send({ op: 'subscribe', channel: 'trades', market: MARKET })
      await publishing
    }
    const head = changes.length
    for (const client of clients) {
      await client.next((frame) => frame.channel === 'book' && (frame.seq ?? 0) === head)
      await client.next((frame) => frame.channel === 'trades' && (frame.seq ?? 0) === head)
      const start = client.frames.find(of('book', 'snapshot'))?.seq ?? -1
      expect(updates(client, 'book').map((frame) => frame.seq)).to.deep.equal(
        Array.from({ length: head - start }, (_, i) => start + 1 + i),
      )
      expect(bookOf(client)).to.deep.equal(expectedBook(changes))
      const tradesStart = client.frames.find(of('trades', 'snapshot'))?.seq ?? -1
      const trades = changes.filter((c) => c.kind === 'OrderFilled' && c.fill.liquidity === 'taker')
      expect(updates(client, 'trades').map((frame) => frame.seq)).to.deep.equal(
        trades.map((change) => change.seq).filter((seq) => seq > tradesStart),
      )
    }
    expect(Object.keys(expectedBook(changes))).not.to.have.length(0)
  })

  it('sends one socket the frames of several channels in order of sequence', async () => {
    rig = await startRig()
    const client = await rig.connect()
    for (const channel of ['trades', 'book'])
      client.send({ op: 'subscribe', channel, market: MARKET, req_id: channel })
    await client.next((frame) => frame.req_id === 'book')
    await rig.publish(busyHistory(20), 100)
    await client.next((frame) => frame.channel === 'trades' && frame.seq === 100)
    const seqs = client.frames.filter((frame) => frame.type === 'update').map((frame) => frame.seq)
    expect(seqs).to.deep.equal([...seqs].sort((a = 0, b = 0) => a - b))
    expect(seqs).to.have.length(120)
  })

  it('snapshots the book as REST shows it and at most 50 trades, newest first (STR-017, STR-018)', async () => {
    rig = await startRig()
    await rig.publish(busyHistory(60))
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: MARKET })
    client.send({ op: 'subscribe', channel: 'trades', market: MARKET })
    const book = await client.next(of('book', 'snapshot'))
    expect(book).to.include({ market: MARKET, seq: 300 })
    expect(book.data).to.have.all.keys('market_presentation', 'bids', 'asks')
    const trades = (await client.next(of('trades', 'snapshot'))).data as { trade_id: number }[]
    const ids = trades.map((trade) => trade.trade_id)
    expect(ids).to.have.length(50)
    expect(ids[0]).to.equal(60 * 65_536 + rig.market.ordinal)
    expect(ids).to.deep.equal([...ids].sort((a, b) => b - a))
  })

  for (const channel of ['book', 'trades']) {
    it(`resumes ${channel} from memory and from the stream with the bytes first sent (STR-007, STR-028)`, async () => {
      rig = await startRig()
      const changes = busyHistory(150)
      const live = await rig.connect()
      live.send({ op: 'subscribe', channel, market: MARKET })
      await live.next(of(channel, 'snapshot'))
      await rig.publish(changes)
      await live.next((frame) => frame.type === 'update' && frame.seq === changes.length)
      const first = updateTexts(live)

      const points = [0, 1, 4, 7, 333, changes.length - 1, changes.length]
      const expected = points.map((point) =>
        first.filter((text) => (JSON.parse(text) as { seq: number }).seq > point),
      )
      for (const ringChanges of [1_024, 8]) {
        await rig.restart({ ringChanges })
        for (const [i, point] of points.entries()) {
          const client = await resumed(point, channel)
          expect(updateTexts(client), `since ${point}`).to.deep.equal(expected[i])
          expect(client.frames.at(-1)).to.include({ message: 'resumed', seq: changes.length })
        }
      }
    })
  }

  it('loses nothing and repeats nothing when a long resume meets a burst (STR-035)', async () => {
    rig = await startRig({ ringChanges: 64 })
    const changes = busyHistory(400)
    await rig.publish(changes.slice(0, 1_000))
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, since_seq: 0 })
    await rig.publish(changes.slice(1_000))
    await client.next((frame) => frame.seq === changes.length)
    expect(updates(client, 'book').map((frame) => frame.seq)).to.deep.equal(
      changes.map((change) => change.seq),
    )
    expect(bookOf(client)).to.deep.equal(expectedBook(changes))
  })

  it('resumes no further than its own fold while the stream is ahead of it', async () => {
    let release = (): void => undefined
    let held = Promise.resolve()
    rig = await startRig({ ringChanges: 8 })
    const { bus } = rig
    const follow: typeof bus.follow = (options) =>
      bus.follow({
        ...options,
        onMessage: async (message) => {
          await held
          await options.onMessage(message)
        },
      })
    await rig.restart({ bus: { ...bus, follow } })
    const changes = busyHistory(40)
    await rig.publish(changes.slice(0, 100))
    await eventually(() => rig.fanOut().standing().positions[MARKET] === 100)
    held = new Promise((resolve) => (release = resolve))
    await rig.publish(changes.slice(100))
    const client = await resumed(1)
    expect(client.frames.at(-1)).to.include({ message: 'resumed', seq: 100 })
    release()
    await client.next((frame) => frame.seq === changes.length)
    expect(updates(client, 'book').map((frame) => frame.seq)).to.deep.equal(
      changes.slice(1).map((change) => change.seq),
    )
  })

  it('lets a client go on where it was after the fan-out restarted (STR-037)', async () => {
    rig = await startRig()
    const changes = busyHistory(30)
    const before = await rig.connect()
    before.send({ op: 'subscribe', channel: 'book', market: MARKET })
    await rig.publish(changes.slice(0, 70))
    const last = await before.next((frame) => frame.seq === 70)
    await rig.restart()
    expect(await before.closed).to.equal(1001)
    await rig.publish(changes.slice(70))
    await eventually(() => rig.fanOut().standing().ready)
    const after = await resumed(last.seq ?? 0)
    await after.next((frame) => frame.seq === changes.length)
    expect(updates(after, 'book').map((frame) => frame.seq)).to.deep.equal(
      changes.slice(70).map((change) => change.seq),
    )
  })

  it('answers what it cannot resume with resume_too_old and a snapshot (STR-031)', async () => {
    rig = await startRig({ ringChanges: 8 })
    await rig.publish(busyHistory(20))
    await rig.bus.trim(feedStream(MARKET), 10)
    for (const sinceSeq of [0, 5, 101, 2 ** 60]) {
      const client = await rig.connect()
      client.send({ op: 'subscribe', channel: 'book', market: MARKET, since_seq: sinceSeq })
      await client.next(of('book', 'snapshot'))
      expect(client.frames.map(({ type, code, seq }) => [type, code ?? seq])).to.deep.equal([
        ['error', 'resume_too_old'],
        ['snapshot', 100],
      ])
      expect(client.frames[0]).to.include({ message: 'snapshot follows', market: MARKET })
    }
    const client = await resumed(95)
    expect(updates(client, 'book').map((frame) => frame.seq)).to.deep.equal([96, 97, 98, 99, 100])
  })

  it('resumes an untouched market from 0 without a snapshot', async () => {
    rig = await startRig()
    const client = await resumed(0)
    expect(client.frames).to.deep.equal([
      { type: 'ack', channel: 'book', market: MARKET, message: 'resumed', seq: 0, req_id: 'r' },
    ])
    await rig.publish(busyHistory(1))
    await client.next((frame) => frame.seq === 5)
  })

  it('drops the subscription with stream_reset when the stream cannot be read (STR-058)', async () => {
    rig = await startRig({ ringChanges: 8 })
    await rig.publish(busyHistory(20))
    const client = await rig.connect()
    rig.bus.setConnected(false)
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, since_seq: 1 })
    const reset = await client.next((frame) => frame.code === 'stream_reset')
    expect(reset).to.include({ message: 'resubscribe with since_seq', channel: 'book' })
    rig.bus.setConnected(true)
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, since_seq: 1 })
    await client.next((frame) => frame.seq === 100)
    expect(updates(client, 'book')).to.have.length(99)
  })

  it('serves no client before everything published earlier is folded', async () => {
    rig = await startRig()
    await rig.publish(busyHistory(10))
    await rig.restart()
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: MARKET })
    expect(await client.next(of('book', 'snapshot'))).to.include({ seq: 50 })
  })

  it('reports a feed whose blocks do not follow each other', async () => {
    rig = await startRig()
    await rig.publish(busyHistory(2).slice(5))
    await eventually(() => rig.failures.length > 0)
    expect(rig.failures[0]?.message).to.contain('change 6 cannot follow 0')
  })
})
