import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { startChild } from './child.js'
import { keepRunning } from './keep-running.js'
import type { Keeping } from './keep-running.js'
import { LauncherError } from './launcher-error.js'
import { parseProcfile } from './procfile.js'
import type { ProcfileEntry } from './procfile.js'
import { inProject } from './project-root.js'
import type { Supervised } from './supervisor.js'

/** A client of the venue, not a part of it: it is started when the rest is ready, and on the devnet only. */
export const DEMO_MAKER: ProcfileEntry = {
  name: 'demo-maker',
  command: 'exec node --enable-source-maps dist/devnet/demo-maker.js',
}

/** The processes to run, from the Procfile. */
export async function readProcesses(procfile: string): Promise<ProcfileEntry[]> {
  const file = resolve(inProject('.'), procfile)
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new LauncherError(`cannot read ${file}`, { cause })
  })
  return parseProcfile(text)
}

/** Keeps one process of the Procfile running, started by a shell in the project's root. */
export function keepWorker(
  keeping: Keeping,
  { name, command }: ProcfileEntry,
  env: Record<string, string | undefined>,
): Supervised {
  return keepRunning(keeping, name, async (spawned, onLine) => {
    const args = ['-c', command]
    spawned(await startChild({ command: '/bin/sh', args, cwd: inProject('.'), env, onLine }))
  })
}
