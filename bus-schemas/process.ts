import { readProcessConfig } from './config.js'
import { createLogOutput } from './log-output.js'
import { armCrashAt } from './crash-at.js'
import { createLog } from './log.js'
import type { Logger } from './log.js'

/** How long a process may take to stop before it is ended as if it had crashed. */
export const STOP_DEADLINE_MS = 5_000

export interface Running {
  /** Finishes what must be finished and releases everything; called once. */
  stop(): Promise<void>
}

export interface ProcessOptions {
  readonly name: string
  /** Log level. */
  readonly level: string
  /**
   * Opens what the process needs and begins its work; a rejection ends the process, and so does `fail`, for what goes
   * wrong beyond repair while it runs.
   */
  readonly start: (log: Logger, fail: (error: unknown) => void) => Promise<Running>
}

/**
 * The shell of every process: starts it, and ends it with exit code 0 on SIGTERM or SIGINT or when its parent is gone
 * (the IPC channel closes, or with PARENT_WATCH=1 standard input ends). A failed start, an uncaught error, an
 * unhandled rejection or a stop that exceeds STOP_DEADLINE_MS leaves one fatal line in the log and exit code 1.
 * A process that has not finished starting holds nothing that a crash would lose, so it ends without waiting.
 */
export function runProcess(options: ProcessOptions): void {
  const log = createLog(options.name, options.level, createLogOutput())
  let running: Running | undefined
  let ending = false

  const die = (message: string) => (error: unknown) => {
    log.fatal({ err: error }, message)
    process.exit(1)
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
  options.start(log, die('failed')).then((started) => {
    running = started
    log.info('started')
  }, die('start failed'))
}

function watchParent(onGone: () => void): void {
  process.on('disconnect', onGone)
  if (readProcessConfig().PARENT_WATCH === '0') return
  process.stdin.on('end', onGone)
  process.stdin.on('close', onGone)
  process.stdin.on('error', onGone)
  process.stdin.resume()
}
