import { expect } from 'chai'
import type { Change } from '../../../core/model/change.js'
import type { FillEvent } from '../../../interface/fill-event.js'
import { alicesKey, signedAuth } from '../../support/auth-frames.js'
import { startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import type { Frame, SocketClient } from '../../support/socket-client.js'
import { alice, historyOfTwo } from '../../support/two-owners.js'

const MARKET = 'cNGN-USDC'
const fills = { op: 'subscribe', channel: 'fills', market: MARKET }

type FillFrame = Frame & { readonly data: FillEvent }

const updates = (client: SocketClient): FillFrame[] =>
  client.frames.filter(({ type }) => type === 'update') as FillFrame[]
const updateTexts = (client: SocketClient): string[] =>
  client.texts.filter((text) => text.startsWith('{"type":"update"'))

/** The owner's legs of all matches by status, computed apart from the fan-out. */
function legsOf(changes: readonly Change[]): { pending: string[]; settled: string[] } {
  const ownerOf = new Map(changes.map(({ orderId, owner }) => [orderId, owner]))
  const pending = changes.flatMap((change) => {
    if (change.kind !== 'OrderMatched') return []
    const { settlementId, makerOrderId, takerOrderId } = change.match
    return [makerOrderId, takerOrderId]
      .filter((orderId) => ownerOf.get(orderId) === alice)
      .map((orderId) => `${settlementId} ${orderId}`)
  })
  const settled = changes.flatMap((change) =>
    change.kind === 'OrderFilled' && change.owner === alice
      ? [`${change.fill.settlementId} ${change.orderId}`]
      : [],
  )
  return { pending: pending.toSorted(), settled: settled.toSorted() }
}

const keysOf = (legs: readonly FillEvent[], status: string): string[] =>
  legs
    .filter((leg) => leg.status === status)
    .map(({ settlement_id, order_id }) => `${settlement_id} ${order_id}`)
    .toSorted()

describe('ws-fanout fills', () => {
  let rig: FanOutRig
  afterEach(() => rig.end())

  async function connectAlice(): Promise<SocketClient> {
    const client = await rig.connect()
    client.send(await signedAuth({ privateKey: alicesKey }))
    await client.next(({ message }) => message === 'authenticated')
    client.frames.length = 0
    client.texts.length = 0
    return client
  }

  it('needs an authenticated connection (STR-038)', async () => {
    rig = await startRig()
    const client = await rig.connect()
    client.send({ ...fills, req_id: 'f' })
    expect(await client.next(({ type }) => type === 'error')).to.deep.include({
      code: 'auth_required',
      message: 'authenticate before subscribing to fills',
      req_id: 'f',
    })
  })

  it('tells each own leg when it is proposed and when it is settled, and nothing of others (STR-041)', async () => {
    rig = await startRig()
    const client = await connectAlice()
    client.send(fills)
    const snapshot = await client.next(({ type }) => type === 'snapshot')
    expect(snapshot).to.deep.include({ channel: 'fills', market: MARKET, seq: 0, data: [] })
    const changes = historyOfTwo(30)
    const expected = legsOf(changes)
    const count = expected.pending.length + expected.settled.length
    expect(expected.settled.length).to.be.greaterThan(5)
    await rig.publish(changes)
    await client.next(() => updates(client).length === count)
    const legs = updates(client).map(({ data }) => data)
    expect(keysOf(legs, 'pending')).to.deep.equal(expected.pending)
    expect(keysOf(legs, 'settled')).to.deep.equal(expected.settled)
    const seqs = updates(client).map(({ seq = 0 }) => seq)
    expect(seqs).to.deep.equal(seqs.toSorted((a, b) => a - b))
    expect(updates(client).map((frame) => frame.prev_seq)).to.deep.equal([0, ...seqs.slice(0, -1)])
    const settled = legs.find(({ status }) => status === 'settled')
    expect(settled).to.include.keys('subaccount_id', 'trade_id', 'tx_hash', 'block_number', 'fee')
    const proposed = legs.find((leg) => leg.order_id === settled?.order_id)
    expect(proposed).to.include({ status: 'pending', price: settled?.price, size: settled?.size })
    expect(proposed).not.to.have.any.keys('trade_id', 'tx_hash')
  })

  it('resumes with the bytes first sent, also after a restart, and else begins anew', async () => {
    rig = await startRig()
    const live = await connectAlice()
    live.send(fills)
    await live.next(({ type }) => type === 'snapshot')
    const changes = historyOfTwo(60)
    const { pending, settled } = legsOf(changes)
    await rig.publish(changes)
    await live.next(() => updates(live).length === pending.length + settled.length)
    const first = updateTexts(live)
    const seqs = updates(live).map(({ seq = 0 }) => seq)
    const middle = seqs[Math.floor(seqs.length / 2)] ?? 0

    await rig.restart()
    const resumed = await connectAlice()
    resumed.send({ ...fills, since_seq: middle, req_id: 'r' })
    await resumed.next(({ message, req_id }) => message === 'resumed' && req_id === 'r')
    expect(updateTexts(resumed)).to.deep.equal(first.filter((_, i) => (seqs[i] ?? 0) > middle))

    await rig.restart({ ringChanges: 4 })
    const late = await connectAlice()
    late.send({ ...fills, since_seq: 1, req_id: 'l' })
    expect(await late.next(({ type }) => type === 'error')).to.include({ code: 'resume_too_old' })
    const snapshot = await late.next(({ type }) => type === 'snapshot')
    const legs = snapshot.data as FillEvent[]
    expect(keysOf(legs, 'pending')).to.deep.equal(pending.filter((leg) => !settled.includes(leg)))
  })
})
