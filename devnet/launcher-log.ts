import { closeSync, mkdirSync, openSync, renameSync, fstatSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Stream } from './child.js'

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
 * What of a process's output belongs on the console: its warnings and errors in short, and whatever is not a log line
 * but was printed to standard error. Undefined for the rest, which only the log file keeps.
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

/** A record that cannot be loud is not parsed: under load nearly every line is one. */
function parseRecord(line: string): LogRecord | undefined {
  if (!line.startsWith('{')) return undefined
  if (QUIET_LINE.test(line)) return {}
  try {
    return JSON.parse(line) as LogRecord
  } catch {
    return undefined
  }
}
