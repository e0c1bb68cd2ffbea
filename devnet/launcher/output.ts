import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Stream } from './child.js'

const STILL_AT_IT_AFTER_MS = 2_000

/** The launcher's output on the terminal. */
export interface Console {
  say(line: string): void
  /** Runs a step and prints its name and duration; errors of the step pass through. */
  step<T>(what: string, work: () => Promise<T>): Promise<T>
}

/** A console that writes whole lines. */
export function createConsole(writeLine: (line: string) => void): Console {
  return {
    say: writeLine,
    step: async (what, work) => {
      const begun = performance.now()
      const timer = setTimeout(() => writeLine(`  ${what} ...`), STILL_AT_IT_AFTER_MS)
      try {
        const result = await work()
        writeLine(`  ${what}: ${inWords(performance.now() - begun)}`)
        return result
      } catch (error) {
        writeLine(`  ${what}: failed after ${inWords(performance.now() - begun)}`)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
  }
}

function inWords(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`
}

/** A log file larger than this is set aside as `<name>.log.1`, replacing the one set aside before. */
const LARGEST_LOG_BYTES = 32 * 1024 * 1024
const LOUD_LEVELS = new Set(['warn', 'error', 'fatal'])
const QUIET_LINE = /^\{"level":"(trace|debug|info)"/
const LOUD_NATS_LINE = /\[(WRN|ERR|FTL)\]/

export interface LogFile {
  write(line: string): void
  close(): void
}

/** Appends lines to `DATA_DIR/logs/<name>.log`, which stays below a bound together with the one set aside. */
export function openLogFile(
  dataDir: string,
  name: string,
  largestBytes: number = LARGEST_LOG_BYTES,
): LogFile {
  const folder = join(dataDir, 'logs')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.log`)
  let fd = openSync(file, 'a')
  let bytes = fstatSync(fd).size
  return {
    write: (line) => {
      if (bytes >= largestBytes) {
        closeSync(fd)
        renameSync(file, `${file}.1`)
        fd = openSync(file, 'a')
        bytes = 0
      }
      bytes += writeSync(fd, `${line}\n`)
    },
    close: () => closeSync(fd),
  }
}

/**
 * The console's form of a line of a process's output: warnings and errors in short form, and lines of standard error
 * that are no log records. Undefined for other lines, which only the log file keeps.
 */
export function consoleLine(line: string, stream: Stream): string | undefined {
  const record = parseRecord(line)
  if (record === undefined)
    return LOUD_NATS_LINE.test(line) || (stream === 'stderr' && !/^\[\d+\] /.test(line))
      ? line
      : undefined
  const { level, msg = '', err } = record
  if (typeof level !== 'string' || !LOUD_LEVELS.has(level)) return undefined
  const reason = err?.message === undefined ? '' : `: ${err.message}`
  return `${level.toUpperCase()} ${msg}${reason}`
}

interface LogRecord {
  readonly level?: unknown
  readonly msg?: string
  readonly err?: { readonly message?: string }
}

/** Skips the parsing of records below warning level: under load nearly every line is one. */
function parseRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  if (QUIET_LINE.test(line)) return {}
  try {
    return JSON.parse(line) as LogRecord
  } catch {
    return undefined
  }
}
