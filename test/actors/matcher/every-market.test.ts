import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/model/market.js'
import { identify } from '../../../devnet/launcher/pids.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startIdleExecutor, type IdleExecutor } from '../../support/idle-executor.js'
import { registerMarkets } from '../../support/registered.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'

const main = inProject('bundle/actors/matcher/main.js')
const isGone = (pid: number) => identify(pid) === undefined

const REGISTERED = ['cNGN-USDC']

describe('the matchers of the registered markets as processes', function () {
  before(provideBundles)
  let server: TestNatsServer
  let executor: IdleExecutor
  const running: ChildProcess[] = []
  before(async () => {
    server = await startNatsServer()
    executor = await startIdleExecutor()
    await register(aMarket())
  })
  afterEach(() => {
    for (const child of running.splice(0)) child.kill('SIGKILL')
  })
  after(async () => {
    await server.stop()
    await executor.stop()
  })

  /** Starts the program without MARKET; resolves when every market's matcher is ready. */
  async function start() {
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        NATS_URL: server.url,
        EXECUTOR_URL: executor.url,
        EXECUTOR_SECRET: 's'.repeat(32),
      },
    })
    running.push(child)
    let log = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (log += text))
    const pids = () => [...log.matchAll(/"pid":(\d+),"msg":"matcher started"/g)].map(pidOf)
    await untilReady()
    return { child, pids, log: () => log }
  }
  const pidOf = ([, pid]: RegExpMatchArray): number => Number(pid)

  async function register(market: Market) {
    const bus = await connectNatsBus({ url: server.url, name: 'test' })
    await registerMarkets(bus, [market])
    await bus.close()
  }

  async function untilReady(...markets: string[]) {
    const bus = await connectNatsBus({ url: server.url, name: 'test' })
    for (const market of [...REGISTERED, ...markets]) {
      await eventually(async () => {
        const answer = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), 500)
        expect(decodePingAnswer(answer).ready).to.equal(true)
      })
    }
    await bus.close()
  }

  it('are started for every registered market, again after a crash, and end in order on SIGTERM', async () => {
    const { child, pids, log } = await start()
    const [first = 0] = pids()
    expect(pids()).to.have.length(REGISTERED.length)
    process.kill(first, 'SIGKILL')
    await eventually(() => pids().length > REGISTERED.length)
    await untilReady()
    child.kill('SIGTERM')
    expect(await once(child, 'close')).to.deep.equal([0, null])
    expect(pids().every(isGone)).to.equal(true)
    expect(log()).to.match(/"name":"matcher-[^"]+".*"reason":"(SIGTERM|parent gone)"/)
  })

  it('are started of markets that are registered later, and once, in the one process of those that are not busy', async () => {
    const { child, pids } = await start()
    await register(aMarket({ market: 'B', ordinal: 1, aliases: [], subId: 1n }))
    await untilReady('B')
    await register(aMarket({ aliases: ['NEW'] }))
    await register(aMarket({ market: 'C', ordinal: 2, aliases: [], subId: 2n }))
    await untilReady('B', 'C')
    expect(pids()).to.have.length(2)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).to.deep.equal([0, null])
  })

  it('end when the program that started them is killed', async () => {
    const { child, pids } = await start()
    child.kill('SIGKILL')
    await eventually(() => pids().every(isGone))
  })
})
