#!/usr/bin/env node
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { readFileSync } from 'node:fs'
import { VenueError } from '../client/index.js'
import { KeyFileRefused } from './key-file.js'
import { openServer } from './open-server.js'
import { BadUsage, readOptions, USAGE } from './options.js'
import { BadDocument } from './read-tools.js'
import { createSentOrders } from './sent-orders.js'

/**
 * The command `venue-mcp`: speaks the protocol on stdin and stdout until stdin ends or SIGTERM comes, and what was sent to the venue by then
 * is answered; its own words go to stderr.
 */

const EXIT_USAGE = 64
const EXIT_UNAVAILABLE = 69
/** As long as the client waits for one answer. */
const ANSWERED_WITHIN_MS = 10_000

async function main(): Promise<void> {
  const manifest = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
  const { version } = JSON.parse(manifest) as { readonly version: string }
  const say = (words: string): void => void process.stderr.write(`venue-mcp: ${words}\n`)
  const sent = createSentOrders(say)
  const server = await openServer(readOptions(process.argv.slice(2)), version, sent)
  let stopping: Promise<void> | undefined
  const end = async (): Promise<void> => {
    await sent.settle(ANSWERED_WITHIN_MS)
    // What was just answered is written first.
    await new Promise(setImmediate)
    await server.close()
    process.exit(0)
  }
  const stop = (): void => void (stopping ??= end())
  process.stdin.once('end', stop)
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  await server.connect(new StdioServerTransport())
}

/** Ends with a message on stderr; what is not foreseen here ends the process with its stack. */
function refuse(error: unknown): void {
  if (error instanceof BadUsage) {
    process.stderr.write(`venue-mcp: ${error.message}\n\n${USAGE}`)
    process.exitCode = EXIT_USAGE
  } else if (error instanceof KeyFileRefused) {
    process.stderr.write(`venue-mcp: ${error.message}\n`)
    process.exitCode = EXIT_USAGE
  } else if (error instanceof VenueError || error instanceof BadDocument) {
    process.stderr.write(`venue-mcp: the venue: ${error.message}\n`)
    process.exitCode = EXIT_UNAVAILABLE
  } else throw error
}

await main().catch(refuse)
