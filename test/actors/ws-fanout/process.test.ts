import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { testAddresses } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { declareFeed, publishChanges } from '../../support/fan-out-rig.js'
import { freePort } from '../../support/free-port.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { busyHistory } from '../../support/random-history.js'
import { connectSocket, type SocketClient } from '../../support/socket-client.js'
import { tempDir } from '../../support/temp-dir.js'

const MARKET = 'cNGN-USDC'
const main = fileURLToPath(new URL('../../../actors/ws-fanout/main.js', import.meta.url))

describe('ws-fanout process', function () {
  this.timeout(120_000)
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

  async function start(): Promise<void> {
    const env = {
      WS_FANOUT_PORT: `${port}`,
      NATS_URL: nats.url,
      DEPLOYMENT_FILE: join(dir.path, 'deployment.json'),
      LOG_LEVEL: 'silent',
    }
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

  it('goes on byte for byte after it was killed, and stops cleanly when told', async () => {
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
})
