import type { Child, ChildOptions } from './child.js'
import type { LauncherConfig } from './config.js'
import type { Console } from './console.js'
import type { Guard } from './launcher-guard.js'
import { LauncherError } from './launcher-error.js'
import { consoleLine, openLogFile } from './launcher-log.js'
import type { PidsKeeper } from './launcher-pids.js'
import { supervise } from './supervisor.js'
import type { Supervised } from './supervisor.js'

/** What every process that the launcher keeps running is tied to. */
export interface Keeping {
  readonly config: LauncherConfig
  readonly console: Console
  readonly guard: Guard
  readonly pids: PidsKeeper
  /** Told when a process keeps crashing, or of a failure of the launcher's own. */
  readonly onTrouble: (error: LauncherError) => void
  /** The venue is going down: nothing more is started. */
  readonly isStopping: () => boolean
}

export type StartProcess = (
  spawned: (child: Child) => void,
  onLine: ChildOptions['onLine'],
) => Promise<unknown>

/**
 * Keeps a process running under a name: its output goes to `DATA_DIR/logs/<name>.log`, warnings also to the console;
 * it is listed in `pids.json` and with the guard for as long as it lives.
 */
export function keepRunning(keeping: Keeping, name: string, start: StartProcess): Supervised {
  const { config, console, guard, pids, onTrouble } = keeping
  if (keeping.isStopping()) throw new LauncherError(`${name} is not started: the venue is stopping`)
  const log = openLogFile(config.dataDir, name)
  const onLine: ChildOptions['onLine'] = (line, stream) => {
    log.write(line)
    const shown = config.logStdout ? line : consoleLine(line, stream)
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
      listed(pids.set(name, pid))
    },
    onEnd: (pid) => {
      guard.drop(pid)
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
          `${name} has ended ${inARow} times in a row; see ${config.dataDir}/logs/${name}.log`,
        ),
      ),
  })
}
