import {
  destination,
  pino,
  stdSerializers,
  type DestinationStream,
  type Logger as PinoLogger,
} from 'pino'
import { isoTime } from '../../core/time.js'
import { withSourcePlaces } from './source-places.js'

/** Has no `child`, because the fields of a child logger would not be redacted. */
export type Logger = Pick<
  PinoLogger,
  'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal' | 'isLevelEnabled'
>

/**
 * The process's log: one JSON object a line on standard output (or on `destination`), with `name`, `pid`, the level
 * as a word and an ISO time. Signatures, permits, private keys, authorization headers and raw transactions are
 * replaced by `[redacted]`. `level` is one of pino's, or `silent`; another word throws.
 */
export function createLog(name: string, level: string, destination?: DestinationStream): Logger {
  const options = {
    name,
    level,
    base: { pid: process.pid },
    timestamp: () => `,"time":"${isoTime(Date.now())}"`,
    formatters: { level: (label: string) => ({ level: label }), log: redactedFields },
    // Redact an error after its serializer has turned message and stack into fields.
    serializers: { err: (error: Error) => redacted(errorFields(error)) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

/** An error as fields, its stack with the places of the sources. */
function errorFields(error: Error): object {
  const fields = stdSerializers.err(error)
  return error instanceof Error ? { ...fields, stack: withSourcePlaces(fields.stack) } : fields
}

type LogFields = Record<string, unknown>

function redactedFields(fields: LogFields): LogFields {
  const { err } = fields
  const shown = redacted(fields) as LogFields
  return err instanceof Error && shown.err !== err ? { ...shown, err } : shown
}

/** Lines are buffered until the end of the turn of the event loop, up to about this many characters. */
const MAX_BUFFERED = 8 * 1024

/** Where log lines go. */
export interface LogOutput {
  write(line: string): void
}

/**
 * Standard output. The lines of one turn of the event loop share one write: under load a write per line costs more than the
 * line. A process that is killed loses at most the lines of that turn.
 */
export function createLogOutput(): LogOutput {
  const stream = destination({ dest: 1, sync: true })
  let buffered = ''
  const flush = (): void => {
    const lines = buffered
    buffered = ''
    if (lines !== '') stream.write(lines)
  }
  process.once('exit', flush)
  return {
    write: (line) => {
      if (buffered === '') setImmediate(flush)
      buffered += line
      if (buffered.length > MAX_BUFFERED) flush()
    },
  }
}

/** Fields that never reach a log, in any logged object. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  'signature',
  'signatures',
  'permit',
  'privateKey',
  'private_key',
  'secret',
  'authorization',
  'x-service-auth',
  'x-executor-secret',
  'rawTx',
  'raw_tx',
  'rawTransaction',
])

/** Levels of objects or arrays below the logged object that are searched for secrets. */
const REDACTED_DEPTH = 3

/**
 * The value with `[redacted]` for every signature, permit, private key, authorization header and raw transaction in it;
 * the value itself when it holds none, because most lines are flat.
 */
export function redacted(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > REDACTED_DEPTH) return value
  if (hasToJson(value)) {
    const shown = value.toJSON()
    return shown === value ? value : redacted(shown, depth)
  }
  let copy: object | undefined
  const fields = value as Readonly<Record<string, unknown>>
  for (const key in fields) {
    if (!Object.hasOwn(fields, key)) continue
    const field = fields[key]
    const shown = SECRET_KEYS.has(key) ? '[redacted]' : redacted(field, depth + 1)
    if (shown === field) continue
    copy ??= Array.isArray(value) ? [...(value as unknown[])] : { ...value }
    Object.assign(copy, { [key]: shown })
  }
  return copy ?? value
}

/** For example a date, which is logged as its `toJSON`. */
function hasToJson(value: object): value is { readonly toJSON: () => unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function'
}
