import {
  closeSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { OutputStream } from './child.js'

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

/** How much of a process's log is kept. */
export interface LogBounds {
  /** A file that has reached this size is set aside. */
  readonly fileBytes: number
  /** Files of one process, the one that is written included; at least 1. */
  readonly files: number
}

const LOUD_LEVELS = new Set(['warn', 'error', 'fatal'])
const QUIET_LINE = /^\{"level":"(trace|debug|info)"/
const LOUD_NATS_LINE = /\[(WRN|ERR|FTL)\]/

export interface LogFile {
  write(line: string): void
  close(): void
}

/**
 * Appends lines to `DATA_DIR/logs/<name>.log`. A full file is set aside as `<name>.log.1`, the one before as `<name>.log.2` and so
 * on; the oldest beyond the bound is deleted. A line that the disk has no room for is lost, and the venue goes on.
 */
export function openLogFile(
  dataDir: string,
  name: string,
  { fileBytes, files }: LogBounds,
): LogFile {
  const folder = join(dataDir, 'logs')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${name}.log`)
  let fd = openSync(file, 'a')
  let bytes = fstatSync(fd).size
  return {
    write: (line) => {
      try {
        if (bytes >= fileBytes) {
          setAside(file, files)
          // The one before stays open until there is another.
          const next = openSync(file, 'a')
          closeSync(fd)
          fd = next
          bytes = 0
        }
        bytes += writeSync(fd, `${line}\n`)
      } catch (error) {
        if (!isUnwritable(error)) throw error
      }
    },
    close: () => closeSync(fd),
  }
}

/** Renames the files of a log by one number up; what a smaller bound leaves over is deleted too. */
function setAside(file: string, files: number): void {
  // Set aside before; there was no room for the next.
  if (!existsSync(file)) return
  const prefix = `${basename(file)}.`
  for (const name of readdirSync(dirname(file))) {
    const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : 0
    if (number >= Math.max(1, files - 1)) rmSync(join(dirname(file), name))
  }
  if (files === 1) return rmSync(file)
  for (let number = files - 2; number >= 1; number -= 1)
    if (existsSync(`${file}.${number}`)) renameSync(`${file}.${number}`, `${file}.${number + 1}`)
  renameSync(file, `${file}.1`)
}

/** Of a disk that is full, read-only or broken. */
const UNWRITABLE: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])

const isUnwritable = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && UNWRITABLE.has(error.code)

/**
 * The console's form of a line of a process's output: warnings and errors in short form, and lines of standard error
 * that are not log records. Undefined for other lines, which only the log file keeps.
 */
export function consoleLine(line: string, stream: OutputStream): string | undefined {
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
