import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { streamVersions } from '../../bus-schemas/stream-versions.js'
import { openRegister } from '../../runtime/bus/market-register.js'
import { connectVenueBus } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'
import { runProcess, STOP_DEADLINE_MS } from '../../runtime/process/process.js'
import {
  childOf,
  supervise,
  type Child,
  type SupervisedProcess,
} from '../../runtime/process/supervisor.js'
import { environmentOf, environmentOfShared, type MatcherConfig } from './config.js'
import { openDownMarkets } from './down-markets.js'
import { sampleMatchers } from './measure.js'
import { countEnds, createStepNoteFile, type StepNoteFile } from './step-note.js'

const NAME = 'matchers'
/** Leaves this process time to end within its own deadline. */
const CHILD_GRACE_MS = STOP_DEADLINE_MS - 500
/** The argument by which a process knows that its file of notes is open. */
export const STEP_NOTE_ARG = '--step-note'
/** The file of notes of a process that has that argument: the first behind its standard streams. */
export const STEP_NOTE_FD = 3

export interface MatchersOptions {
  readonly markets: readonly string[]
  /** Markets that get a process of their own. */
  readonly own: readonly string[]
  /** Markets that are not run here. */
  readonly elsewhere: readonly string[]
  /** Arguments of node for a matcher's process; what it runs is in its environment. */
  readonly args: readonly string[]
  readonly log: Logger
  /** The market's process has ended with what only an operator can change, and stays down; called once for each of its markets. */
  readonly onDown: (market: string) => void
  /** The pause after the n-th end of a process in a row; by default that of every supervised one. */
  readonly pauseMs?: (inARow: number) => number
  /** Where the file of notes is made. */
  readonly noteDir?: string
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

/**
 * Runs the processes of the registered markets: one for each that is busy, as this one with the market's name in MARKET, and one for
 * all others. A market that is registered later gets its place without a restart of the others.
 */
export function runEveryMarket(config: MatcherConfig, program: string): void {
  runProcess({
    name: NAME,
    level: config.LOG_LEVEL,
    start: async ({ log, fail, metrics }) => {
      const bus = await connectVenueBus({
        config,
        user: 'matcher',
        name: NAME,
        versions: streamVersions([]),
        onWarning: (message) => log.warn(message),
      })
      const register = await openRegister({ bus, log, onError: fail })
      const down = openDownMarkets({ bus, standby: config.STANDBY === '1', onError: fail })
      sampleMatchers(metrics, down.running, down.names)
      const matchers = superviseMatchers({
        markets: register.markets.map(({ market }) => market),
        own: config.OWN_PROCESS_MARKETS,
        elsewhere: config.MARKETS_ELSEWHERE,
        args: [...process.execArgv, program],
        log,
        onDown: down.add,
      })
      register.watch(({ market: { market } }) => matchers.add(market))
      return {
        stop: async () => {
          await register.stop()
          await matchers.stop()
          await down.stop()
          await bus.close()
        },
      }
    },
  })
}

/** The matchers of a venue. */
export interface Matchers {
  /** Starts the matcher of one market more; a known one has its own, and one that shares a process is found by that. */
  add(market: string): void
  stop(): Promise<void>
}

/**
 * Starts a process for each market that is busy, and one that all others share. One that ends by itself is started again, after a
 * pause that grows while it keeps ending; the others go on. A market under whose step the shared process ended twice within ten minutes
 * gets a process of its own. One that keeps ending with what only an operator can change stays down, with all its markets. All share this
 * process's output. They stop by themselves when this process is gone.
 */
export function superviseMatchers(options: MatchersOptions): Matchers {
  const { log, args, onDown, pauseMs: pauseAfter } = options
  const { noteDir = tmpdir(), elapsedMs = () => performance.now() } = options
  const elsewhere = new Set(options.elsewhere)
  const apart = new Set(options.own)
  const endedTooOften = countEnds(elapsedMs)
  const running = new Map<string, SupervisedProcess>()
  const sharing = new Set<string>()
  let isSharedDown = false
  let shared: SupervisedProcess | undefined
  let note: StepNoteFile | undefined

  interface Kept {
    readonly what: object
    readonly name: string
    readonly start: () => Promise<Child>
    readonly onCrash?: () => void
    readonly onHopeless: () => void
  }
  const keep = ({ what, name, start, onCrash = () => {}, onHopeless }: Kept) =>
    supervise({
      name,
      ...(pauseAfter !== undefined && { pauseMs: pauseAfter }),
      start: async (spawned) => spawned(await start()),
      onStart: (pid) => log.info({ ...what, pid }, 'matcher started'),
      onEnd: (pid) => log.info({ ...what, pid }, 'matcher ended'),
      onCrash: (reason, inARow, pauseMs) => {
        const said = { ...what, reason, in_a_row: inARow, pause_ms: pauseMs }
        log.warn(said, 'matcher is restarted')
        onCrash()
      },
      onCrashLoop: (inARow) => log.error({ ...what, in_a_row: inARow }, 'matcher keeps ending'),
      onHopeless: (reason) => {
        const said = 'matcher stays down until what its last line says is mended'
        log.error({ ...what, reason }, said)
        onHopeless()
      },
    })
  const startOwn = (market: string): void => {
    const start = () => startMatcherProcess(args, environmentOf(market))
    const onHopeless = () => onDown(market)
    running.set(market, keep({ what: { market }, name: market, start, onHopeless }))
  }
  const startShared = (): SupervisedProcess => {
    note = openNote(noteDir, log)
    const start = () => {
      const env = environmentOfShared([...elsewhere, ...apart])
      return note === undefined
        ? startMatcherProcess(args, env)
        : startMatcherProcess([...args, STEP_NOTE_ARG], env, note.fd)
    }
    const onCrash = () => {
      const market = note?.take()
      if (market === undefined) return
      log.warn({ market }, 'the shared process ended under the step of a market')
      if (!endedTooOften(market) || apart.has(market)) return
      apart.add(market)
      sharing.delete(market)
      log.error({ market }, 'a market has ended its process twice, it gets one of its own')
      startOwn(market)
    }
    const onHopeless = () => {
      isSharedDown = true
      sharing.forEach(onDown)
    }
    return keep({ what: { shared: true }, name: 'shared', start, onCrash, onHopeless })
  }
  const share = (market: string): void => {
    shared ??= startShared()
    if (isSharedDown && !sharing.has(market)) onDown(market)
    sharing.add(market)
  }
  const add = (market: string): void => {
    if (elsewhere.has(market)) return
    if (!apart.has(market)) share(market)
    else if (!running.has(market)) startOwn(market)
  }
  options.markets.forEach(add)
  return {
    add,
    stop: async () => {
      const all = [...running.values(), ...(shared === undefined ? [] : [shared])]
      await Promise.all(all.map((each) => each.stop(CHILD_GRACE_MS)))
      note?.close()
      note = undefined
    },
  }
}

/** Without a place for the file, the markets trade as they do with it. */
function openNote(dir: string, log: Logger): StepNoteFile | undefined {
  try {
    return createStepNoteFile(dir)
  } catch (error) {
    log.error({ err: error }, 'no file for notes of steps: no market will get a process of its own')
    return undefined
  }
}

/** Its standard input is a pipe that closes with this process, however this process ends. */
async function startMatcherProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  noteFd?: number,
): Promise<Child> {
  const notes = noteFd === undefined ? [] : [noteFd]
  const child = spawn(process.execPath, args, {
    env,
    stdio: ['pipe', 'inherit', 'inherit', ...notes],
  })
  // The child may close its input early; nothing is written to it.
  child.stdin?.on('error', () => undefined)
  const started = childOf(child)
  await once(child, 'spawn')
  return started
}
