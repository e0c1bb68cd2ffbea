import type { ChildProcess } from 'node:child_process'
import { CANNOT_START_CODE } from './cannot-start.js'

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 10_000
/** A process that ran for this long has recovered: its next crash counts as its first. */
const RECOVERED_AFTER_MS = 30_000
/** From this many crashes in a row on, the cause is one that a restart does not remove. */
const CRASHES_IN_A_ROW = 5

/** How a process ended. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process that was started. */
export interface Child {
  readonly pid: number
  /** Resolves when the process has ended and all its output was delivered; never rejects. */
  readonly exited: Promise<Exit>
  /** Signals the process, and the others of its group if it leads one; nothing happens when it is gone. */
  readonly signal: (signal: NodeJS.Signals) => void
  /** SIGTERM, and SIGKILL when the process still runs after `graceMs`. Resolves when it is gone. */
  stop(graceMs: number): Promise<Exit>
}

/** An exit in words: `code 1`, or `SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ?? `code ${exit.code ?? 'unknown'}`
}

/** Adds how a started process is stopped. */
export function createChild(started: Omit<Child, 'stop'>): Child {
  const { exited, signal } = started
  return {
    ...started,
    stop: async (graceMs) => {
      signal('SIGTERM')
      const timer = setTimeout(() => signal('SIGKILL'), graceMs)
      const exit = await exited
      clearTimeout(timer)
      return exit
    },
  }
}

/** A child process of node's, once it is spawned. */
export const childOf = (child: ChildProcess): Child =>
  createChild({
    pid: child.pid ?? 0,
    exited: new Promise((resolve) =>
      child.once('exit', (code, signal) => resolve({ code, signal })),
    ),
    signal: (signal) => void child.kill(signal),
  })

export interface SupervisorOptions {
  readonly name: string
  /** Starts the process, hands it over once it exists, resolves when it is ready. */
  readonly start: (spawned: (child: Child) => void) => Promise<void>
  readonly onStart: (pid: number) => void
  readonly onEnd: (pid: number) => void
  /** It ended without being stopped, for this reason; `inARow` counts such ends; a restart follows after `pauseMs`. */
  readonly onCrash: (reason: string, inARow: number, pauseMs: number) => void
  /**
   * Called at the fifth crash in a row and at every fifth after it; without `onHopeless` each time when its exit code says that no
   * restart helps.
   */
  readonly onCrashLoop: (inARow: number) => void
  /**
   * Its exit code has said five times in a row that no restart helps: it stays down. One such end may come from a moment, in which a bus
   * is replaced or a file is written anew. Without this it is started again as after any other end.
   */
  readonly onHopeless?: (reason: string) => void
  /** The pause after the n-th crash in a row; by default it doubles up to ten seconds. */
  readonly pauseMs?: (inARow: number) => number
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
}

export interface SupervisedProcess {
  readonly name: string
  /** Settles as the first start did. */
  readonly ready: Promise<void>
  /** SIGTERM, then SIGKILL after `graceMs`; no restart follows. Resolves when the process is gone. */
  stop(graceMs: number): Promise<Exit | undefined>
  /** Signals the process if there is one; a restart may follow unless it is being stopped. */
  signal(signal: NodeJS.Signals): void
}

const pauseAfter = (inARow: number) =>
  Math.min(FIRST_PAUSE_MS * 2 ** (inARow - 1), LONGEST_PAUSE_MS)

/** Keeps one process running: when it ends without being stopped, it is started again after a pause, unless it stays down (`onHopeless`). */
export function supervise(options: SupervisorOptions): SupervisedProcess {
  const {
    name,
    start,
    onStart,
    onEnd,
    onCrash,
    onCrashLoop,
    onHopeless,
    pauseMs = pauseAfter,
    elapsedMs = () => performance.now(),
  } = options
  let child: Child | undefined
  let spawning: Promise<unknown> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  let stopping = false
  let inARow = 0
  let hopelessInARow = 0

  const crashed = (reason: string, livedMs: number, isHopeless = false) => {
    if (stopping) return
    if (livedMs >= RECOVERED_AFTER_MS) inARow = hopelessInARow = 0
    inARow += 1
    hopelessInARow = isHopeless ? hopelessInARow + 1 : 0
    const mayStayDown = onHopeless !== undefined
    if (mayStayDown && hopelessInARow >= CRASHES_IN_A_ROW) return onHopeless(reason)
    const pause = pauseMs(inARow)
    onCrash(reason, inARow, pause)
    if ((isHopeless && !mayStayDown) || inARow % CRASHES_IN_A_ROW === 0) onCrashLoop(inARow)
    timer = setTimeout(() => void run().catch(() => undefined), pause)
  }
  const watch = (begun: Child) => {
    const since = elapsedMs()
    child = begun
    onStart(begun.pid)
    void begun.exited.then((exit) => {
      child = undefined
      onEnd(begun.pid)
      const isHopeless = exit.code === CANNOT_START_CODE
      crashed(`ended with ${describeExit(exit)}`, elapsedMs() - since, isHopeless)
    })
  }
  const run = () => {
    let existed = false
    let exists = () => {}
    const existing = new Promise<void>((resolve) => (exists = resolve))
    const started = start((begun) => {
      existed = true
      watch(begun)
      exists()
    })
    spawning = Promise.race([existing, started.catch(() => undefined)])
    return started.catch((error: unknown) => {
      // A process that existed reports its own end.
      if (!existed) crashed(String(error), 0)
      throw error
    })
  }
  const ready = run()
  ready.catch(() => undefined)
  return {
    name,
    ready,
    signal: (signal) => child?.signal(signal),
    stop: async (graceMs) => {
      stopping = true
      clearTimeout(timer)
      await spawning
      return child?.stop(graceMs)
    },
  }
}
