import { pino, stdTimeFunctions } from 'pino'
import type { DestinationStream, Logger } from 'pino'

export type { Logger } from 'pino'

/** What must never reach a log, under whatever object it is logged. */
const SECRET_KEYS = [
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
]

/** Secrets are looked for in the logged object and in this many levels of objects or arrays below it. */
const REDACTED_DEPTH = 3

function redactedPaths(): string[] {
  const prefixes = Array.from({ length: REDACTED_DEPTH + 1 }, (_, depth) =>
    Array.from({ length: depth }, () => '*').join('.'),
  )
  return prefixes.flatMap((prefix) => SECRET_KEYS.map((key) => `${prefix}["${key}"]`))
}

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
    timestamp: stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: redactedPaths(), censor: '[redacted]' },
  }
  return destination === undefined ? pino(options) : pino(options, destination)
}
