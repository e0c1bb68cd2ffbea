import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { LauncherError } from './launcher-error.js'

export type Stream = 'stdout' | 'stderr'

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called for every line that the child prints. */
  readonly onLine: (line: string, stream: Stream) => void
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly pid: number
  /** Resolves when the process has ended and all its output was delivered; never rejects. */
  readonly exited: Promise<Exit>
  /** Signals the child's whole process group; nothing happens when it is gone. */
  signal(signal: NodeJS.Signals): void
  /** SIGTERM, and SIGKILL for whoever is still there after `graceMs`. */
  stop(graceMs: number): Promise<Exit>
}

/**
 * Starts a program in a session of its own, so that a Ctrl-C on the terminal reaches the launcher alone. Its standard
 * input stays open for as long as this process lives: a child that watches it learns of our end. Throws LauncherError
 * when the program cannot be started.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, cwd, env, onLine } = options
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {
    // The child closed its input: it has no use for it, or it is gone, which `exited` tells.
  })
  const exited = exitOf(child)
  forward(child.stdout, 'stdout', onLine)
  forward(child.stderr, 'stderr', onLine)
  try {
    await once(child, 'spawn')
  } catch (error) {
    throw new LauncherError(`cannot start ${command}`, { cause: error })
  }
  const pid = child.pid
  if (pid === undefined) throw new LauncherError(`cannot start ${command}`)
  const signal = (name: NodeJS.Signals) => signalGroup(pid, name)
  return {
    pid,
    exited,
    signal,
    stop: async (graceMs) => {
      signal('SIGTERM')
      const timer = setTimeout(() => signal('SIGKILL'), graceMs)
      const exit = await exited
      clearTimeout(timer)
      return exit
    },
  }
}

/** Signals a process group; a group that no longer exists is fine. */
export function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function exitOf(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

function forward(source: Readable, stream: Stream, onLine: ChildOptions['onLine']): void {
  createInterface({ input: source, crlfDelay: Infinity }).on('line', (line) => onLine(line, stream))
}

/** An exit in words: `code 1`, or `SIGKILL`. */
export function describeExit(exit: Exit): string {
  return exit.signal ?? `code ${exit.code ?? 'unknown'}`
}
