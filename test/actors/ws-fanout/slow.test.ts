import { expect } from 'chai'
import { SESSION_LIMITS } from '../../../actors/ws-fanout/limits.js'
import type { Change } from '../../../core/model/change.js'
import { amountE18 } from '../../../core/money.js'
import { eventually } from '../../support/eventually.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { sampleOrder } from '../../support/random-history.js'

const MARKET = 'cNGN-USDC'
/** Time for a client of this process that reads again: the whole history first, on a loaded machine. */
const PATIENT = { catchUpWithinMs: 60_000, slowCloseWithinMs: 60_000 }
const book = { op: 'subscribe', channel: 'book', market: MARKET }

/** Orders with ids so long that the kernel's buffers fill after a few hundred frames. */
function bulkyHistory(count: number): Change[] {
  return Array.from({ length: count }, (_, i) => {
    const order = { ...sampleOrder(i + 1, 'sell', 100, 1), orderId: `${i}-${'x'.repeat(100_000)}` }
    return {
      kind: 'OrderPlaced',
      seq: i + 1,
      atMs: 1_790_000_000_000,
      orderId: order.orderId,
      owner: order.owner,
      side: order.side,
      limitPrice: order.limitPrice,
      desired: order.desiredAmount,
      filled: amountE18(0n),
      pending: amountE18(0n),
      open: order.desiredAmount,
      openDelta: order.desiredAmount,
      status: 'active',
      order,
      rank: i + 1,
    }
  })
}

describe('ws-fanout slow clients', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  it('closes a client that does not read with slow_consumer and serves the others (STR-052)', async () => {
    rig = await startRig({
      limits: { ...SESSION_LIMITS, maxBacklogBytes: 2 ** 20, closeWithinMs: 1, ...PATIENT },
    })
    const stalled = await rig.connect()
    const reading = await rig.connect()
    for (const client of [stalled, reading]) {
      client.send(book)
      await client.next(({ type }) => type === 'snapshot')
    }
    stalled.ws.pause()
    const changes = bulkyHistory(200)
    for (const change of changes) {
      await rig.publish([change])
      await reading.next(({ seq }) => seq === change.seq)
    }
    stalled.ws.resume()
    expect(await stalled.closed).to.equal(1013)
    expect(stalled.frames.at(-1)).to.include({ type: 'error', code: 'slow_consumer' })
    const seqs = stalled.frames.filter(({ type }) => type === 'update').map(({ seq }) => seq)
    expect(seqs, 'no frame is dropped before the end').to.deep.equal(seqs.map((_, i) => i + 1))
    expect(seqs.length).to.be.lessThan(changes.length)
    await eventually(() => rig.fanOut().clients() === 1)
  })

  it('cuts a client that never reads again', async () => {
    rig = await startRig({
      limits: { ...SESSION_LIMITS, catchUpWithinMs: 50, slowCloseWithinMs: 50 },
    })
    const stalled = await rig.connect()
    stalled.send(book)
    await stalled.next(({ type }) => type === 'snapshot')
    stalled.ws.pause()
    await rig.publish(bulkyHistory(200), 2)
    await eventually(() => rig.fanOut().clients() === 0)
  })

  it('replays at the pace of the client and gives up on one that stalls', async () => {
    const limits = {
      ...SESSION_LIMITS,
      drainWithinMs: 3_000,
      minBytesPerMs: 100_000,
      slowCloseWithinMs: 50,
    }
    rig = await startRig({ ringChanges: 8, limits })
    const changes = bulkyHistory(200)
    await rig.publish(changes, 2)
    const stalled = await rig.connect()
    const reading = await rig.connect()
    stalled.ws.pause()
    for (const client of [stalled, reading]) client.send({ ...book, since_seq: 0 })
    await reading.next(({ seq }) => seq === changes.length)
    expect(reading.frames.map(({ seq }) => seq)).to.deep.equal(changes.map(({ seq }) => seq))
    await eventually(() => rig.fanOut().clients() === 1)
  })

  it('closes 1001 a client that answers no pings and keeps one that does (STR-051)', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, pingEveryMs: 30, pongWithinMs: 1_000 } })
    const alive = await rig.connect()
    const dead = await rig.connect({ autoPong: false })
    expect(await dead.closed).to.equal(1001)
    alive.send({ op: 'ping' })
    await alive.next(({ type }) => type === 'pong')
    expect(rig.fanOut().clients()).to.equal(1)
  })

  it('stops although a client does not take part in closing', async () => {
    rig = await startRig({ limits: { ...SESSION_LIMITS, closeWithinMs: 60_000 } })
    const stalled = await rig.connect()
    stalled.ws.pause()
    await rig.fanOut().stop()
    await eventually(() => rig.fanOut().clients() === 0)
  })
})
