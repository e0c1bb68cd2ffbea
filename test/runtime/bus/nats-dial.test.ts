import { expect } from 'chai'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus, OPEN_WITHIN_MS } from '../../../runtime/bus/nats-bus.js'
import { backOff } from '../../../runtime/bus/nats-dial.js'
import { eventually } from '../../support/eventually.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'

/** The way to a server, as it is while the server is frozen: clients are accepted, and hear nothing before it goes on. */
async function wayTo(url: string) {
  const { port } = new URL(url)
  const sockets = new Set<Socket>()
  let held: Socket[] = []
  let accepted = 0
  let isFrozen = false
  const link = (client: Socket) => {
    const server = connect(Number(port), '127.0.0.1')
    client.pipe(server).pipe(client)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => one.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  }
  const way = createServer((client) => {
    accepted += 1
    if (isFrozen) held.push(client)
    else link(client)
  }).listen(0, '127.0.0.1')
  await once(way, 'listening')
  return {
    url: `nats://127.0.0.1:${(way.address() as AddressInfo).port}`,
    accepted: () => accepted,
    freeze: () => {
      isFrozen = true
      for (const socket of sockets) socket.destroy()
    },
    thaw: () => {
      isFrozen = false
      held.forEach(link)
      held = []
    },
    close: () => {
      for (const socket of [...sockets, ...held]) socket.destroy()
      way.close()
    },
  }
}

describe('a client of the bus', () => {
  let server: TestNatsServer
  let way: Awaited<ReturnType<typeof wayTo>>
  const buses: Bus[] = []
  before(async () => {
    server = await startNatsServer()
    way = await wayTo(server.url)
  })
  after(async () => {
    for (const bus of buses) await bus.close()
    way.close()
    await server.stop()
  })
  const clients = async () => {
    const answer = await fetch(`${server.monitorUrl}/varz`)
    return ((await answer.json()) as { connections: number }).connections
  }
  const open = async () => {
    const bus = await connectNatsBus({ url: way.url, name: 'test' })
    buses.push(bus)
    return bus
  }

  it('has one connection after a server was frozen for several attempts', async () => {
    const bus = await open()
    const before = way.accepted()
    way.freeze()
    await eventually(() => way.accepted() >= before + 3)
    expect(bus.isConnected()).to.equal(false)
    way.thaw()
    await eventually(() => bus.isConnected(), 10_000)
    await eventually(async () => (await clients()) === 1, 10_000)
    expect(bus.isConnected()).to.equal(true)
  })

  it('starts at a server that is frozen, once that goes on', async () => {
    const before = way.accepted()
    way.freeze()
    const opening = open()
    // One more is that of the client that is connected already.
    await eventually(() => way.accepted() >= before + 4)
    way.thaw()
    expect((await opening).isConnected()).to.equal(true)
    await eventually(async () => (await clients()) === 2, 10_000)
  })

  it('leaves alone what a handler of a question opens to another server', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const bus = await connectNatsBus({ url: server.url, name: 'asked' })
    buses.push(bus)
    const opened = new Promise<Socket>((resolve) => {
      const answer = () => resolve(connect((other.address() as AddressInfo).port, '127.0.0.1'))
      void bus.answer('ask.something', 'asked', answer).then(() => {
        void bus.ask('ask.something', new Uint8Array(), 100).catch(() => undefined)
      })
    })
    const socket = await opened
    // A server of the bus would have had to greet the client and to take it meanwhile.
    await delay(OPEN_WITHIN_MS + 1_000)
    expect(socket.destroyed).to.equal(false)
    socket.destroy()
    other.close()
  })

  it('tries soon, and less and less often', () => {
    expect([0, 300, 1_000, 60_000].map(backOff)).to.deep.equal([200, 200, 500, 2_000])
  })
})
