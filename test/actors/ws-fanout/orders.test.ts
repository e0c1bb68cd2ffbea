import { expect } from 'chai'
import { orderRecordJson } from '../../../core/records/order-record.js'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import type { Address } from '../../../core/action.js'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { feedSubject } from '../../../bus-schemas/subjects.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { formatDecimal } from '../../../core/decimal.js'
import type { Change } from '../../../core/model/change.js'
import { applyChange, emptyView } from '../../../core/engine/feed.js'
import { OPEN } from '../../../core/model/market.js'
import { alicesKey, bobsKey, signedAuth } from '../../support/auth-frames.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { declareFeed, startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'
import { alice, bob, historyOfTwo } from '../../support/two-owners.js'

const MARKET = 'cNGN-USDC'
const PERP = 'cNGN-PERP'
const orders = { op: 'subscribe', channel: 'orders' }
const scoped = { ...orders, market: MARKET }

const updates = (client: SocketClient): Frame[] =>
  client.frames.filter(({ type }) => type === 'update')
const seqs = (client: SocketClient): (number | undefined)[] => updates(client).map((it) => it.seq)
const updateTexts = (client: SocketClient): string[] =>
  client.texts.filter((text) => text.startsWith('{"type":"update"'))
const seqsOf = (changes: readonly Change[], owner: Address): number[] =>
  changes.filter((change) => change.owner === owner).map((change) => change.seq)

describe('ws-fanout orders', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  async function connectAs(privateKey = alicesKey): Promise<SocketClient> {
    const client = await rig.connect()
    client.send(await signedAuth({ privateKey }))
    await client.next(({ message }) => message === 'authenticated')
    client.frames.length = 0
    client.texts.length = 0
    return client
  }

  /** What of the orders of the owner is active or matching, newest first. */
  function expectedOrders(changes: readonly Change[], owner: Address): unknown {
    const view = emptyView(rig.market)
    for (const change of changes) applyChange(view, change)
    const own = [...view.live.values()].filter(({ order }) => order.owner === owner)
    const newestFirst = own.sort((a, b) => b.rank - a.rank)
    expect(newestFirst.length).to.be.greaterThan(3)
    return newestFirst.map((order) => JSON.parse(orderRecordJson(rig.market, order)) as unknown)
  }

  it('begins with the own active and matching orders as REST shows them, newest first (STR-019)', async () => {
    rig = await startRig()
    const changes = historyOfTwo(60)
    await rig.publish(changes.slice(0, 292))
    for (const [key, owner] of [
      [alicesKey, alice],
      [bobsKey, bob],
    ] as const) {
      const client = await connectAs(key)
      client.send(scoped)
      const snapshot = await client.next(({ type }) => type === 'snapshot')
      expect(snapshot).to.include({ channel: 'orders', market: MARKET, seq: 292 })
      expect(snapshot.data).to.deep.equal(expectedOrders(changes.slice(0, 292), owner))
    }
  })

  it('then sends every own change once, each naming the one before', async () => {
    rig = await startRig()
    const changes = historyOfTwo(60)
    await rig.publish(changes.slice(0, 100))
    const client = await connectAs()
    client.send(scoped)
    await client.next(({ type }) => type === 'snapshot')
    await rig.publish(changes.slice(100))
    const own = seqsOf(changes, alice)
    await client.next(({ seq, type }) => type === 'update' && seq === own.at(-1))
    const sent = own.filter((seq) => seq > 100)
    expect(seqs(client)).to.deep.equal(sent)
    const before = own.slice(own.length - sent.length - 1, -1)
    expect(updates(client).map((it) => it.prev_seq)).to.deep.equal(before)
    const fill = changes.find((it) => it.seq > 100 && it.owner === alice && it.filled > 0n)
    const frame = updates(client).find(({ seq }) => seq === fill?.seq)
    expect(frame).to.have.all.keys('type', 'channel', 'market', 'seq', 'prev_seq', 'ts', 'data')
    const { order_id, ...data } = frame?.data as Record<string, unknown>
    expect(data).to.include.keys('filled_quote', 'average_price', 'fee_paid', 'subaccount_id')
    expect({ order_id, ...data }).to.deep.include({
      order_id: fill?.orderId,
      status: fill?.status,
      side: fill?.side,
      filled_amount: '2',
      desired_amount: `${(fill?.desired ?? 0n) / 10n ** 18n}`,
      limit_price: formatDecimal(fill?.limitPrice ?? 0n, 18),
      price_ticks: `${fill?.limitPrice}`,
      pending_amount: formatDecimal(fill?.pending ?? -1n, 18),
      inherited_filled_amount: '0',
      final: fill?.status === 'filled',
    })
  })

  it('sends a new owner 0 as the sequence before the first (STR-005)', async () => {
    rig = await startRig()
    const client = await connectAs()
    client.send({ ...scoped, since_seq: 0 })
    const changes = historyOfTwo(5)
    await rig.publish(changes)
    await client.next(({ seq }) => seq === seqsOf(changes, alice).at(-1))
    expect(updates(client).map((it) => it.prev_seq)).to.deep.equal([
      0,
      ...seqsOf(changes, alice).slice(0, -1),
    ])
  })

  /** What only memory knows of a change of the past, and a replay from the stream may leave out. */
  const REMEMBERED = [
    ...['subaccount_id', 'inherited_filled_amount', 'cancel_reason'],
    ...['filled_quote', 'average_price', 'fee_paid'],
  ]

  /** Fails unless the frame from the stream is the one first sent, but for what it leaves out. */
  function expectSameButForgotten(text: string, first: string | undefined): void {
    const [replayed, sent] = [text, first ?? '{}'].map(
      (frame) => JSON.parse(frame) as { data: Record<string, unknown> },
    )
    const left = Object.keys(sent?.data ?? {}).filter((name) => !(name in (replayed?.data ?? {})))
    expect(REMEMBERED).to.include.members(left)
    const data = Object.entries(sent?.data ?? {}).filter(([name]) => !left.includes(name))
    expect(replayed).to.deep.equal({ ...sent, data: Object.fromEntries(data) })
  }

  it('resumes from memory with the bytes first sent, and from the stream with all that it holds', async () => {
    rig = await startRig()
    const changes = historyOfTwo(150)
    const live = await connectAs()
    live.send(scoped)
    await live.next(({ type }) => type === 'snapshot')
    await rig.publish(changes)
    const last = seqsOf(changes, alice).at(-1)
    await live.next(({ type, seq }) => type === 'update' && seq === last)
    const first = updateTexts(live)
    for (const ringChanges of [1_024, 8]) {
      await rig.restart({ ringChanges })
      for (const point of [0, 1, 4, 7, 333, changes.length - 1, changes.length]) {
        const client = await connectAs()
        client.send({ ...scoped, since_seq: point, req_id: 'r' })
        await client.next(({ req_id }) => req_id === 'r')
        const expected = first.filter((text) => (JSON.parse(text) as { seq: number }).seq > point)
        const replayed = updateTexts(client)
        expect(replayed.length, `since ${point}`).to.equal(expected.length)
        if (ringChanges > changes.length) expect(replayed).to.deep.equal(expected)
        replayed.forEach((text, at) => expectSameButForgotten(text, expected[at]))
        expect(client.frames.at(-1)).to.include({ message: 'resumed', seq: changes.length })
      }
    }
  })

  it('says resume_too_old where the sequence before a change is not known any more (STR-036)', async () => {
    rig = await startRig({ ringChanges: 8, linkedChanges: 50 })
    const changes = historyOfTwo(40)
    await rig.publish(changes)
    const client = await connectAs()
    client.send({ ...scoped, since_seq: 100 })
    await client.next(({ type }) => type === 'snapshot')
    expect(client.frames.map(({ code, seq }) => code ?? seq)).to.deep.equal(['resume_too_old', 200])
    const near = await connectAs()
    near.send({ ...scoped, since_seq: 160, req_id: 'r' })
    await near.next(({ req_id }) => req_id === 'r')
    expect(seqs(near)).to.deep.equal(seqsOf(changes, alice).filter((seq) => seq > 160))
  })

  it('follows all listed markets unscoped, one snapshot each, empty ones too (STR-020)', async () => {
    const disabled = aFuture({ enabled: false })
    rig = await startRig({ markets: [aMarket(), aPerp(), disabled] })
    const changes = historyOfTwo(4)
    await rig.publish(changes)
    const client = await connectAs()
    client.send({ ...orders, req_id: 'q' })
    await client.next(({ type, market }) => type === 'snapshot' && market === MARKET)
    expect(client.frames.map(({ market, seq, req_id }) => [market, seq, req_id])).to.deep.equal([
      [PERP, 0, 'q'],
      [MARKET, changes.length, 'q'],
    ])
    expect(client.frames[0]?.data).to.deep.equal([])
    await rig.publish(changes, 3, PERP)
    await client.next(({ type, seq }) => type === 'update' && seq === seqsOf(changes, alice).at(-1))
    expect(updates(client).every(({ market }) => market === PERP)).to.equal(true)
  })

  it('includes a market unscoped that is listed later, until it leaves', async () => {
    const perp = aPerp({ enabled: false })
    const future = aFuture()
    rig = await startRig({ markets: [aMarket(), perp] })
    const client = await connectAs()
    client.send(orders)
    await client.next(({ type }) => type === 'snapshot')
    await declareFeed(rig.bus, future.market)
    await rig.fanOut().follow(future)
    const terms = { ...openingOf(perp), enabled: true, standing: OPEN }
    const place = { commandSeq: 1, commandIndex: 0, firstSeq: 1 }
    const opened = encodeBlock({ market: PERP, ...place, changes: [], terms })
    await rig.bus.append(feedSubject(PERP), opened)
    await client.next(({ type, market }) => type === 'snapshot' && market === PERP)
    const seen = client.frames.map(({ type, market, seq, data }) => [type, market, seq, data])
    const added = [MARKET, future.market, PERP]
    expect(seen).to.deep.equal(added.map((market) => ['snapshot', market, 0, []]))

    const changes = historyOfTwo(8)
    const half = changes.length / 2
    const last = seqsOf(changes.slice(0, half), alice).at(-1)
    for (const market of [future.market, PERP]) {
      await rig.publish(changes.slice(0, half), 3, market)
      await client.next((it) => it.type === 'update' && it.market === market && it.seq === last)
    }
    const sent = updates(client).length
    client.send({ ...orders, op: 'unsubscribe', req_id: 'u' })
    await client.next(({ req_id }) => req_id === 'u')
    const witness = await rig.connect()
    witness.send({ op: 'subscribe', channel: 'book', market: MARKET })
    await witness.next(({ type }) => type === 'snapshot')
    await rig.publish(changes.slice(half), 3, PERP)
    await rig.publish(changes)
    await witness.next(({ type, seq }) => type === 'update' && seq === changes.length)
    client.send({ op: 'ping', req_id: 'p' })
    await client.next(({ req_id }) => req_id === 'p')
    expect(updates(client)).to.have.length(sent)
  })

  it('resumes all markets by an object, and by a number none (STR-033)', async () => {
    rig = await startRig({ markets: [aMarket(), aPerp()] })
    const changes = historyOfTwo(10)
    const own = seqsOf(changes, alice)
    await rig.publish(changes)
    await rig.publish(changes, 3, PERP)
    const byObject = await connectAs()
    const since = { [PERP]: 30, 'USDCcNGN-SPOT': 20 }
    byObject.send({ ...orders, since, req_id: 'q' })
    await byObject.next(({ market, message }) => market === MARKET && message === 'resumed')
    await byObject.next(({ market, message }) => market === PERP && message === 'resumed')
    const of = (market: string) => updates(byObject).filter((it) => it.market === market)
    expect(of(PERP).map(({ seq }) => seq)).to.deep.equal(own.filter((seq) => seq > 30))
    expect(of(MARKET).map(({ seq }) => seq)).to.deep.equal(own.filter((seq) => seq > 20))

    const byNumber = await connectAs()
    byNumber.send({ ...orders, since_seq: 30 })
    await byNumber.next(({ type, market }) => type === 'snapshot' && market === MARKET)
    expect(byNumber.frames.map(({ code, market }) => code ?? market)).to.deep.equal([
      'resume_too_old',
      PERP,
      MARKET,
    ])
    const wrong = await connectAs()
    wrong.send({ ...orders, since: { NOPE: 1 } })
    wrong.send({ ...orders, since: { [PERP]: -1 } })
    wrong.send({ ...orders, since: 5 })
    await wrong.next(({ code }) => code === 'bad_op', 2)
    expect(wrong.frames.map(({ code }) => code)).to.deep.equal([
      'unknown_market',
      'bad_op',
      'bad_op',
    ])
  })

  it('delivers a change once to a scoped and an unscoped subscription, as long as one is left (STR-022)', async () => {
    rig = await startRig()
    const changes = historyOfTwo(30)
    const own = seqsOf(changes, alice)
    const upTo = (seq: number): number[] => own.filter((one) => one <= seq)
    const client = await connectAs()
    const publish = async (from: number, to: number): Promise<void> => {
      await rig.publish(changes.slice(from, to))
      // A public channel tells that the changes have been through.
      await witness.next(({ seq, type }) => type === 'update' && seq === to)
      client.send({ op: 'ping', req_id: `p${to}` })
      await client.next(({ req_id }) => req_id === `p${to}`)
    }
    const witness = await rig.connect()
    witness.send({ op: 'subscribe', channel: 'book', market: MARKET })
    await witness.next(({ type }) => type === 'snapshot')

    client.send({ ...scoped, req_id: 'a' })
    client.send({ ...orders, req_id: 'b' })
    client.send({ ...orders, req_id: 'c' })
    await client.next(({ req_id }) => req_id === 'c')
    await publish(0, 50)
    expect(seqs(client)).to.deep.equal(upTo(50))
    expect(client.frames.filter(({ type }) => type === 'snapshot')).to.have.length(2)

    client.send({ ...scoped, op: 'unsubscribe' })
    await client.next(({ message }) => message === 'unsubscribed')
    await publish(50, 100)
    expect(seqs(client)).to.deep.equal(upTo(100))
    client.send({ ...orders, op: 'unsubscribe' })
    await client.next(({ message, market }) => message === 'unsubscribed' && market === undefined)
    await publish(100, 150)
    expect(seqs(client)).to.deep.equal(upTo(100))
    expect(client.frames.filter(({ message }) => message === 'unsubscribed')).to.deep.equal([
      { type: 'ack', channel: 'orders', market: MARKET, message: 'unsubscribed' },
      { type: 'ack', channel: 'orders', message: 'unsubscribed' },
    ])
  })

  it('mixes with the public channels in order of sequence, each frame once', async () => {
    rig = await startRig()
    const changes = historyOfTwo(30)
    const client = await connectAs()
    for (const channel of ['orders', 'trades', 'book'])
      client.send({ op: 'subscribe', channel, market: MARKET, req_id: channel })
    await client.next(({ req_id }) => req_id === 'book')
    await rig.publish(changes, 100)
    await client.next(({ channel, seq }) => channel === 'book' && seq === changes.length)
    const all = updates(client)
    expect(all.map(({ seq }) => seq)).to.deep.equal(
      all.map(({ seq = 0 }) => seq).sort((a, b) => a - b),
    )
    const of = (channel: string) => all.filter((it) => it.channel === channel).map(({ seq }) => seq)
    expect(of('orders')).to.deep.equal(seqsOf(changes, alice))
    expect(of('book')).to.deep.equal(changes.map(({ seq }) => seq))
    expect(of('trades')).to.have.length(30)
  })

  it('answers snapshot_failed when a snapshot is too large, and sends nothing of it (STR-059)', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, maxSnapshotBytes: 1_000 } })
    const changes = historyOfTwo(20)
    await rig.publish(changes.slice(0, 50))
    const client = await connectAs()
    client.send({ ...scoped, req_id: 'q' })
    client.send({ op: 'subscribe', channel: 'trades', market: MARKET, since_seq: 50 })
    const failed = await client.next(({ req_id }) => req_id === 'q')
    expect(failed).to.deep.equal({
      type: 'error',
      code: 'snapshot_failed',
      message: 'could not load snapshot',
      channel: 'orders',
      market: MARKET,
      req_id: 'q',
    })
    await rig.publish(changes.slice(50))
    await client.next(({ channel, seq }) => channel === 'trades' && seq === changes.length)
    expect(updates(client).every(({ channel }) => channel === 'trades')).to.equal(true)
    client.send({ ...scoped, since_seq: 50 })
    await client.next(({ seq }) => seq === seqsOf(changes, alice).at(-1))
    expect(updates(client).filter(({ channel }) => channel === 'orders')).not.to.have.length(0)
  })
})
