import { LauncherError } from './launcher-error.js'

const MOST_PROCESSES = 64

/** One line of a Procfile. */
export interface ProcfileEntry {
  readonly name: string
  /** Handed to `sh -c` as it is. */
  readonly command: string
}

/**
 * Reads `name: command` lines in order; blank lines and lines that begin with # are skipped. Throws LauncherError
 * with the line's number for anything else, for a name that comes twice, and for an empty list.
 */
export function parseProcfile(text: string): ProcfileEntry[] {
  const entries: ProcfileEntry[] = []
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const [, name, command] = /^([A-Za-z0-9][A-Za-z0-9_-]*)\s*:\s*(\S.*)$/.exec(line) ?? []
    if (name === undefined || command === undefined)
      throw new LauncherError(`Procfile line ${index + 1} is not "name: command": ${line}`)
    if (entries.some((entry) => entry.name === name))
      throw new LauncherError(`Procfile line ${index + 1} names ${name} a second time`)
    entries.push({ name, command })
  }
  if (entries.length === 0) throw new LauncherError('the Procfile names no process')
  if (entries.length > MOST_PROCESSES)
    throw new LauncherError(`the Procfile names more than ${MOST_PROCESSES} processes`)
  return entries
}
