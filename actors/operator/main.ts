import { ChainUnreachable } from '../../chain/reads/client.js'
import { CannotStart } from '../../core/cannot-start.js'
import { MarketFileError } from '../../data/markets.js'
import { BusUnavailable } from '../../runtime/bus/bus.js'
import { typedWords } from '../../runtime/process/command-line.js'
import { withSourcePlaces } from '../../runtime/process/source-places.js'
import { CommandLineEnded, readTask } from './command-line.js'
import { OperatorOrderRefused } from '../market-orders/order-refused.js'
import { runTask } from './run-task.js'
import { makePrivate } from '../../runtime/process/private-files.js'

makePrivate()

/** Errors that the operator can do something about, in one line. */
const PLAIN = [
  CannotStart,
  OperatorOrderRefused,
  MarketFileError,
  BusUnavailable,
  ChainUnreachable,
] as const

try {
  const { text, exitCode } = await runTask(readTask(typedWords()))
  process.stdout.write(`${text}\n`)
  process.exit(exitCode)
} catch (error) {
  if (error instanceof CommandLineEnded) process.exit(error.exitCode)
  const isPlain = PLAIN.some((kind) => error instanceof kind)
  const text = isPlain
    ? (error as Error).message
    : withSourcePlaces(String((error as Error).stack ?? error))
  process.stderr.write(`venue: ${text}\n`)
  process.exit(1)
}
