import { spawn } from 'node:child_process'
import { inProject } from './project-root.js'

/** A small process that ends our children should we be killed without a chance to do it ourselves. */
export interface Guard {
  readonly pid: number | undefined
  /** From now on the guard ends this process group when we are gone. */
  add(pid: number): void
  /** The process has ended; its id may soon belong to a stranger. */
  drop(pid: number): void
  /** Ends the guard, and with it whoever is still listed. */
  end(): void
}

/** Starts the guard in a session of its own. */
export function startGuard(): Guard {
  const guard = spawn('/bin/sh', [inProject('devnet/guard.sh')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  guard.on('error', (error) => {
    throw error
  })
  guard.stdin.on('error', () => {
    // The guard was killed; the process ids on disk still let the next start clean up after us.
  })
  guard.unref()
  const say = (line: string) => guard.stdin.write(`${line}\n`)
  return {
    pid: guard.pid,
    add: (pid) => say(`add ${pid}`),
    drop: (pid) => say(`drop ${pid}`),
    end: () => guard.stdin.end(),
  }
}
