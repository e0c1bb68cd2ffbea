import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { createSocketClient, signFrame, type SocketClient } from '../../client/index.js'
import { alicesKey } from '../support/auth-frames.js'
import { eventually } from '../support/eventually.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'
import { alice, historyOfTwo } from '../support/two-owners.js'

const MARKET = 'cNGN-USDC'
const timing = { minBackoffMs: 5, maxBackoffMs: 20, pingEveryMs: 1_000 }
const account = privateKeyToAccount(alicesKey)

describe('socket client with a key', () => {
  let rig: FanOutRig
  let client: SocketClient
  let frames = 0
  beforeEach(async () => {
    rig = await startRig()
    frames = 0
  })
  afterEach(async () => {
    client.close()
    await rig.end()
  })

  function connect(domain = 'localhost'): void {
    const authenticate = () => {
      frames += 1
      return signFrame(account, { purpose: 'socket', domain })
    }
    client = createSocketClient({ url: rig.url(), WebSocket, timing, authenticate })
  }

  function followOrders() {
    const seen = { snapshots: [] as number[], updates: [] as number[], refused: [] as string[] }
    const statuses = new Map<string, string>()
    client.subscribe('orders', MARKET, {
      onSnapshot(orders, seq) {
        seen.snapshots.push(seq)
        for (const { order_id, status } of orders) statuses.set(order_id, status)
      },
      onUpdate({ order_id, status }, seq) {
        seen.updates.push(seq)
        statuses.set(order_id, status)
      },
      onRefused: (code) => seen.refused.push(code),
    })
    return { ...seen, statuses }
  }

  it('follows the own orders through restarts, each change once, with a new frame each time', async () => {
    const { port } = rig.fanOut()
    const changes = historyOfTwo(60)
    const own = changes.filter(({ owner }) => owner === alice)
    await eventually(() => rig.fanOut().standing().ready)
    connect()
    const { snapshots, updates, statuses, refused } = followOrders()
    await eventually(() => snapshots.length === 1)
    for (let at = 0; at < changes.length; at += 100) {
      const publishing = rig.publish(changes.slice(at, at + 100))
      await rig.restart({ port, ringChanges: at === 100 ? 8 : 1_024 })
      await publishing
    }
    await eventually(() => updates.at(-1) === own.at(-1)?.seq)
    expect(snapshots).to.deep.equal([0])
    expect(updates).to.deep.equal(own.map(({ seq }) => seq))
    expect(statuses).to.deep.equal(new Map(own.map(({ orderId, status }) => [orderId, status])))
    expect(refused).to.deep.equal([])
    expect(frames).to.be.greaterThan(1)
  })

  it('signs nothing while only public channels are followed', async () => {
    connect()
    let snapshots = 0
    client.subscribe('book', MARKET, {
      onSnapshot: () => (snapshots += 1),
      onUpdate: () => undefined,
    })
    await eventually(() => snapshots === 1)
    expect(frames).to.equal(0)
    const { snapshots: orders } = followOrders()
    await eventually(() => orders.length === 1)
    expect(frames).to.equal(1)
  })

  it('gives up after three refusals, and at once without a key', async () => {
    connect('other.example')
    const { refused } = followOrders()
    await eventually(() => refused.length > 0)
    expect(refused).to.deep.equal(['auth_failed'])
    expect(frames).to.equal(3)
    client.close()
    client = createSocketClient({ url: rig.url(), WebSocket, timing })
    const keyless = followOrders()
    await eventually(() => keyless.refused.length > 0)
    expect(keyless.refused).to.deep.equal(['auth_failed'])
  })
})
