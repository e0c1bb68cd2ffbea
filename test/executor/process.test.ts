import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { encodeKnownOrdersAnswer, encodeSettlementVerdict } from '../../bus-schemas/settlements.js'
import { askKnownOrders, askSettlement } from '../../bus-schemas/subjects.js'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { executorEnv } from '../../executor/config.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { registerMarkets } from '../support/registered.js'
import { loadDeployedMarkets } from '../../data/markets.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { parseEnv } from '../../runtime/process/config.js'
import { ONE, signOrder } from '../support/devnet-actions.js'
import { openWorld, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import { executeBody, EXECUTOR_KEY, removeDir, temporaryDir } from '../support/executor-world.js'
import { startNatsServer, type TestNatsServer } from '../support/nats-server.js'

const MAIN = inProject('bundle/executor/main.js')

const SECRET = 'hush'.repeat(10)
const settings = {
  NATS_URL: 'nats://127.0.0.1:4322',
  EXECUTOR_PRIVATE_KEY: EXECUTOR_KEY,
  RPC_URL: 'http://127.0.0.1:8645',
  DEPLOYMENT_FILE: 'devnet.json',
  DATA_DIR: 'var',
}

describe('executor settings', () => {
  it('have defaults for all that is not secret or a place', () => {
    const config = parseEnv(executorEnv, settings)
    expect(config).to.include({ EXECUTOR_HOST: '127.0.0.1', EXECUTOR_PORT: 8081 })
    expect(config.EXECUTOR_SECRET).to.equal(undefined)
  })

  it('name a bad key without showing it', () => {
    const bad = { ...settings, EXECUTOR_PRIVATE_KEY: '0xnotakey' }
    const error: unknown = (() => {
      try {
        return parseEnv(executorEnv, bad)
      } catch (thrown) {
        return thrown
      }
    })()
    expect((error as Error).message).to.match(/EXECUTOR_PRIVATE_KEY must be 0x and 64 hex digits/)
    expect((error as Error).message).to.not.include('0xnotakey')
  })
})

describe('executor process', () => {
  before(provideBundles)
  let world: World
  let nats: TestNatsServer
  let dir: string
  let child: ChildProcess
  let output = ''

  before(async () => {
    world = await openWorld()
    nats = await startNatsServer()
    dir = await temporaryDir()
    const deployment = join(dir, 'devnet.json')
    await writeFile(deployment, JSON.stringify(world.at))
    const bus = await connectNatsBus({ url: nats.url, name: 'test' })
    await registerMarkets(bus, loadDeployedMarkets({ DEPLOYMENT_FILE: deployment }).markets)
    await bus.close()
  })
  after(async () => {
    child.kill('SIGKILL')
    await removeDir(dir)
    await world.anvil.stop()
    await nats.stop()
  })

  async function start(): Promise<string> {
    output = ''
    const env = {
      ...settings,
      NATS_URL: nats.url,
      RPC_URL: world.anvil.rpcUrl,
      DEPLOYMENT_FILE: join(dir, 'devnet.json'),
      DATA_DIR: join(dir, 'data'),
      EXECUTOR_PORT: '0',
      EXECUTOR_SECRET: SECRET,
      LOG_LEVEL: 'trace',
    }
    child = spawn(process.execPath, [MAIN], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
    await eventually(() => /"url":"[^"]+"/.test(output))
    return /"url":"([^"]+)"/.exec(output)?.[1] ?? ''
  }

  /** Stands in for the venue, which knows none of the orders. */
  async function answerAsMarket(): Promise<Bus> {
    const bus = await connectNatsBus({ url: nats.url, name: 'market' })
    const verdict = encodeSettlementVerdict({ kind: 'left', unknown: [0, 1] })
    await bus.answer(askSettlement('cNGN-USDC'), 'market', (_, to) => bus.reply(to, verdict))
    const known = encodeKnownOrdersAnswer({ known: [false, false] })
    await bus.answer(askKnownOrders, 'intake', (_, to) => bus.reply(to, known))
    return bus
  }

  async function settle(url: string): Promise<unknown> {
    const taker = await signOrder(world, world.alice, { isBid: true })
    const maker = await signOrder(world, world.bob, { isBid: false })
    const response = await fetch(`${url}/execute`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${SECRET}`,
        'content-type': 'application/json',
        'idempotency-key': 'outside-1',
      },
      body: JSON.stringify(executeBody({ taker, makers: [maker], amount: ONE })),
    })
    return response.json()
  }

  it('starts from its environment, settles, keeps secrets out of its log and stops on SIGTERM (OPE-037)', async () => {
    const bus = await answerAsMarket()
    const url = await start()
    expect(await settle(url)).to.include({ receipt_status: 'success' })
    await bus.close()
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(code).to.equal(0)
    expect(output).to.include('settlement confirmed').and.to.include('"settlement_id":"outside-1"')
    // Nothing is longer than a hash: no calldata, no signature, no signed bytes.
    expect(output).to.not.match(/hushhush|[0-9a-f]{65}/)
    expect(output).to.not.include(EXECUTOR_KEY.slice(2))
  })

  it('leaves the journal free when it is killed', async () => {
    await start()
    child.kill('SIGKILL')
    await once(child, 'exit')
    const url = await start()
    const answer = await fetch(`${url}/healthz`)
    expect(answer.status).to.equal(200)
  })
})
