import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import type { Address } from '../../core/action.js'
import { armCrashPoints } from '../../core/crash-point.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { chooseTroubles, createAdversary, type Stage, type Troubles } from './adversary.js'
import { answerRpc } from './chain-rpc.js'
import { createChain, type SimulatedChain } from './chain.js'
import { createBlameCheck } from './blame-check.js'
import { allow, AT, CHAIN_ID, type ChainState } from './chain-state.js'
import { fillKey } from './contracts.js'
import { readJournal, type JournalReader } from './executor-journal.js'
import { createFeedAudit, type FeedAudit } from './feed-audit.js'
import { areReadsLevel, checkAtRest, checkReadsMeanwhile } from './final-checks.js'
import { createFollower } from './followers.js'
import { runOn } from './host.js'
import { KINDS, planMarkets, type Kind, type MarketPlan } from './markets.js'
import { createNetwork } from './network.js'
import { createOperator } from './operator.js'
import { supervise, type SimulatedProcess, type SupervisorOptions } from './process.js'
import { createRandom, type Random } from './random.js'
import { askExecutor, askNode } from './requests.js'
import { createTraders, endow, makeTraders, type SentOrder } from './traders.js'
import {
  chainReaderSpec,
  EXECUTOR_KEY,
  EXECUTOR_URL,
  executorSpec,
  fanOutSpec,
  intakeSpec,
  matcherSpec,
  projectorSpec,
} from './venue.js'
import { createWorld, EPOCH_MS, type World } from './world.js'

export interface SimulationOptions {
  readonly seed: number
  readonly steps: number
  /** One market of each of these kinds; all by default. */
  readonly kinds?: readonly Kind[] | undefined
  /** Sees every line of the trace. */
  readonly onNote?: (line: string) => void
}

export interface Finding {
  readonly what: string
  readonly atMs: number
  readonly detail: unknown
}

export interface SimulationResult {
  readonly seed: number
  readonly findings: readonly Finding[]
  /** Equal for equal seeds. */
  readonly hash: string
  readonly orders: number
  /** By market. */
  readonly fills: ReadonlyMap<string, number>
  /** Matches that failed at a signature. */
  readonly refusedSignatures: number
  readonly events: number
  readonly elapsedMs: number
}

const E18 = 10n ** 18n
const BLOCK_TIME_MS = 2_000
const MEAN_STEP_MS = 250
/** How many of the deployments settle through the batch executor. */
const BATCHES = 2 / 3
/** What a match may use; of the dearer ones a transaction has room for two. */
const MATCH_GAS = [300_000n, 300_000n, 2_500_000n]
/** Steps between two looks at the reads. */
const READS_EVERY = 10
const REST_SLICE_MS = 1_000
const REST_WITHIN_MS = 240_000
/** The executor believes that a block is gone only when it was told so three times, two seconds apart. */
const LEAST_REST_MS = 15_000

/** Runs a whole venue through one seed's troubles, lets it come to rest, and says what did not hold. */
export async function simulate(options: SimulationOptions): Promise<SimulationResult> {
  const directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'sim-'))
  try {
    return await runIn(directory, options)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

async function runIn(directory: string, options: SimulationOptions): Promise<SimulationResult> {
  const { seed, steps } = options
  const world = createWorld({ onNote: options.onNote })
  const random = createRandom(seed)
  const findings: Finding[] = []
  const onFinding = (what: string, detail: unknown): void => {
    if (findings.length === 0) world.note(`FINDING ${what}`)
    findings.push({ what, atMs: world.elapsedMs(), detail })
  }
  const strayed = (error: unknown): void => {
    const actor = world.acting()
    if (actor === undefined) onFinding('a rejection outside of any event', error)
    else if (actor.alive) actor.onFailure(error)
  }
  process.on('unhandledRejection', strayed)
  const log = options.onNote === undefined ? silent : logTo(world)
  const troubles = chooseTroubles(random)
  world.note(`seed ${seed} ${JSON.stringify(troubles)}`)
  const { kinds = KINDS } = options
  const venue = build({ world, random, directory, onFinding, log, troubles, kinds })
  try {
    const adversary = createAdversary(venue.stage, random.fork(), troubles)
    for (let step = 0; step < steps && findings.length === 0; step++) {
      adversary.step()
      await world.run(random.int(2 * MEAN_STEP_MS))
      for (const audit of venue.audits) await audit.advance()
      checkFilledOnChain(venue)
      if (step % READS_EVERY === 0) checkReadsMeanwhile({ ...venue, directory })
    }
    adversary.relent()
    if (findings.length === 0) await comeToRest(venue)
    if (findings.length === 0) await checkAtRest({ ...venue, ...venue.stage, directory, onFinding })
  } catch (error) {
    onFinding('the simulation itself failed', error)
  } finally {
    process.off('unhandledRejection', strayed)
    venue.end()
  }
  return {
    seed,
    findings,
    hash: world.hash(),
    events: world.events(),
    orders: venue.audits.reduce((sum, { orders }) => sum + orders.size, 0),
    fills: new Map(venue.audits.map(({ market, fills }) => [market.market, fills.length])),
    refusedSignatures: venue.audits.reduce((sum, audit) => sum + audit.refusedSignatures(), 0),
    elapsedMs: world.elapsedMs(),
  }
}

/** Unwinds the step in which a process died. */
class CrashedAt extends Error {
  override readonly name = 'CrashedAt'
}

const nothing = (): void => undefined
const silence = { trace: nothing, debug: nothing, info: nothing, isLevelEnabled: () => false }
const silent = (): Logger =>
  Object.assign({ warn: nothing, error: nothing, fatal: nothing }, silence) as Logger

/** Every line of a process's log goes to the observer. */
const logTo =
  (world: World) =>
  (process: string): Logger => {
    const line = (fields: unknown, text?: unknown): void => {
      const shown = JSON.stringify(fields, (_, value: unknown) =>
        value instanceof Error ? `${value.name}: ${value.message}` : value,
      )
      world.tell(`${process}: ${typeof text === 'string' ? text : ''} ${shown}`)
    }
    const levels = { trace: line, debug: line, info: line, warn: line, error: line, fatal: line }
    return Object.assign({ isLevelEnabled: () => true }, levels) as Logger
  }

/** Simulations that this process has begun. */
let runs = 0

interface Parts {
  readonly world: World
  readonly random: ReturnType<typeof createRandom>
  readonly directory: string
  readonly troubles: Troubles
  readonly kinds: readonly Kind[]
  readonly log: (process: string) => Logger
  readonly onFinding: (what: string, detail: unknown) => void
}

interface Venue {
  readonly world: World
  readonly server: MemoryBus
  readonly chain: SimulatedChain
  readonly audits: readonly FeedAudit[]
  readonly journal: JournalReader
  readonly stage: Stage
  readonly isLevel: () => Promise<boolean>
  /** Whether an operator is called. */
  readonly isAlarming: () => boolean
  readonly onFinding: (what: string, detail: unknown) => void
  end(): void
}

/** The matcher of a market; in some seeds with a standby. */
function startMatchers(supervisor: SupervisorOptions, plan: MarketPlan, market: string) {
  const matchers = [supervise(supervisor, matcherSpec(plan, market, false))]
  if (supervisor.network.random.chance(0.4)) {
    matchers.push(supervise(supervisor, matcherSpec(plan, market, true)))
  }
  return matchers
}

/** Days to the series' expiry: with the widest band, in the narrowing, and so that trading ends in the simulation. */
const EXPIRES_IN_SEC = [30 * 86_400, 30 * 86_400, 7 * 86_400, 3_600 + 40]

function chooseMarkets(random: Random, kinds: readonly Kind[]): MarketPlan {
  const expirySec = EPOCH_MS / 1_000 + random.pick(EXPIRES_IN_SEC)
  return planMarkets({ kinds, expirySec })
}

/** What the chain begins with of these markets. */
function foundMarkets(state: ChainState, { markets }: MarketPlan): void {
  for (const { contractType, subId } of markets) {
    if (contractType === 'perpetual') state.perp = { mark: E18, funding: 0n, isStale: false }
    if (contractType === 'future') {
      const prices = { mark: E18, index: E18, isStale: false, pool: 0n }
      state.future = { ...prices, expirySec: Number(subId) }
    }
  }
}

/** An attacker has two of them; the others keep theirs. */
const PLAIN_KEYS = 3

function build({ world, random, directory, onFinding, ...parts }: Parts): Venue {
  const { log, troubles, kinds } = parts
  const network = createNetwork(world, random.fork(), (error) => onFinding('the wire', error))
  const server = createMemoryBus({
    nowMs: () => world.nowMs(),
    setTimer: (ms, callback) => world.after(network.wire, ms, callback),
  })
  const population = makeTraders(4 + random.int(3), PLAIN_KEYS)
  const plan = chooseMarkets(random, kinds)
  const { markets } = plan
  const { address } = createTransactionSigner(EXECUTOR_KEY, CHAIN_ID)
  const batches = random.chance(BATCHES)
  const matchGas = random.pick(MATCH_GAS)
  world.note(`${batches ? 'batches' : 'one by one'}, a match uses ${matchGas}`)
  const chain = createChain({
    world,
    random: random.fork(),
    sender: address,
    matchGas,
    genesis: (state) => {
      foundMarkets(state, plan)
      endow(state, population)
      allow(state, batches ? AT.batchExecutor : AT.matching, address)
      if (batches) allow(state, AT.matching, AT.batchExecutor)
    },
  })
  const blame = createBlameCheck(chain, onFinding)
  const journal = readJournal(join(directory, 'executor', 'executor.db'))
  const processes: SimulatedProcess[] = []
  const points = random.fork()
  const mayDie = (point: string): void => {
    if (!points.chance(network.weather.atPoints)) return
    const struck = processes.find((one) => one.actor() === world.acting())
    if (struck === undefined) return
    struck.crash(`at ${point}`)
    throw new CrashedAt(point)
  }
  const rpc = {
    chain,
    traces: random.chance(0.5),
    executor: { balanceWei: () => 10n ** 24n },
    onRaw: (raw: `0x${string}`) => {
      if (!journal.hasRaw(raw)) onFinding('I-17 sent before it was journalled', raw)
    },
  }
  runOn({
    world,
    random: random.fork(),
    http: (request) =>
      request.url.href.startsWith(EXECUTOR_URL)
        ? askExecutor(network, executor, request, blame.judge)
        : askNode(network, request, (text) => answerRpc(rpc, text)),
    onDatabase: (actor, database) => {
      processes.find((one) => one.actor() === actor)?.ownDatabase(database)
    },
    onCommit: () => mayDie('a commit'),
  })
  armCrashPoints(mayDie)
  runs += 1
  const nodeUrl = `http://node.sim/${runs}/`
  const supervisor = { network, server, directory, nodeUrl, log, onFinding }
  const executor = supervise(supervisor, executorSpec(plan, batches))
  const matchers = markets.map(({ market }) => startMatchers(supervisor, plan, market))
  const fanOut = supervise(supervisor, fanOutSpec(plan))
  processes.push(executor, ...matchers.flat(), fanOut)
  for (const spec of [chainReaderSpec, intakeSpec, projectorSpec]) {
    processes.push(supervise(supervisor, spec(plan)))
  }
  const { shortLives } = troubles
  const people = { traders: population, markets, shortLives }
  const onAnswered = ({ orderId, market }: SentOrder, feedSeq: number): void => {
    void isStored(server, market, feedSeq).then((stored) => {
      if (!stored) onFinding(`${orderId} was answered before ${feedSeq} was stored`, feedSeq)
    })
  }
  const traders = createTraders({ network, server, ...people, onAnswered, onFinding })
  const operator = createOperator({ network, server, plan, onFinding })
  const followed = markets.length > 1 ? markets : [...markets, ...markets]
  const followers = followed.map(({ market }, i) =>
    createFollower({ name: `follower-${i + 1}`, market, network, fanOut, onFinding }),
  )
  const hasRefused = (signer: Address): boolean => chain.hasRefused(signer)
  const audits = markets.map((market) => createFeedAudit(server, market, { onFinding, hasRefused }))
  const mineAlways = (): void => {
    chain.mine()
    world.after(network.wire, BLOCK_TIME_MS, mineAlways)
  }
  world.after(network.wire, BLOCK_TIME_MS, mineAlways)
  const isMarketLevel = async (audit: FeedAudit, i: number): Promise<boolean> => {
    const { market } = audit.market
    const { lastSeq } = await server.streamState(commandsStream(market))
    const leader = matchers[i]?.map((matcher) => matcher.face()).find((face) => face?.isLive())
    return (
      leader?.positions().command_seq === lastSeq &&
      fanOut.face()?.headSeq(market) === audit.seq() &&
      followers.every((one) => one.market !== market || one.seq() === audit.seq())
    )
  }
  const isLevel = async (): Promise<boolean> => {
    const levels = await Promise.all(audits.map(isMarketLevel))
    return levels.every((level) => level) && areReadsLevel(directory, audits)
  }
  const stage = { network, chain, processes, traders, operator, followers }
  const end = (): void => {
    armCrashPoints(undefined)
    for (const process of processes) process.crash('the simulation ends')
    journal.close()
  }
  const isAlarming = (): boolean => processes.some((process) => process.isAlarming())
  return { world, server, chain, audits, journal, stage, isLevel, isAlarming, onFinding, end }
}

/** Durable before visible: whether the feed has reached the seq. */
async function isStored(server: MemoryBus, market: string, feedSeq: number): Promise<boolean> {
  const last = await server.lastMessage(feedStream(market))
  if (last === undefined) return false
  const { firstSeq, changes } = decodeBlock(last.data)
  return firstSeq + changes.length > feedSeq
}

/** I-16 while it goes on: nothing is filled on chain beyond what the feeds have matched. */
function checkFilledOnChain({ chain, audits, onFinding }: Venue): void {
  const { state } = chain.head()
  for (const audit of audits) {
    for (const { order, filled, pending } of audit.orders.values()) {
      const signed = state.filled.get(fillKey(order.owner, order.nonce)) ?? 0n
      const onChain = (signed * E18) / audit.market.amountScale
      const late = audit.undoneOf(order.orderId)
      if (onChain > filled - order.initialFilled + pending + late) {
        onFinding(`I-16 ${order.orderId} is filled on chain beyond its matches`, order)
      }
    }
  }
}

/** Lets time run until nothing is under way (I-22). */
async function comeToRest(venue: Venue): Promise<void> {
  const { world, audits, stage, chain, journal, onFinding } = venue
  const since = world.elapsedMs()
  for (;;) {
    await world.run(REST_SLICE_MS)
    for (const audit of audits) await audit.advance()
    const standing = new Set(
      audits.flatMap((audit) => audit.standing().map(({ settlementId }) => settlementId)),
    )
    const turned = journal
      .turned()
      .filter(({ intent, success, final }) => !final || success !== standing.has(intent))
    const waits = {
      turned: turned.length,
      unanswered: stage.traders.unanswered(),
      pending: audits.reduce((sum, audit) => sum + audit.pending.size, 0),
      open: journal.open(),
      pooled: chain.poolSize(),
      level: await venue.isLevel(),
      alarming: venue.isAlarming(),
    }
    const { unanswered, pending, open, pooled, level, alarming } = waits
    const isCalm = level && !alarming
    const isIdle = turned.length + unanswered + pending + open + pooled === 0 && isCalm
    if (isIdle && world.elapsedMs() - since >= LEAST_REST_MS) return
    if (world.elapsedMs() - since > REST_WITHIN_MS) {
      const left = audits.flatMap((audit) => [...audit.pending.keys()])
      onFinding(`I-22 not at rest: ${JSON.stringify(waits)}`, left)
      return
    }
  }
}
