import { expect } from 'chai'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { feedStream } from '../../../bus-schemas/subjects.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { declareFeed, publishChanges, startRig, type FanOutRig } from '../../support/fan-out-rig.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { busyHistory } from '../../support/random-history.js'

/** Stands between a client and a NATS server, and loses what the server sends when told. */
interface LossyNats {
  readonly url: string
  /** Loses the next so many messages that come from this stream; everything else passes. */
  lose(stream: string, messages: number): void
  /** How many were lost so far. */
  lost(): number
  stop(): void
}

async function startLossyNats(serverUrl: string): Promise<LossyNats> {
  const { hostname, port } = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let toLose = { marker: '', left: 0 }
  let lost = 0

  const isLost = (head: string): boolean => {
    if (toLose.left === 0 || !head.includes(toLose.marker)) return false
    toLose = { ...toLose, left: toLose.left - 1 }
    lost += 1
    return true
  }
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => [client, upstream].forEach((each) => each.destroy()))
    }
    client.pipe(upstream)
    let rest: Buffer = Buffer.alloc(0)
    upstream.on('data', (chunk) => {
      const parts = split(Buffer.concat([rest, chunk]))
      rest = parts.rest
      for (const part of parts.whole) if (!isLost(part.head)) client.write(part.bytes)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `nats://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lose(stream, messages) {
      // What a stream's reader is sent names the stream where an acknowledgement would go.
      toLose = { marker: ` $JS.ACK.${stream}.`, left: messages }
    },
    lost: () => lost,
    stop() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

interface Part {
  /** Its first line. */
  readonly head: string
  readonly bytes: Buffer
}

/** Cuts what came into the protocol's operations; only messages have more than their line. */
function split(bytes: Buffer): { readonly whole: Part[]; readonly rest: Buffer } {
  const whole: Part[] = []
  let at = 0
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) break
    const head = bytes.toString('utf8', at, lineEnd)
    const size = /^H?MSG .* (\d+)$/.exec(head)?.[1]
    const end = lineEnd + 2 + (size === undefined ? 0 : Number(size) + 2)
    if (end > bytes.length) break
    whole.push({ head, bytes: bytes.subarray(at, end) })
    at = end
  }
  return { whole, rest: bytes.subarray(at) }
}

const MARKET = 'cNGN-USDC'
/** What a client may have to wait for changes whose notification was lost, on a loaded machine. */
const FEW_SECONDS = 20_000
const PER_BLOCK = 10

describe('ws-fanout when the venue loses a notification', function () {
  let nats: TestNatsServer
  let lossy: LossyNats
  let publisher: Bus
  let follower: Bus
  let rig: FanOutRig

  before(async () => {
    nats = await startNatsServer()
    lossy = await startLossyNats(nats.url)
    publisher = await connectNatsBus({ url: nats.url, name: 'test' })
    await declareFeed(publisher, MARKET)
    follower = await connectNatsBus({ url: lossy.url, name: 'ws-fanout' })
    rig = await startRig({ bus: follower })
  })
  after(async () => {
    await rig.end()
    await follower.close()
    await publisher.close()
    lossy.stop()
    await nats.stop()
  })

  it('delivers the changes within a few seconds, in order and without a gap (STR-009)', async () => {
    const changes = busyHistory(60)
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, req_id: 's' })
    await client.next(({ req_id }) => req_id === 's')
    // One of five blocks, four of them, and all, so that nothing later tells of them.
    for (const [round, blocks] of [1, 4, 5].entries()) {
      const first = round * 100
      await publishChanges(publisher, MARKET, changes.slice(first, first + 50), PER_BLOCK)
      await client.next(({ seq }) => seq === first + 50)
      lossy.lose(feedStream(MARKET), blocks)
      await publishChanges(publisher, MARKET, changes.slice(first + 50, first + 100), PER_BLOCK)
      const published = performance.now()
      await client.next(({ seq }) => seq === first + 100)
      expect(performance.now() - published).to.be.below(FEW_SECONDS)
    }
    expect(lossy.lost()).to.equal(10)
    const updates = client.frames.filter(({ type }) => type === 'update')
    expect(updates.map(({ seq }) => seq)).to.deep.equal(changes.map(({ seq }) => seq))
    expect(updates.map((it) => it.prev_seq)).to.deep.equal(changes.map(({ seq }) => seq - 1))
  })
})
