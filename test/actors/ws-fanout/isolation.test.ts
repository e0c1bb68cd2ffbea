import { expect } from 'chai'
import type { Change } from '../../../core/model/change.js'
import { alicesKey, bobsKey, signedAuth } from '../../support/auth-frames.js'
import { eventually } from '../../support/eventually.js'
import { startRig } from '../../support/fan-out-rig.js'
import { sampleOrder } from '../../support/random-history.js'
import type { SocketClient } from '../../support/socket-client.js'
import { alice, bob } from '../../support/two-owners.js'

const MARKET = 'cNGN-USDC'
const FRAMES_EACH = 100_000
const PER_BLOCK = 500
const RECONNECTS = 10

/** Held and released in turn, so that the venue's state stays small however many frames there are. */
function flickering(count: number): Change[] {
  const placed = [alice, bob].map((owner, i) => {
    const id = owner === alice ? 'alices' : 'bobs'
    const order = { ...sampleOrder(i + 1, i === 0 ? 'sell' : 'buy', 100 - i, 1), owner }
    return { ...order, orderId: `${id}-order` }
  })
  return Array.from({ length: count }, (_, i) => {
    // A pattern in which neither simply follows the other.
    const order = placed[i < 2 ? i : (i >> 1) % 3 === 0 ? i % 2 : (i + 1) % 2]
    if (order === undefined) throw new Error('two orders')
    const { orderId, owner, side, limitPrice, desiredAmount } = order
    const base = {
      seq: i + 1,
      atMs: 1_790_000_000_000 + i,
      orderId,
      owner,
      side,
      limitPrice,
      desired: desiredAmount,
      filled: 0n,
      pending: 0n,
      open: desiredAmount,
      openDelta: 0n,
      status: 'active',
    }
    const facts = i < 2 ? { kind: 'OrderPlaced', order, rank: i + 1 } : { kind: 'OrderReleased' }
    return { ...base, ...facts } as Change
  })
}

describe('ws-fanout isolation', function () {
  it(`keeps ${FRAMES_EACH} frames of each of two users apart, through reconnects (STR-039)`, async () => {
    const changes = flickering(2 * FRAMES_EACH)
    const rig = await startRig({ ringChanges: 5_000 })
    const users = [
      { key: alicesKey, owner: alice, others: 'bobs-', seqs: [] as number[] },
      { key: bobsKey, owner: bob, others: 'alices-', seqs: [] as number[] },
    ]
    const leaks: string[] = []
    const clients = new Map<string, SocketClient>()

    async function connect(user: (typeof users)[number]): Promise<void> {
      clients.get(user.owner)?.ws.terminate()
      const client = await rig.connect()
      clients.set(user.owner, client)
      client.ws.on('message', (data: Buffer) => {
        const text = data.toString()
        if (text.includes(user.others)) leaks.push(text)
        if (text.startsWith('{"type":"update"')) {
          user.seqs.push((client.frames.at(-1) as { seq: number }).seq)
        }
        client.frames.length = 0
        client.texts.length = 0
      })
      client.send(await signedAuth({ privateKey: user.key }))
      client.send({
        op: 'subscribe',
        channel: 'orders',
        market: MARKET,
        since_seq: user.seqs.at(-1) ?? 0,
      })
    }

    const step = changes.length / RECONNECTS
    for (let at = 0; at < changes.length; at += step) {
      // In turn, so that each also connects while the other's frames pass.
      const publishing = rig.publish(changes.slice(at, at + step), PER_BLOCK)
      for (const user of users) await connect(user)
      await publishing
    }
    for (const { seqs, owner } of users) {
      const own = changes.filter((change) => change.owner === owner).map(({ seq }) => seq)
      expect(own.length).to.be.closeTo(FRAMES_EACH, FRAMES_EACH / 100)
      await eventually(() => seqs.length >= own.length, 60_000)
      expect(seqs.join()).to.equal(own.join())
    }
    expect(leaks).to.deep.equal([])
    await rig.end()
  })
})
