import { expect } from 'chai'
import { startChainReader, type ChainReader } from '../../../actors/chain-reader/start.js'
import { checkpointsStream, commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import { TICK_AFTER_MS } from '../../../core/model/limits.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import { decodeCommands } from '../../support/spot-log.js'
import { fakeChain } from '../chain-reader/fake-chain.js'
import { startOn, type StartedMatcher } from './stage.js'

const MARKETS = Array.from({ length: 50 }, (_, n) =>
  aMarket({ market: `M${n}-USDC`, ordinal: n + 1 }),
)
const SECONDS = 60

describe('fifty idle markets', () => {
  let bus: MemoryBus
  let clockMs: number
  let started: StartedMatcher[]
  let reader: ChainReader | undefined
  const fatal: unknown[] = []
  /** When each matcher, and the chain reader, has last looked at the clock. */
  let lookedAtMs: Map<string, number>

  beforeEach(async () => {
    clockMs = Date.now()
    lookedAtMs = new Map()
    bus = createMemoryBus({ nowMs: () => clockMs })
    started = []
    for (const market of MARKETS) {
      const nowMs = () => {
        lookedAtMs.set(market.market, clockMs)
        return clockMs
      }
      started.push(await startOn(bus.connect(), { market, nowMs, tickMs: 10 }))
    }
  })
  afterEach(async () => {
    await reader?.stop()
    reader = undefined
    for (const each of started) await each.matcher.stop()
    expect([...fatal, ...started.flatMap((each) => each.fatal)]).to.deep.equal([])
  })

  async function startReader(): Promise<() => void> {
    const chain = fakeChain()
    const readHead = async () => {
      const head = await chain.readHead()
      lookedAtMs.set('chain-reader', clockMs)
      return { ...head, timestamp: BigInt(Math.floor(clockMs / 1_000)) }
    }
    reader = await startChainReader({
      ...{ bus: bus.connect(), markets: MARKETS, chain: { ...chain, readHead } },
      observe: (_, id, head) => chain.observe(id, { ...head, parentHash: '0x' }),
      ...{ nowMs: () => clockMs, log: silentLog, pollMs: 5, onFatal: (error) => fatal.push(error) },
    })
    return () => chain.mine()
  }
  /** A second after the other, in each of which every process looks at its clock. */
  async function pass(seconds: number, mine: () => void = () => undefined): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      clockMs += 1_000
      if (second % 2 === 0) mine()
      await eventually(() => [...lookedAtMs.values()].every((atMs) => atMs === clockMs))
    }
  }
  async function appended(): Promise<number> {
    let sum = 0
    for (const { market } of MARKETS)
      for (const stream of [commandsStream, feedStream, checkpointsStream])
        sum += (await bus.streamState(stream(market))).lastSeq
    return sum
  }
  const kindsSince = async (fromSeq: number, market: string) =>
    (await bus.read(commandsStream(market), fromSeq, 1_000))
      .flatMap(({ data }) => decodeCommands(data))
      .map(({ command }) => command.kind)

  it('append at most five messages a second in all (OPE-052)', async () => {
    const mine = await startReader()
    await pass(25, mine)
    const before = await appended()
    await pass(SECONDS, mine)
    expect((await appended()) - before).to.be.at.most(5 * SECONDS)
    const kinds = await kindsSince(3, MARKETS[0]?.market ?? '')
    expect(new Set(kinds)).to.deep.equal(new Set(['ClockObserved']))
  })

  it('get a tick each half minute when no clock is compared (OPE-051)', async () => {
    const halfMinute = TICK_AFTER_MS / 1_000
    for (const before of [await appended(), (await appended()) + MARKETS.length]) {
      // A tick may be stamped in the second after the one in which it was due.
      await pass(halfMinute - 2)
      expect(await appended()).to.equal(before)
      await pass(3)
      await eventually(async () => expect(await appended()).to.equal(before + MARKETS.length))
    }
  })
})
