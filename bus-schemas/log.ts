import { pino, stdSerializers } from 'pino'
import type { DestinationStream, Logger as PinoLogger } from 'pino'
import { isoTime } from '../core/records/iso-time.js'
import { redacted } from './redacted.js'

/** Writes lines; it makes no children, whose own fields would pass unredacted. */
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
    // An error's message and stack are not fields of it: it is redacted once the serializer has made them so.
    serializers: { err: (error: Error) => redacted(stdSerializers.err(error)) },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}

type Fields = Record<string, unknown>

function redactedFields(fields: Fields): Fields {
  const { err } = fields
  const shown = redacted(fields) as Fields
  return err instanceof Error && shown.err !== err ? { ...shown, err } : shown
}
