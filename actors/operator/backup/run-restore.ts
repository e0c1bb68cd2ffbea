import { join, resolve } from 'node:path'
import { createChainClient } from '../../../chain/reads/client.js'
import { loadDeployedMarkets } from '../../../data/markets.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { openStreamCopies } from '../../../runtime/bus/nats-copies.js'
import type { RestoreConfig } from '../config.js'
import { readEvidence, whyIncomplete } from './evidence.js'
import { BadBackup, type BackupPart } from './manifest.js'
import { finish, putBack } from './restore-backup.js'
import { openOpener, type SealKey } from './sealed-files.js'
import { DEPLOYMENT_PART } from './take-backup.js'

/** What is asked for with `./venue restore`. */
export interface RestoreTask {
  readonly dir: string
  readonly key: SealKey
  /** The operator states that the venue answered nothing after this backup. */
  readonly nothingSince: boolean
}

/** Restores into an empty directory and an empty bus; resolves with the lines to print. */
export async function runRestore(
  config: RestoreConfig,
  { dir, key, nothingSince }: RestoreTask,
  onPart: (kind: BackupPart['kind'], name: string) => void,
): Promise<string[]> {
  const { dataDir, natsUrl, rpcUrl, marketsFile } = config
  if (!nothingSince)
    throw new BadBackup(
      'this release restores only a backup after which nothing was answered: say --nothing-since',
    )
  const opener = await openOpener(key, resolve(dir))
  const client = createChainClient(rpcUrl, 'read')
  const copies = await openStreamCopies({ url: natsUrl, name: 'restore' })
  try {
    const manifest = await putBack({
      ...{ dir: resolve(dir), dataDir, marketsFile, copies, client, opener, onPart },
    })
    const { markets } = loadDeployedMarkets({
      DEPLOYMENT_FILE: join(dataDir, DEPLOYMENT_PART),
      MARKETS_FILE: marketsFile,
    })
    const bus = await connectNatsBus({ url: natsUrl, name: 'restore' })
    try {
      const fromBlock = manifest.chain.block
      const evidence = await readEvidence({ bus, client, dataDir, markets, fromBlock })
      const gaps = whyIncomplete(evidence)
      if (gaps.length > 0) throw new BadBackup(gaps.join('; '))
    } finally {
      await bus.close()
    }
    await finish(dataDir)
    return [
      `restored what was answered before ${manifest.covers_until}; nothing is lost as far as the chain shows`,
      'start the venue, then run ./venue audit',
    ]
  } finally {
    await copies.close()
  }
}
