import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Address } from '../../core/action.js'
import { dateCodeOf } from '../../core/contracts/future.js'
import { roleAccounts } from '../chain/accounts.js'
import { devnetFile } from '../chain/deploy-devnet.js'
import { endAtHelp } from '../../runtime/process/command-line.js'
import { readLauncherConfig } from '../launcher/config.js'
import { createSeries, NoNextSeries } from './next-series.js'
import { makePrivate } from '../../runtime/process/private-files.js'

makePrivate()

const USAGE = `usage: ./venue series <expiry>

Opens the next series of futures on the local chain of DATA_DIR (./var), and says how it is listed. The expiry is a
time with its zone:

  ./venue series 2026-12-31T14:00Z`
const USAGE_LINE = 'usage: ./venue series <expiry>, a time with its zone such as 2026-12-31T14:00Z'
const devnetSchema = z.object({ rpc_url: z.url(), future_asset: z.string() })

/** Opens the next series of futures on the devnet's chain. */
async function openNextSeries(given: string | undefined): Promise<void> {
  // Without its zone the time would be that of the machine.
  const expirySec = given?.endsWith('Z') === true ? Date.parse(given) / 1_000 : NaN
  if (!Number.isInteger(expirySec)) throw new NoNextSeries(USAGE_LINE)
  const { dataDir } = readLauncherConfig()
  if (!existsSync(devnetFile(dataDir)))
    throw new NoNextSeries(`${dataDir} has no devnet: run ./venue up first`)
  const devnet = devnetSchema.parse(JSON.parse(readFileSync(devnetFile(dataDir), 'utf8')))
  if (dateCodeOf(BigInt(expirySec)) === undefined)
    throw new NoNextSeries(`${given} is not an expiry of a series`)
  const { privateKey } = (await roleAccounts(dataDir)).deployer
  const sender = { rpcUrl: devnet.rpc_url, privateKey }
  await createSeries(sender, devnet.future_asset as Address, expirySec)
  const file = join(dataDir, 'next-series.json')
  process.stdout.write(
    `the series is open; list it: ./venue market row ${given} > ${file} && ./venue market add ${file}\n`,
  )
}

endAtHelp(USAGE)
try {
  await openNextSeries(process.argv[2])
} catch (error) {
  const isPlain = error instanceof NoNextSeries
  const text = isPlain ? error.message : String((error as Error).stack ?? error)
  process.stderr.write(`venue: ${text}\n`)
  process.exit(1)
}
