import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { decodePingAnswer, type PingAnswer } from '../../../bus-schemas/operations.js'
import { askPing } from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/model/market.js'
import { provideBundles } from '../../../devnet/bundle.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startIdleExecutor, type IdleExecutor } from '../../support/idle-executor.js'
import { restingOrders, type PlaceResting } from '../../support/resting-orders.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { registerMarkets } from '../../support/registered.js'

const COUNT = 50
/** Enough for fifty markets, and not for the orders of the heavy one. */
const HEAP_MIB = 64
const HEAVY_MESSAGES = 300
const ORDERS_A_MESSAGE = 256
const WITHIN_MS = 120_000

const markets: readonly Market[] = Array.from({ length: COUNT }, (_, n) =>
  aMarket({ market: `M${n}-USDC`, ordinal: n + 1, aliases: [], subId: BigInt(n) }),
)

describe('fifty markets in one real process', function () {
  before(provideBundles)
  let server: TestNatsServer
  let executor: IdleExecutor
  let bus: Bus
  let parent: ChildProcess
  let log: string
  let place: PlaceResting

  beforeEach(async () => {
    server = await startNatsServer()
    executor = await startIdleExecutor()
    bus = await connectNatsBus({ url: server.url, name: 'test' })
    await registerMarkets(bus, markets)
    place = restingOrders(() => bus)
    log = ''
    const args = [`--max-old-space-size=${HEAP_MIB}`, inProject('bundle/actors/matcher/main.js')]
    parent = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: {
        NATS_URL: server.url,
        EXECUTOR_URL: executor.url,
        EXECUTOR_SECRET: 's'.repeat(32),
      },
    })
    parent.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text))
    await allReady(markets)
  })
  afterEach(async () => {
    parent.kill('SIGKILL')
    await bus.close()
    await server.stop()
    await executor.stop()
  })

  async function ping({ market }: Market): Promise<PingAnswer | undefined> {
    try {
      const answer = await bus.ask(askPing(`matcher-${market}`), new Uint8Array(), 1_000)
      return decodePingAnswer(answer)
    } catch (error) {
      if (error instanceof NoAnswer) return undefined
      throw error
    }
  }
  const allReady = (of: readonly Market[]) =>
    eventually(async () => {
      const answers = await Promise.all(of.map(ping))
      return answers.every((answer) => answer?.ready === true)
    }, WITHIN_MS)
  /** Each takes one order more. */
  async function trade(of: readonly Market[]): Promise<void> {
    const seqs = async () => (await Promise.all(of.map(ping))).map((it) => it?.positions.feed_seq)
    const before = await seqs()
    for (const market of of) await place(market)
    await eventually(async () => {
      const now = await seqs()
      return now.every((seq, n) => (seq ?? 0) > (before[n] ?? Infinity))
    }, WITHIN_MS)
  }
  /** Processes that share, by their starts. */
  const shared = (): number[] =>
    [...log.matchAll(/"shared":true,"pid":(\d+),"msg":"matcher started"/g)].map(([, pid]) =>
      Number(pid),
    )

  it('trade on after their loop stood still for five seconds', async () => {
    const [pid = 0] = shared()
    await trade(markets)
    process.kill(pid, 'SIGSTOP')
    await new Promise((resolve) => setTimeout(resolve, 5_000))
    process.kill(pid, 'SIGCONT')
    await allReady(markets)
    await trade(markets)
    expect(shared()).to.deep.equal([pid])
    expect(log).to.not.include('"level":"fatal"')
  })

  it('trade on but for one that exhausts the heap, which gets a process of its own', async () => {
    const [heavy = aMarket(), ...others] = markets
    await trade(markets)
    for (let n = 0; n < HEAVY_MESSAGES; n += 1) await place(heavy, ORDERS_A_MESSAGE)
    await eventually(
      () => log.includes('a market has ended its process twice, it gets one of its own'),
      WITHIN_MS,
    )
    await allReady(others)
    const running = shared()
    await trade(others)
    expect(shared()).to.deep.equal(running)
    // A step of another may be the one for which the heap has no room left, once.
    const parted = [
      ...log.matchAll(/"market":"([^"]+)","msg":"a market has ended its process twice/g),
    ]
    expect(parted.map(([, market]) => market)).to.deep.equal([heavy.market])
  })
})
