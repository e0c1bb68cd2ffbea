import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { registerMarkets } from '../../support/registered.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket, testAddresses } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { declareFeed, publishChanges } from '../../support/fan-out-rig.js'
import { freePort } from '../../support/free-port.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { busyHistory } from '../../support/random-history.js'
import { connectSocket, type SocketClient } from '../../support/socket-client.js'
import { tempDir } from '../../support/temp-dir.js'

const MARKET = 'cNGN-USDC'
const main = inProject('bundle/actors/ws-fanout/main.js')

describe('ws-fanout process', function () {
  before(provideBundles)
  let nats: TestNatsServer
  let bus: Bus
  let port: number
  let child: ChildProcess
  const clients: SocketClient[] = []
  const dir = tempDir()

  before(async () => {
    nats = await startNatsServer()
    bus = await connectNatsBus({ url: nats.url, name: 'test' })
    await declareFeed(bus, MARKET)
    await registerMarkets(bus, [aMarket()])
    await writeFile(join(dir.path, 'deployment.json'), JSON.stringify(testAddresses))
    port = await freePort()
  })
  after(async () => {
    for (const client of clients) client.ws.terminate()
    child.kill('SIGKILL')
    await bus.close()
    await nats.stop()
    dir.remove()
  })

  // A process that outlives its test would keep the port.
  afterEach(() => child.kill('SIGKILL'))

  const environment = () => ({
    WS_FANOUT_PORT: `${port}`,
    NATS_URL: nats.url,
    DEPLOYMENT_FILE: join(dir.path, 'deployment.json'),
    ALIAS_CUTOFF: '2100-01-01T00:00:00Z',
  })

  async function start(): Promise<void> {
    const env = { ...environment(), LOG_LEVEL: 'silent' }
    child = spawn(process.execPath, [main], { env, stdio: 'ignore' })
    await eventually(async () => {
      const answer = await bus
        .ask(askPing('ws-fanout'), new Uint8Array(), 500)
        .catch(() => undefined)
      return answer !== undefined && decodePingAnswer(answer).ready
    })
  }

  async function subscribe(sinceSeq?: number): Promise<SocketClient> {
    const client = await connectSocket(`ws://127.0.0.1:${port}/v1/ws`)
    clients.push(client)
    const since = sinceSeq === undefined ? {} : { since_seq: sinceSeq }
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, ...since })
    return client
  }

  it('goes on byte for byte after it was killed, and stops cleanly when told (STR-007)', async () => {
    const changes = busyHistory(100)
    await start()
    const live = await subscribe()
    await live.next(({ type }) => type === 'snapshot')
    await publishChanges(bus, MARKET, changes.slice(0, 300), 7)
    await live.next(({ seq }) => seq === 300)
    child.kill('SIGKILL')
    await live.closed
    await publishChanges(bus, MARKET, changes.slice(300), 7)
    await start()

    const resumed = await subscribe(100)
    await resumed.next(({ seq }) => seq === changes.length)
    expect(resumed.frames.map(({ seq }) => seq)).to.deep.equal(
      changes.slice(100).map(({ seq }) => seq),
    )
    expect(resumed.texts.slice(0, 200)).to.deep.equal(live.texts.slice(101))
    const alias = await connectSocket(`ws://127.0.0.1:${port}/v1/ws`)
    clients.push(alias)
    alias.send({ op: 'subscribe', channel: 'trades', market: 'USDCcNGN-SPOT' })
    expect(await alias.next(({ type }) => type === 'snapshot')).to.include({ market: MARKET })

    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    expect(await resumed.closed).to.equal(1001)
    expect(await exited).to.deep.equal([0, null])
  })

  it('shares its port among workers, of which one may be killed', async () => {
    const env = { ...environment(), LOG_LEVEL: 'info', WS_FANOUT_WORKERS: '2' }
    child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const lines: { readonly msg: string; readonly worker_pid?: number }[] = []
    createInterface({ input: child.stdout as Readable }).on('line', (line) =>
      lines.push(JSON.parse(line) as (typeof lines)[number]),
    )
    const said = (text: string) => lines.filter(({ msg }) => msg === text)
    await eventually(() => said('listening').length === 2)

    const members = await Promise.all(Array.from({ length: 8 }, () => subscribe()))
    const closed = new Set<SocketClient>()
    for (const client of members) {
      await client.next(({ type }) => type === 'snapshot')
      void client.closed.then(() => closed.add(client))
    }
    process.kill(said('worker started')[0]?.worker_pid ?? 0, 'SIGKILL')
    await eventually(() => said('worker ended').length === 1)
    for (const client of members) client.send({ op: 'ping' })
    const isServed = (client: SocketClient) => client.frames.some(({ type }) => type === 'pong')
    await eventually(() => members.every((client) => closed.has(client) || isServed(client)))
    const spared = members.filter(isServed)
    expect(spared).to.have.length.within(1, 7)
    await eventually(() => said('listening').length === 3)
    for (let n = 0; n < 4; n += 1) {
      const late = await subscribe()
      await late.next(({ type }) => type === 'snapshot')
    }

    const exited = once(child, 'exit')
    child.kill('SIGTERM')
    for (const client of spared) expect(await client.closed).to.equal(1001)
    expect(await exited).to.deep.equal([0, null])
    const pids = said('worker started').map(({ worker_pid: pid }) => pid ?? 0)
    expect(pids).to.have.length(3)
    for (const pid of pids) expect(() => process.kill(pid, 0)).to.throw('ESRCH')
  })

  it('closes the sockets of its workers with 1001 when it is killed itself', async () => {
    const env = { ...environment(), LOG_LEVEL: 'info', WS_FANOUT_WORKERS: '2' }
    child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    let listening = 0
    createInterface({ input: child.stdout as Readable }).on('line', (line) => {
      if (line.includes('"msg":"listening"')) listening += 1
    })
    await eventually(() => listening === 2)
    const members = await Promise.all(Array.from({ length: 4 }, () => subscribe()))
    for (const client of members) await client.next(({ type }) => type === 'snapshot')
    child.kill('SIGKILL')
    for (const client of members) expect(await client.closed).to.equal(1001)
  })
})
