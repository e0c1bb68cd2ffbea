import { readdirSync } from 'node:fs'
import { constants, getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { encodePingAnswer, type PingAnswer } from '../../bus-schemas/operations.js'
import { askPing } from '../../bus-schemas/subjects.js'
import { CannotStart } from '../../core/cannot-start.js'
import { armCrashPoints, IN_FLIGHT, type CrashHandler } from '../../core/crash-point.js'
import type { Bus, Subscription } from '../bus/bus.js'
import { createMetrics, type Metrics } from '../metrics/metrics.js'
import { serveMetrics } from '../metrics/serve-metrics.js'
import { CANNOT_START_CODE, isDamage } from './cannot-start.js'
import { readCrashAt, readProcessConfig, readSecretPaths, type CrashAt } from './config.js'
import { createLog, createLogOutput, type Logger } from './log.js'
import { isOfGroup, keepPrivate, makeOfGroup, makePrivate } from './private-files.js'
import { releaseStartMemory } from './release-memory.js'
import { readSecretFiles } from './secret-files.js'
import { VERSION } from './version.js'

/** How long a process may take to stop before it is ended as if it had crashed. */
export const STOP_DEADLINE_MS = 5_000

export interface RunningProcess {
  /** Finishes the work in flight and releases everything; called once. */
  stop(): Promise<void>
}

export interface ProcessContext {
  readonly log: Logger
  /** Ends the process with exit code 1 and a fatal line: for errors that cannot be handled. */
  readonly fail: (error: unknown) => void
  /** Stops the process as SIGTERM does, so that its supervisor starts it again. */
  readonly end: (reason: string) => void
  /** The process's metrics; they can be read where METRICS_DIR is set. */
  readonly metrics: Metrics
}

export interface ProcessOptions {
  /** The name in the Procfile, in pings and in the log. */
  readonly name: string
  /** The name of its metrics, unique on the machine; defaults to `name`. */
  readonly instance?: string
  /** Log level. */
  readonly level: string
  /** No request waits for it once it has started: from then on it runs at a lower priority than other processes. */
  readonly background?: boolean
  /**
   * Called when a database of the process turns out to be damaged, where its next start makes that one anew; elsewhere only
   * an operator can put it back.
   */
  readonly onDamage?: () => void
  /** Opens what the process needs and starts its work; a rejection ends the process, as `fail` does. */
  readonly start: (context: ProcessContext) => Promise<RunningProcess>
}

/**
 * The shell of every process: every main.ts calls it once. Ends the process with exit code 0 on SIGTERM or SIGINT, or when
 * its parent is gone (the IPC channel closes, or with PARENT_WATCH=1 standard input ends). A failed start, an uncaught
 * error, an unhandled rejection or a stop that exceeds STOP_DEADLINE_MS logs one fatal line and exits with code 1, or 78
 * for what only an operator can change: CannotStart, and a damaged database without `onDamage`. During
 * the start there is nothing to release, so a stop then exits at once.
 */
export function runProcess(options: ProcessOptions): void {
  makePrivate()
  const log = createLog(options.name, options.level, createLogOutput())
  let running: RunningProcess | undefined
  let ending = false

  const die = (message: string) => (error: unknown) => {
    log.fatal({ err: error }, isLastingDamage(error, options) ? `${message}: ${WHICH}` : message)
    process.exit(needsOperator(error, options.onDamage) ? CANNOT_START_CODE : 1)
  }
  const end = (reason: string) => {
    if (ending) return
    ending = true
    log.info({ reason }, 'stopping')
    if (running === undefined) process.exit(0)
    const late = new Error(`not stopped within ${STOP_DEADLINE_MS} ms`)
    setTimeout(() => die('stop took too long')(late), STOP_DEADLINE_MS)
    running.stop().then(() => {
      log.info('stopped')
      process.exit(0)
    }, die('stop failed'))
  }

  process.on('uncaughtException', die('uncaught error'))
  process.on('unhandledRejection', die('unhandled rejection'))
  process.on('SIGTERM', () => end('SIGTERM'))
  process.on('SIGINT', () => end('SIGINT'))
  watchParent(() => end('parent gone'))

  armCrashAt()
  log.info('starting')
  const metrics = createMetrics()
  metrics.gauge('venue_build_info')({ version: VERSION }, 1)
  const secrets = readSecretPaths()
  metrics.sample('venue_secret_file_exposed', () =>
    readSecretFiles(secrets).map(({ path: file, isExposed }) => [{ file }, isExposed ? 1 : 0]),
  )
  begin(metrics, options)
    .then(() => options.start({ log, fail: die('failed'), end, metrics }))
    .then((started) => {
      running = started
      if (options.background === true) runInBackground()
      log.info('started')
      return releaseStartMemory()
    }, die('start failed'))
}

/** SQLite does not say in which file it found the damage. */
const WHICH = 'one of its databases is damaged, quick_check of each says which (docs/OPERATING.md)'

/** Whether SQLite found damage in a file that no start makes anew. */
const isLastingDamage = (error: unknown, { onDamage }: ProcessOptions): boolean =>
  !(error instanceof CannotStart) && isDamage(error) && onDamage === undefined

/** Whether a restart cannot help. */
function needsOperator(error: unknown, onDamage: ProcessOptions['onDamage']): boolean {
  if (error instanceof CannotStart) return true
  if (!isDamage(error)) return false
  onDamage?.()
  return onDamage === undefined
}

/** Its files are private, and its metrics can be read from the beginning of the start to the end of the process. */
async function begin(metrics: Metrics, options: ProcessOptions): Promise<void> {
  const config = readProcessConfig()
  const { METRICS_DIR: dir, METRICS_HOST: host, METRICS_PORT: port, DATA_DIR: kept } = config
  if (kept !== undefined) {
    keepPrivate(kept, { isDeep: false })
    const own = join(kept, options.name)
    if (isOfGroup(own)) makeOfGroup()
    else keepPrivate(own, { isDeep: false })
  }
  if (dir === undefined) return
  await serveMetrics(metrics, { process: options.instance ?? options.name, dir, host, port })
}

const NICER_BY = 10

/** Lowers the priority of every thread of this process; on Linux each has its own. */
function runInBackground(): void {
  const priority = Math.min(constants.priority.PRIORITY_LOW, getPriority() + NICER_BY)
  for (const thread of readdirSync('/proc/self/task').map(Number)) {
    try {
      setPriority(thread, priority)
    } catch {
      // The thread has ended meanwhile.
    }
  }
}

function watchParent(onGone: () => void): void {
  process.on('disconnect', onGone)
  if (readProcessConfig().PARENT_WATCH === '0') return
  process.stdin.on('end', onGone)
  process.stdin.on('close', onGone)
  process.stdin.on('error', onGone)
  process.stdin.resume()
}

/** Long enough for written bytes to leave the process, and shorter than any answer to them. */
const IN_FLIGHT_MS = 2

/** Arms the crash point of CRASH_AT, if any: the process ends itself with SIGKILL there. */
export function armCrashAt(): void {
  const at = readCrashAt()
  if (at !== undefined) armCrashPoints(killAt(at, () => process.kill(process.pid, 'SIGKILL')))
}

/** Calls `kill` at the given passing of the point; at points in flight, after the bytes have left. */
export function killAt({ point, passing }: CrashAt, kill: () => void): CrashHandler {
  let passed = 0
  return (reached) => {
    if (reached !== point) return
    passed += 1
    if (passed !== passing) return
    if (IN_FLIGHT.has(point)) setTimeout(kill, IN_FLIGHT_MS)
    else kill()
  }
}

/** The answer to a ping, without the process's name. */
export type ProcessStanding = Omit<PingAnswer, 'process'>

/** Answers this process's pings with the current `standing`; not ready when `standing` fails. */
export function answerPing(
  bus: Bus,
  process: string,
  standing: () => ProcessStanding | Promise<ProcessStanding>,
): Promise<Subscription> {
  const answer = async (replyTo: string) => {
    const current = await standing()
    bus.reply(replyTo, encodePingAnswer({ process, ...current }))
  }
  return bus.answer(askPing(process), process, (_, replyTo) => {
    answer(replyTo).catch((error: unknown) => {
      const detail = error instanceof Error ? error.message : String(error)
      bus.reply(replyTo, encodePingAnswer({ process, ready: false, detail, positions: {} }))
    })
  })
}
