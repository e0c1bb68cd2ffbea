import { resolve } from 'node:path'
import { createChainClient, type ChainClient } from '../../../chain/reads/client.js'
import { commandsStream } from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/model/market.js'
import {
  openRestoredJournals,
  type RestoredJournals,
} from '../../../data/journal/restored-journal.js'
import { stateOrEmpty, type Bus } from '../../../runtime/bus/bus.js'
import { registeredMarkets } from '../../../runtime/bus/market-register.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { openStreamCopies, type CopiesOptions } from '../../../runtime/bus/nats-copies.js'
import type { RestoreConfig } from '../config.js'
import { readEvidence, whyIncomplete } from './evidence.js'
import type { Manifest } from './manifest.js'
import { recordGap } from './record-gap.js'
import { finish, putBack } from './restore-backup.js'
import { openOpener, type SealKey } from './sealed-files.js'
import { assertStreamsRestored } from './stream-times.js'
import { syncBus } from '../../../runtime/bus/sync-bus.js'

/** What is asked for with `./venue restore`. */
export interface RestoreTask {
  readonly dir: string
  readonly key: SealKey
  /** The operator states that the venue answered nothing after this backup. */
  readonly nothingSince: boolean
}

/** Restores into an empty directory and an empty bus, and tells what it does; resolves with the lines to print. */
export async function runRestore(
  config: RestoreConfig,
  task: RestoreTask,
  tell: (line: string) => void,
): Promise<string[]> {
  const { dataDir, place, rpcUrl } = config
  const client = createChainClient(rpcUrl, 'read')
  const asOperator = { ...place, name: 'restore', user: 'operator' } as const
  const manifest = await putStored(config, task, { asOperator, client, tell })
  const isSynced = await syncBus()
  await compareStreams(asOperator, manifest, tell)
  const bus = await connectNatsBus(asOperator)
  try {
    const markets = await openedMarkets(bus)
    const journals = await openRestoredJournals(dataDir, bus)
    try {
      const { nothingSince } = task
      const compared = { ...config, bus, client, journals, markets, manifest, nothingSince }
      const lines = await compare(compared)
      return isSynced ? lines : [...lines, SYNC_IT]
    } finally {
      await journals.close()
    }
  } finally {
    await bus.close()
  }
}

/** A server of another program has the restored streams in memory: it syncs what it is given, and not what it is restored from. */
const SYNC_IT =
  'before that: stop nats-server, run sync on its machine, and start it with sync_interval: always'

interface RestoreMeans {
  readonly asOperator: CopiesOptions
  readonly client: ChainClient
  readonly tell: (line: string) => void
}

async function putStored(
  { dataDir, archiveDir }: RestoreConfig,
  { dir, key }: RestoreTask,
  { asOperator, client, tell }: RestoreMeans,
): Promise<Manifest> {
  const opener = await openOpener(key, resolve(dir))
  const copies = await openStreamCopies(asOperator)
  try {
    return await putBack({
      dir: resolve(dir),
      nowMs: Date.now,
      dataDir,
      archiveDir,
      copies,
      client,
      opener,
      tell,
    })
  } finally {
    await copies.close()
  }
}

async function compareStreams(
  asOperator: CopiesOptions,
  manifest: Manifest,
  tell: RestoreMeans['tell'],
): Promise<void> {
  tell('compares sequences and storage times of the restored streams')
  const copies = await openStreamCopies(asOperator)
  try {
    await assertStreamsRestored(copies, manifest)
  } finally {
    await copies.close()
  }
}

/** The registered markets whose logs were put back; one that was registered and not opened yet is opened by the next start. */
async function openedMarkets(bus: Bus): Promise<readonly Market[]> {
  const opened: Market[] = []
  for (const market of await registeredMarkets(bus)) {
    const { lastSeq } = await stateOrEmpty(bus, commandsStream(market.market))
    if (lastSeq > 0) opened.push(market)
  }
  return opened
}

interface Comparison extends Pick<RestoreConfig, 'dataDir' | 'user'> {
  readonly bus: Bus
  readonly client: ChainClient
  readonly journals: RestoredJournals
  readonly markets: readonly Market[]
  readonly manifest: Manifest
  readonly nothingSince: boolean
}

/** Compares what was put back with the chain, and records what it lacks; resolves with the lines to print. */
async function compare(options: Comparison): Promise<string[]> {
  const { bus, client, dataDir, markets, manifest, nothingSince } = options
  const fromBlock = manifest.chain.block
  const evidence = await readEvidence({ bus, client, dataDir, markets, fromBlock })
  const why = whyIncomplete(evidence)
  const { covers_until: coversUntil } = manifest
  const isComplete = nothingSince && why.length === 0
  const { journals, user: by } = options
  const gap = { bus, client, journals, dataDir, by, coversUntil, nowMs: Date.now }
  const lines = isComplete ? [] : await recordGap(gap, evidence)
  await finish(dataDir)
  return isComplete
    ? [
        `restored what was answered before ${coversUntil}; nothing is lost as far as the chain shows`,
      ]
    : [
        `restored with a gap: what was answered after ${coversUntil} is lost`,
        ...(nothingSince ? ['this contradicts --nothing-since:'] : []),
        ...[...why, ...lines].map((line) => `  ${line}`),
        'start the venue, run ./venue audit, then ./venue market accept-gap <market> for each market',
      ]
}
