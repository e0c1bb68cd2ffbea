import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createRestClient } from '../client/index.js'
import { writeJsonDurably } from '../data/durable-file.js'
import { defaultMarketFile, readRows } from '../data/markets.js'
import { roleAccounts } from '../devnet/chain/accounts.js'
import { rowOfNextSeries } from '../data/series-row.js'
import { createSeries } from '../devnet/series/next-series.js'
import { waitFor } from '../devnet/launcher/wait-for.js'
import type { OwnVenue } from './own-venue.js'
import { inheritedEnvironment } from './config.js'

const DAY_SEC = 86_400
/** Far enough that the band is at its widest. */
const AHEAD_DAYS = 20
/** What hangs ends by it; a busy machine takes a minute or two. */
const LISTED_WITHIN_MS = 300_000

/** Opens a series of futures on the venue's chain and lists it as an operator does; resolves with its name once it trades. */
export async function listSeries({ devnet }: OwnVenue, dir: string): Promise<string> {
  const expirySec = (Math.floor(Date.now() / 1_000 / DAY_SEC) + AHEAD_DAYS) * DAY_SEC + 14 * 3_600
  const { privateKey } = (await roleAccounts(dir)).deployer
  const row = rowOfNextSeries(readRows(defaultMarketFile), expirySec)
  await createSeries({ rpcUrl: devnet.rpc_url, privateKey }, devnet.future_asset, expirySec)
  const file = join(dir, 'series.json')
  await writeJsonDurably(file, [row])
  const operator = fileURLToPath(new URL('../actors/operator/main.js', import.meta.url))
  await promisify(execFile)(process.execPath, [operator, 'market', 'add', file], {
    env: { ...inheritedEnvironment(), DATA_DIR: dir },
  })
  const rest = createRestClient(devnet.gateway_url)
  const name = String(row.market)
  await waitFor(`${name} to trade`, LISTED_WITHIN_MS, async () => {
    const listed = (await rest.markets()).find(({ market }) => market === name)
    return (listed?.trading_status === 'open' && listed.future?.band_status === 'ok') || undefined
  })
  return name
}
