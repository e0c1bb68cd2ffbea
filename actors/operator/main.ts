import { setTimeout as delay } from 'node:timers/promises'
import { MarketFileError } from '../../data/markets.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { BadConfiguration } from '../../runtime/process/config.js'
import { carryOut, OrderRefused } from './change-market.js'
import { readOperatorConfig } from './config.js'
import { BadUsage, readArguments, USAGE } from './read-arguments.js'

/** A server of this machine, or of one nearby, has answered by then. */
const CONNECT_WITHIN_MS = 5_000

async function run(): Promise<void> {
  endAtHelp(USAGE)
  const order = readArguments(process.argv.slice(2))
  const config = readOperatorConfig()
  const { natsUrl: url } = config
  const bus = await Promise.race([
    connectNatsBus({ url, name: 'operator' }),
    delay(CONNECT_WITHIN_MS).then(() => {
      throw new OrderRefused(`the bus at ${url} does not answer: is the venue running?`)
    }),
  ])
  const lines = await carryOut({ ...config, bus }, order)
  process.stdout.write(`${lines.join('\n')}\n`)
  await bus.close()
}

/** Errors that the operator can do something about, in one line. */
const PLAIN = [BadUsage, BadConfiguration, OrderRefused, MarketFileError] as const

try {
  await run()
  process.exit(0)
} catch (error) {
  const isPlain = PLAIN.some((kind) => error instanceof kind)
  const text = isPlain ? (error as Error).message : String((error as Error).stack ?? error)
  process.stderr.write(`venue: ${text}\n`)
  if (error instanceof BadUsage) process.stderr.write(`\n${USAGE}\n`)
  process.exit(error instanceof BadUsage ? 2 : 1)
}
