import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { runSharedMarkets, type SharedMarkets } from '../../../actors/matcher/shared-markets.js'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import {
  checkpointsStream,
  checkpointsSubject,
  feedStream,
  feedSubject,
} from '../../../bus-schemas/subjects.js'
import { CannotStart } from '../../../core/cannot-start.js'
import type { Market } from '../../../core/model/market.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { createLoopTurns } from '../../../runtime/process/loop-turns.js'
import { aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { restingOrders, type PlaceResting } from '../../support/resting-orders.js'
import { neverDecides } from './stage.js'

const COUNT = 50
/** A market may hold the loop for so long. */
const HELD_AT_MOST_MS = 50

type Line = Readonly<Record<string, unknown>>

describe('fifty markets in one process', function () {
  let bus: MemoryBus
  let markets: readonly Market[]
  let shared: SharedMarkets
  let running: Map<string, Matcher>
  let lines: Line[]
  let place: PlaceResting
  let checkpointEvery: number
  let down: string[]
  /** Ends the run of a market with an error. */
  let fails: Map<string, (error: unknown) => void>
  /** Markets that cannot start. */
  let hopeless: Set<string>

  beforeEach(() => {
    bus = createMemoryBus()
    markets = Array.from({ length: COUNT }, (_, n) =>
      aMarket({ market: `M${n}-USDC`, ordinal: n + 1, aliases: [] }),
    )
    lines = []
    down = []
    hopeless = new Set()
    place = restingOrders(() => bus)
    checkpointEvery = Infinity
  })
  afterEach(() => shared.stop())

  function start(): void {
    running = new Map()
    fails = new Map()
    const turns = createLoopTurns()
    const write = (line: string): void => void lines.push(JSON.parse(line) as Line)
    shared = runSharedMarkets({
      bus: { ...bus, answer: answerAsNats },
      logOf: (market) => createLog(market, 'info', { write }),
      onDown: (market) => down.push(market),
      pauseMs: () => 20,
      async start({ market, bus: share, log, fail }) {
        if (hopeless.has(market.market)) throw new CannotStart('its file is another’s')
        const matcher = await startMatcher({
          bus: share,
          market,
          turns,
          ask: neverDecides,
          facts: observeMatcher(log),
          nowMs: Date.now,
          tickMs: 50,
          onFatal: fail,
          checkpoints: {
            everyCommands: checkpointEvery,
            everyMs: Infinity,
            keepCommandsMs: Infinity,
          },
        })
        fails.set(market.market, fail)
        running.set(market.market, matcher)
        return matcher
      },
    })
    for (const market of markets) shared.add(market)
  }
  /** Refuses to stop a subscription that is stopped. */
  const answerAsNats: Bus['answer'] = async (...given) => {
    const subscription = await bus.answer(...given)
    let isStopped = false
    return {
      async stop() {
        if (isStopped) throw new Error('the subscription is closed')
        isStopped = true
        await subscription.stop()
      },
    }
  }
  const isLive = ({ market }: Market) => running.get(market)?.isLive() === true
  const allLive = (of = markets) => eventually(() => of.every(isLive))
  /** Each has taken one order more. */
  async function trade(of: readonly Market[]): Promise<void> {
    const before = new Map(of.map(({ market }) => [market, seqOf(market)]))
    for (const market of of) await place(market)
    await eventually(() =>
      of.every(({ market }) => seqOf(market) > (before.get(market) ?? Infinity)),
    )
  }
  const seqOf = (market: string) => running.get(market)?.positions().feed_seq ?? 0
  const restartsOf = ({ market }: Market) =>
    lines.filter(({ name, msg }) => name === market && msg === 'matcher is restarted').length
  const pick = (n: number): Market => markets[n] ?? aMarket()
  const others = (...without: readonly Market[]) => markets.filter((it) => !without.includes(it))
  const leadersOf = async ({ market }: Market) =>
    (await bus.read(feedStream(market), 1, 1_000)).flatMap(
      ({ data }) => decodeBlock(data).leader?.term ?? [],
    )

  it('trade on while one is fenced, which leads again with a later term', async () => {
    start()
    await allLive()
    await trade(markets)
    const fenced = pick(7)
    const { market } = fenced
    const place = { commandSeq: running.get(market)?.positions().command_seq ?? 0, commandIndex: 0 }
    const leader = { term: 2, id: 'another' }
    const block = { market, ...place, firstSeq: seqOf(market) + 1, changes: [], leader }
    await bus.append(feedSubject(market), encodeBlock(block))
    await eventually(() => restartsOf(fenced) === 1)
    await trade(others(fenced))
    await allLive()
    await trade(markets)
    expect(await leadersOf(fenced)).to.deep.equal([1, 2, 3])
    expect(markets.filter((it) => restartsOf(it) > 0)).to.deep.equal([fenced])
    const said = lines.filter(({ name, level }) => name === market && level === 'fatal')
    expect(said.map(({ err }) => (err as Line).type)).to.deep.equal(['Fenced'])
    // Else its timers and its questions to the executor would go on.
    expect(lines.filter(({ msg }) => msg === 'a market was not stopped in order')).to.deep.equal([])
  })

  it('trade on while a feed of one breaks an invariant, of which nothing is written any more', async () => {
    start()
    await allLive()
    await trade(markets)
    await shared.stop()
    const broken = pick(3)
    // A feed that holds what its log does not give.
    const end = await bus.lastMessage(feedStream(broken.market))
    await bus.append(feedSubject(broken.market), end?.data ?? new Uint8Array())
    const { lastSeq } = await bus.streamState(feedStream(broken.market))
    start()
    await allLive(others(broken))
    await eventually(() => restartsOf(broken) >= 3)
    await trade(others(broken))
    expect(isLive(broken)).to.equal(false)
    expect((await bus.streamState(feedStream(broken.market))).lastSeq).to.equal(lastSeq)
    expect(markets.filter((it) => restartsOf(it) > 0)).to.deep.equal([broken])
  })

  it('trade on while one cannot start, which stays down and says so once', async () => {
    start()
    await allLive()
    const stopped = pick(5)
    const log = lines.filter(({ name }) => name === stopped.market).length
    hopeless.add(stopped.market)
    fails.get(stopped.market)?.(new Error('ended'))
    await eventually(() => expect(down).to.deep.equal([stopped.market]))
    // Each of the others is restarted meanwhile, after the pause of the one that stays down.
    for (const each of others(stopped)) fails.get(each.market)?.(new Error('ended'))
    await eventually(() => others(stopped).every((each) => restartsOf(each) === 1))
    await allLive(others(stopped))
    await trade(others(stopped))
    const said = lines.filter(({ name }) => name === stopped.market).slice(log)
    expect(said.filter(({ msg }) => msg === 'failed')).to.have.length(6)
    expect(said.slice(-3).map(({ level, msg }) => [level, msg])).to.deep.equal([
      ['fatal', 'failed'],
      ['info', 'stopped'],
      ['error', 'matcher stays down until what its last line says is mended'],
    ])
    expect(down).to.deep.equal([stopped.market])
  })

  it('trade on while the checkpoint of one is damaged, which starts without it', async () => {
    checkpointEvery = 2
    start()
    await allLive()
    const damaged = pick(11)
    await place(damaged, 4)
    await eventually(async () => (await listCheckpoints(bus, damaged.market)).length > 0)
    await shared.stop()
    const stream = checkpointsStream(damaged.market)
    const { firstSeq, lastSeq } = await bus.streamState(stream)
    const parts = await bus.read(stream, firstSeq, lastSeq)
    for (const [at, { data }] of parts.entries()) {
      const flipped = data.map((byte, i) => (at === 0 && i === 60 ? byte ^ 4 : byte))
      await bus.append(checkpointsSubject(damaged.market), flipped)
    }
    lines = []
    start()
    await allLive()
    await trade(markets)
    const unusable = lines.filter(({ msg }) => /checkpoint not usable/.test(String(msg)))
    expect(new Set(unusable.map(({ name }) => name))).to.deep.equal(new Set([damaged.market]))
    expect(markets.filter((it) => restartsOf(it) > 0)).to.deep.equal([])
  })

  it('let the loop go every 50 ms of processor time, while a large one replays, writes a checkpoint and is restored', async () => {
    checkpointEvery = 100
    start()
    await allLive()
    const large = pick(0)
    await shared.stop()
    for (let n = 0; n < 80; n += 1) await place(large, 256)
    const replaying = watchTurns()
    start()
    await eventually(() => isLive(large))
    await place(large, 100)
    await eventually(async () => (await listCheckpoints(bus, large.market)).length > 0)
    await shared.stop()
    const written = replaying()
    const restoring = watchTurns()
    start()
    await allLive()
    const restored = restoring()
    expect(lines.filter(({ msg }) => msg === 'state restored from a checkpoint')).to.have.length(1)
    expect(written, 'replay and checkpoint').to.be.at.most(HELD_AT_MOST_MS)
    expect(restored, 'restored').to.be.at.most(HELD_AT_MOST_MS)
  })
})

/** Watches the turns of the loop; gives the most processor time of this thread that one took, in milliseconds. */
function watchTurns(): () => number {
  let isOver = false
  let before = threadMs()
  let longest = 0
  const look = (): void => {
    const now = threadMs()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(look)
  }
  setImmediate(look)
  return () => {
    isOver = true
    return longest
  }
}

/** Processor time of the main thread in milliseconds: it does not pass while other programs run. */
function threadMs(): number {
  const [ns = '0'] = readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')
  return Number(ns) / 1e6
}
