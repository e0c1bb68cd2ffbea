import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createChild, type Child, type Exit } from '../../runtime/process/supervisor.js'
import { LauncherError } from './wait-for.js'

export type OutputStream = 'stdout' | 'stderr'

export interface ChildOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Called for every line that the child prints. */
  readonly onLine: (line: string, stream: OutputStream) => void
}

/**
 * Starts a program in a session of its own, so that a Ctrl-C on the terminal reaches the launcher alone. Its standard
 * input stays open until this process ends, so that a child can detect that end. Throws LauncherError when the program
 * cannot be started.
 */
export async function startChild(options: ChildOptions): Promise<Child> {
  const { command, args, cwd, env, onLine } = options
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => {
    // The child closed its input or ended; `exited` reports the end.
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
  return createChild({ pid, exited, signal: (name) => signalGroup(pid, name) })
}

/** Signals a process group; has no effect when the group no longer exists. */
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

function forward(source: Readable, stream: OutputStream, onLine: ChildOptions['onLine']): void {
  createInterface({ input: source, crlfDelay: Infinity }).on('line', (line) => onLine(line, stream))
}
