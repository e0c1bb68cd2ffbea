import { createHash } from 'node:crypto'
import { createOracleVenue } from './oracle-venue.js'
import type { OracleMessage } from './oracle-file.js'

/** Result of a workload. */
export interface OracleResult {
  readonly messages: number
  readonly lines: number
  readonly trades: number
  /** SHA-256 of the lines, joined by line feeds, in hex. */
  readonly sha256: string
  /** Processor time of reading the messages, the steps and the lines. */
  readonly cpuMs: number
}

/** Runs the pure step over the messages. */
export function runOracle(messages: Iterable<OracleMessage>): OracleResult {
  const venue = createOracleVenue()
  const hash = createHash('sha256')
  const count = { messages: 0, lines: 0, trades: 0 }
  const before = process.cpuUsage()
  for (const message of messages) {
    count.messages += 1
    for (const line of venue.apply(message)) {
      hash.update(count.lines === 0 ? line : `\n${line}`)
      count.lines += 1
      if (line.startsWith('1,')) count.trades += 1
    }
  }
  const { user, system } = process.cpuUsage(before)
  return { ...count, sha256: hash.digest('hex'), cpuMs: (user + system) / 1000 }
}

/** The result in words. */
export function oracleLines({ messages, lines, trades, sha256, cpuMs }: OracleResult): string[] {
  const figure = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
  return [
    `${figure.format(messages)} messages, ${figure.format(lines)} lines, ${figure.format(trades)} trades`,
    `${figure.format((messages * 1000) / cpuMs)} messages per second of processor time (${figure.format((cpuMs * 1000) / messages)} µs each), each match settled, lines and their digest included`,
    `SHA-256 of the lines: ${sha256}`,
  ]
}
