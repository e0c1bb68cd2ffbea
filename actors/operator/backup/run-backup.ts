import { resolve } from 'node:path'
import { createChainClient } from '../../../chain/reads/client.js'
import { loadDeployment } from '../../../chain/reads/deployment.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { openStreamCopies } from '../../../runtime/bus/nats-copies.js'
import type { BackupConfig } from '../config.js'
import { openSealer, type SealKey } from './sealed-files.js'
import { takeBackup } from './take-backup.js'
import { feedsWithoutBeginning, type BackupPart } from './manifest.js'

/** What is asked for with `./venue backup`. */
export interface BackupTask {
  readonly dir: string
  readonly key: SealKey
}

/** Captures the running venue; resolves with the lines to print. */
export async function runBackup(
  config: BackupConfig,
  { dir, key }: BackupTask,
  onPart: (kind: BackupPart['kind'], name: string) => void | Promise<void>,
): Promise<string[]> {
  const sealer = await openSealer(key)
  const { chainId } = await loadDeployment(config.deploymentFile)
  const asOperator = { ...config.place, name: 'backup', user: 'operator' } as const
  const copies = await openStreamCopies(asOperator)
  const bus = await connectNatsBus(asOperator)
  try {
    const manifest = await takeBackup({
      dir: resolve(dir),
      copies,
      bus,
      sealer,
      chainId,
      onPart,
      nowMs: Date.now,
      dataDir: config.dataDir,
      deploymentFile: config.deploymentFile,
      archiveDir: config.archiveDir,
      client: createChainClient(config.rpcUrl, 'read'),
    })
    const { parts, covers_until, chain } = manifest
    const bytes = parts.reduce((sum, { stored_bytes }) => sum + stored_bytes, 0)
    const lacking = feedsWithoutBeginning(manifest)
    return [
      `backup complete: ${parts.length} parts, ${bytes} bytes in ${resolve(dir)}`,
      `it holds all that was answered before ${covers_until}; block ${chain.block} of chain ${chain.id}`,
      'it holds no signing key: keep those, and the key that opens this backup, in another place',
      ...(lacking.length > 0
        ? [`WARNING: without FEED_ARCHIVE_DIR it lacks the beginning of ${lacking.join(', ')}`]
        : []),
    ]
  } finally {
    await bus.close()
    await copies.close()
  }
}
