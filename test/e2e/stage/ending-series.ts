import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Address } from '../../../core/action.js'
import { dateCodeOf } from '../../../core/contracts/future.js'
import { writeJsonDurably } from '../../../data/durable-file.js'
import { developmentAccounts, keeperKeyOf, roleAccounts } from '../../../devnet/chain/accounts.js'
import { saveChainState } from '../../../devnet/chain/chain-state.js'
import { deployDevnet } from '../../../devnet/chain/deploy-devnet.js'
import { chainStateFile } from '../../../devnet/chain/local-chain.js'
import { startAnvil } from '../../support/anvil.js'
import { createFuturesUpkeep } from '../../support/futures-upkeep.js'

const HOUR_SEC = 3_600
const DAY_SEC = 86_400
/** The fixing takes no gap above 300 s. */
const SAMPLE_EVERY_SEC = 240
/** USDC per cNGN: a little above 1,538 cNGN per USDC. */
const PRICE = 650_000_000_000_000n

export interface EndingVenue {
  readonly dataDir: string
  /** `FUTURES_CALENDAR` of the venue: a first series that ends, and the three after it. */
  readonly calendar: string
  /** Their identifiers. */
  readonly names: readonly [first: string, second: string, third: string, fourth: string]
  /** Unix seconds at which the first expires. */
  readonly expirySec: number
}

/**
 * The directory of a venue that stopped just now. Its chain is two hours old and has two series; trading in the first one ended
 * an hour before it expires, which is so many seconds from now, or was. The index of its last hour is recorded until now.
 */
export async function prepareEndingVenue(leftSec: number): Promise<EndingVenue> {
  const dataDir = await mkdtemp(join(tmpdir(), 'venue-'))
  const nowSec = Math.floor(Date.now() / 1_000)
  const expirySec = nowSec + leftSec
  const expiries = [0, 30, 60, 90].map((days) => expirySec + days * DAY_SEC)
  const names = expiries.map((sec) => `USDC-cNGN-${dateCodeOf(BigInt(sec))}`)
  const anvil = await startAnvil({ startSec: nowSec - 2 * HOUR_SEC })
  try {
    const { rpcUrl, client } = anvil
    const roles = await roleAccounts(dataDir)
    const facts = await deployDevnet(rpcUrl, roles, developmentAccounts(), expiries)
    const { deployment } = facts
    const at = deployment as Readonly<Record<string, unknown>> as Readonly<Record<string, Address>>
    const keeper = createFuturesUpkeep({
      rpcUrl,
      feederKey: roles.feeder.privateKey,
      keeperKey: keeperKeyOf(roles),
      at: at,
    })
    const untilSec = Math.min(nowSec, expirySec) - 5
    for (let atSec = expirySec - HOUR_SEC - 60; atSec < untilSec; atSec += SAMPLE_EVERY_SEC) {
      await client.setNextBlockTimestamp({ timestamp: BigInt(atSec) })
      await client.mine({ blocks: 1 })
      await keeper.keep(PRICE)
    }
    await writeJsonDurably(join(dataDir, 'deployment.json'), facts)
    await saveChainState(rpcUrl, chainStateFile(dataDir))
  } finally {
    await anvil.stop()
  }
  const calendar = expiries.map((sec) => new Date(sec * 1_000).toISOString().replace('.000', ''))
  return {
    dataDir,
    calendar: calendar.join(','),
    expirySec,
    names: names as [string, string, string, string],
  }
}
