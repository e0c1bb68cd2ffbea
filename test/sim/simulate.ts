import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { createTransactionSigner } from '../../chain/signing/keys.js'
import { armCrashPoints } from '../../core/crash-point.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { chooseTroubles, createAdversary, type Stage, type Troubles } from './adversary.js'
import { answerRpc } from './chain-rpc.js'
import { createChain, type SimulatedChain } from './chain.js'
import { allow, AT, CHAIN_ID, fillKey } from './contracts.js'
import { readJournal, type JournalReader } from './executor-journal.js'
import { createFeedAudit, type FeedAudit } from './feed-audit.js'
import { checkAtRest, checkReadsMeanwhile, projectedSeq } from './final-checks.js'
import { createFollower } from './followers.js'
import { runOn, type HttpAnswer, type HttpRequest } from './host.js'
import { createNetwork, type Network } from './network.js'
import { supervise, type SimulatedProcess } from './process.js'
import { createRandom } from './random.js'
import { createOperator } from './operator.js'
import { PERP_AT_START } from './perp-contract.js'
import { createTraders, endow, makeTraders } from './traders.js'
import {
  chainReaderSpec,
  EXECUTOR_KEY,
  EXECUTOR_URL,
  executorSpecOf,
  fanOutSpec,
  intakeSpec,
  market,
  matcherSpec,
  projectorSpec,
  resetMarketFile,
  standbySpec,
  type ExecutorFace,
  type SimulatedType,
} from './venue.js'
import { createWorld, type World } from './world.js'

export interface SimulationOptions {
  readonly seed: number
  readonly steps: number
  /** Of the market; spot by default. */
  readonly contractType?: SimulatedType
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
  readonly fills: number
  readonly events: number
  readonly elapsedMs: number
}

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
  const { contractType = 'spot' } = options
  const venue = build({ world, random, directory, onFinding, log, troubles, contractType })
  try {
    const adversary = createAdversary(venue.stage, random.fork(), troubles)
    for (let step = 0; step < steps && findings.length === 0; step++) {
      adversary.step()
      await world.run(random.int(2 * MEAN_STEP_MS))
      await venue.audit.advance()
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
    ...{ seed, findings, hash: world.hash(), events: world.events() },
    ...{ orders: venue.audit.orders.size, fills: venue.audit.fills.length },
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
  readonly contractType: SimulatedType
  readonly log: (process: string) => Logger
  readonly onFinding: (what: string, detail: unknown) => void
}

interface Venue {
  readonly world: World
  readonly server: MemoryBus
  readonly chain: SimulatedChain
  readonly audit: FeedAudit
  readonly journal: JournalReader
  readonly stage: Stage
  readonly isLevel: () => Promise<boolean>
  readonly onFinding: (what: string, detail: unknown) => void
  end(): void
}

function build({ world, random, directory, onFinding, ...parts }: Parts): Venue {
  const { log, troubles, contractType } = parts
  resetMarketFile(contractType)
  const network = createNetwork(world, random.fork(), (error) => onFinding('the wire', error))
  const server = createMemoryBus({
    nowMs: () => world.nowMs(),
    setTimer: (ms, callback) => world.after(network.wire, ms, callback),
  })
  const population = makeTraders(3 + random.int(3))
  const { address } = createTransactionSigner(EXECUTOR_KEY, CHAIN_ID)
  const batches = random.chance(BATCHES)
  const matchGas = random.pick(MATCH_GAS)
  world.note(`${batches ? 'batches' : 'one by one'}, a match uses ${matchGas}`)
  const chain = createChain({
    ...{ world, random: random.fork(), sender: address, matchGas },
    genesis: (state) => {
      if (contractType === 'perpetual') state.perp = PERP_AT_START
      endow(state, population)
      allow(state, batches ? AT.batchExecutor : AT.matching, address)
      if (batches) allow(state, AT.matching, AT.batchExecutor)
    },
  })
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
    ...{ chain, traces: random.chance(0.5) },
    executor: { balanceWei: () => 10n ** 24n },
    onRaw: (raw: `0x${string}`) => {
      if (!journal.hasRaw(raw)) onFinding('I-17 sent before it was journalled', raw)
    },
  }
  runOn({
    ...{ world, random: random.fork() },
    http: (request) =>
      request.url.href.startsWith(EXECUTOR_URL)
        ? askExecutor(network, executor, request)
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
  const executor = supervise(supervisor, executorSpecOf(batches))
  const matchers = [supervise(supervisor, matcherSpec)]
  if (random.chance(0.4)) matchers.push(supervise(supervisor, standbySpec))
  const projector = supervise(supervisor, projectorSpec)
  const fanOut = supervise(supervisor, fanOutSpec)
  processes.push(
    executor,
    ...matchers,
    supervise(supervisor, chainReaderSpec),
    supervise(supervisor, intakeSpec),
    projector,
    fanOut,
  )
  const { shortLives } = troubles
  const people = { traders: population, shortLives }
  const onAnswered = (orderId: string, feedSeq: number): void => {
    void isStored(server, feedSeq).then((stored) => {
      if (!stored) onFinding(`${orderId} was answered before ${feedSeq} was stored`, feedSeq)
    })
  }
  const traders = createTraders({ network, server, ...people, onAnswered, onFinding })
  const operator = createOperator(network, server, onFinding)
  const followers = ['follower-1', 'follower-2'].map((name) =>
    createFollower({ name, network, fanOut, onFinding }),
  )
  const audit = createFeedAudit(server, market.market, onFinding)
  const mineAlways = (): void => {
    chain.mine()
    world.after(network.wire, BLOCK_TIME_MS, mineAlways)
  }
  world.after(network.wire, BLOCK_TIME_MS, mineAlways)
  const isLevel = async (): Promise<boolean> => {
    const { lastSeq } = await server.streamState(commandsStream(market.market))
    const leader = matchers.map((matcher) => matcher.face()).find((face) => face?.isLive())
    return (
      leader?.positions().command_seq === lastSeq &&
      fanOut.face()?.headSeq() === audit.seq() &&
      followers.every((follower) => follower.seq() === audit.seq()) &&
      projectedSeq(directory) === audit.seq()
    )
  }
  const stage = { network, chain, processes, traders, operator, followers }
  const end = (): void => {
    armCrashPoints(undefined)
    for (const process of processes) process.crash('the simulation ends')
    journal.close()
  }
  return { world, server, chain, audit, journal, stage, isLevel, onFinding, end }
}

/** Durable before visible: whether the feed has reached the seq. */
async function isStored(server: MemoryBus, feedSeq: number): Promise<boolean> {
  const last = await server.lastMessage(feedStream(market.market))
  if (last === undefined) return false
  const { firstSeq, changes } = decodeBlock(last.data)
  return firstSeq + changes.length > feedSeq
}

/** A request to the node: it may be lost on the way there or back, or refused. */
function askNode(
  { world, random, weather, wire, carry }: Network,
  { from, body }: HttpRequest,
  answer: (text: string) => string,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const refused = random.chance(weather.refusedCalls)
    const lost = random.chance(weather.lostCalls)
    const lostThere = random.chance(0.5)
    if (lost && lostThere) return
    carry(wire, undefined, () => {
      if (refused) {
        carry(from, undefined, () => reject(new TypeError('fetch failed')))
        return
      }
      const text = answer(body)
      if (!lost) carry(from, undefined, () => resolve({ status: 200, text }))
      else world.note('an answer of the node is lost')
    })
  })
}

/** A request to the executor, which may be down or go down before it answers. */
function askExecutor(
  { carry, world }: Network,
  executor: SimulatedProcess<ExecutorFace>,
  { from, url, body, headers }: HttpRequest,
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const broken = (): void => carry(from, undefined, () => reject(new TypeError('fetch failed')))
    const [process, face] = [executor.actor(), executor.face()]
    if (process === undefined || face === undefined) return broken()
    let isOpen = true
    executor.onEnd(() => {
      if (isOpen) broken()
      isOpen = false
    })
    carry(process, undefined, () => {
      face(url, body, headers['idempotency-key'] ?? '').then(
        (answer) => {
          isOpen = false
          carry(from, undefined, () => resolve(answer))
        },
        (error: unknown) => process.onFailure(error),
      )
    })
    const { 'idempotency-key': key } = headers
    world.note(key === undefined ? `${url.pathname} asked` : `settlement ${key} asked`)
  })
}

/** I-16 while it goes on: nothing is filled on chain beyond what the feed has matched. */
function checkFilledOnChain({ chain, audit, onFinding }: Venue): void {
  const { state } = chain.head()
  for (const { order, filled, pending } of audit.orders.values()) {
    const onChain = state.filled.get(fillKey(order.owner, order.nonce)) ?? 0n
    const late = audit.undoneOf(order.orderId)
    if (onChain > filled - order.initialFilled + pending + late) {
      onFinding(`I-16 ${order.orderId} is filled on chain beyond its matches`, order)
    }
  }
}

/** Lets time run until nothing is under way (I-22). */
async function comeToRest(venue: Venue): Promise<void> {
  const { world, audit, stage, chain, journal, onFinding } = venue
  const since = world.elapsedMs()
  for (;;) {
    await world.run(REST_SLICE_MS)
    await audit.advance()
    const open = journal.open()
    const standing = new Set(audit.standing().map(({ settlementId }) => settlementId))
    const turned = journal
      .turned()
      .filter(({ intent, success, final }) => !final || success !== standing.has(intent))
    const waits = {
      turned: turned.length,
      unanswered: stage.traders.unanswered(),
      pending: audit.pending.size,
      ...{ open, pooled: chain.poolSize(), level: await venue.isLevel() },
    }
    const { unanswered, pending, pooled, level } = waits
    const isIdle = turned.length + unanswered + pending + open + pooled === 0 && level
    if (isIdle && world.elapsedMs() - since >= LEAST_REST_MS) return
    if (world.elapsedMs() - since > REST_WITHIN_MS) {
      onFinding(`I-22 not at rest: ${JSON.stringify(waits)}`, [...audit.pending.keys()])
      return
    }
  }
}
