import { endAtHelp } from '../../runtime/process/command-line.js'
import { makePrivate } from '../../runtime/process/private-files.js'
import { BatchError } from '../chain/transaction-batch.js'
import { NoNextSeries } from './next-series.js'
import { operate, USAGE } from './operate.js'

makePrivate()

endAtHelp(USAGE)
try {
  await operate(process.argv.slice(2))
} catch (error) {
  const isPlain = error instanceof NoNextSeries || error instanceof BatchError
  const text = isPlain ? error.message : String((error as Error).stack ?? error)
  process.stderr.write(`venue: ${text}\n`)
  process.exit(1)
}
