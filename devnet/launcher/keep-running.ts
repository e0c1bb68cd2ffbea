import { spawn } from 'node:child_process'
import { supervise, type Child, type SupervisedProcess } from '../../runtime/process/supervisor.js'
import { inProject } from './binaries.js'
import type { ChildOptions } from './child.js'
import type { LauncherConfig } from './config.js'
import { consoleLine, openLogFile, type Console } from './output.js'
import type { PidsKeeper } from './pids.js'
import type { LaunchProgress } from './progress.js'
import { LauncherError } from './wait-for.js'

/** Shared dependencies of the processes that the launcher supervises. */
export interface SupervisionDeps {
  readonly config: LauncherConfig
  readonly console: Console
  readonly guard: LauncherGuard
  readonly pids: PidsKeeper
  readonly progress: LaunchProgress
  /** Called when a process keeps crashing, or when the launcher itself fails. */
  readonly onTrouble: (error: LauncherError) => void
  /** True while the venue stops: nothing more is started. */
  readonly isStopping: () => boolean
}

export type StartProcess = (
  spawned: (child: Child) => void,
  onLine: ChildOptions['onLine'],
) => Promise<unknown>

/** How the console's form of the last line of a failed start begins. */
const FATAL = 'FATAL '

/**
 * Keeps a process running under a name: its output goes to `DATA_DIR/logs/<name>.log`, warnings also to the console.
 * `pids.json` and the guard list it while it runs.
 */
export function keepRunning(
  keeping: SupervisionDeps,
  name: string,
  start: StartProcess,
): SupervisedProcess {
  const { config, console, guard, pids, progress, onTrouble } = keeping
  if (keeping.isStopping()) throw new LauncherError(`${name} is not started: the venue is stopping`)
  const log = openLogFile(config.dataDir, name, config.logBounds)
  let fatal: string | undefined
  const onLine: ChildOptions['onLine'] = (line, stream) => {
    log.write(line)
    progress.said(name, line)
    const shown = config.logStdout ? line : consoleLine(line, stream)
    if (shown?.startsWith(FATAL) === true) fatal = shown.slice(FATAL.length)
    if (shown !== undefined) console.say(`${name} | ${shown}`)
  }
  const listed = (change: Promise<void>) =>
    void change.catch((cause: unknown) =>
      onTrouble(new LauncherError(`cannot write ${config.dataDir}/pids.json`, { cause })),
    )
  return supervise({
    name,
    start: async (spawned) => {
      await start(spawned, onLine)
    },
    onStart: (pid) => {
      guard.add(pid)
      progress.started(name, pid)
      listed(pids.set(name, pid))
    },
    onEnd: (pid) => {
      guard.drop(pid)
      progress.ended(name)
      listed(pids.remove(name))
    },
    onCrash: (reason, inARow, pauseMs) =>
      console.say(
        `${name} ${reason}; starting it again in ${pauseMs} ms` +
          (inARow > 1 ? ` (${inARow} times in a row)` : ''),
      ),
    onCrashLoop: (inARow) =>
      onTrouble(
        new LauncherError(
          `${name} has ended ${inARow === 1 ? 'at once' : `${inARow} times in a row`}` +
            `${fatal === undefined ? '' : ` (${fatal})`}; see ${config.dataDir}/logs/${name}.log`,
        ),
      ),
  })
}

/** A small process that ends our children when the launcher is killed. */
export interface LauncherGuard {
  readonly pid: number | undefined
  /** From now on the guard ends this process group when the launcher has ended. */
  add(pid: number): void
  /** Call when the process has ended: the system may reuse its id. */
  drop(pid: number): void
  /** Ends the guard, which then ends every process group that is still listed. */
  end(): void
}

/** Starts the guard in a session of its own. */
export function startGuard(): LauncherGuard {
  const guard = spawn('/bin/sh', [inProject('devnet/guard.sh')], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: {},
  })
  guard.on('error', (error) => {
    throw error
  })
  guard.stdin.on('error', () => {
    // The guard was killed; the next start ends leftover processes by the process ids on disk.
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
