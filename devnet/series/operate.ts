import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Address } from '../../core/action.js'
import { formatDecimal } from '../../core/decimal.js'
import { dateCodeOf } from '../../core/contracts/future.js'
import { roleAccounts } from '../chain/accounts.js'
import { devnetFile } from '../chain/deploy-devnet.js'
import { readLauncherConfig } from '../launcher/config.js'
import { createSeries, NoNextSeries } from './next-series.js'
import { settleByFallback } from './settle-by-fallback.js'

export const USAGE = `usage: ./venue series [settle] <expiry>

Opens the next series of futures on the local chain of DATA_DIR (./var), and says how it is listed. With settle, gives a series
whose fixing is incomplete its settlement price, as its owner may from a day after its expiry on. The expiry is a time with its
zone:

  ./venue series 2026-12-31T14:00Z
  ./venue series settle 2026-11-30T14:00Z`
const USAGE_LINE =
  'usage: ./venue series [settle] <expiry>, a time with its zone such as 2026-12-31T14:00Z'
const devnetSchema = z.object({ rpc_url: z.url(), future_asset: z.string() })

/** Opens a series of futures on the devnet's chain, or settles one. Throws NoNextSeries, and as a batch does. */
export async function operate(words: readonly string[]): Promise<void> {
  const isSettling = words[0] === 'settle'
  const given = words[isSettling ? 1 : 0]
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
  const asset = devnet.future_asset as Address
  if (isSettling) {
    const price = await settleByFallback(sender, asset, BigInt(expirySec))
    process.stdout.write(
      price === undefined
        ? 'nothing to do: it is settled, or its fixing is complete\n'
        : `settled at ${formatDecimal(price, 18)} cNGN per USDC\n`,
    )
    return
  }
  await createSeries(sender, asset, expirySec)
  const file = join(dataDir, 'next-series.json')
  process.stdout.write(
    `the series is open; list it: ./venue market row ${given} > ${file} && ./venue market add ${file}\n`,
  )
}
