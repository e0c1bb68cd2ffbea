import { createWriteStream, existsSync, readdirSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isCommandsStream, registerStream } from '../../../bus-schemas/subjects.js'
import { holdsBlock } from '../../../chain/reads/blocks.js'
import { orUnreachable, type ChainClient } from '../../../chain/reads/client.js'
import type { Hex } from '../../../core/action.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import type { StreamCopies } from '../../../runtime/bus/nats-copies.js'
import { BadBackup, readManifest, type BackupPart, type Manifest } from './manifest.js'
import { openedFile, type Opener } from './sealed-files.js'
import { assertPositions } from './stream-times.js'
import { countProgress } from './tell-progress.js'
import { makeDirDurably, writeFileDurably, syncPath } from '../../../data/durable-file.js'
import { databaseFiles, databasePath } from '../../../data/places.js'

export interface BackupRestoreOptions {
  /** Directory of the backup. */
  readonly dir: string
  /** Directory of the venue: without databases. */
  readonly dataDir: string
  /** FEED_ARCHIVE_DIR: absent or empty. */
  readonly archiveDir?: string | undefined
  /** Of an empty bus. */
  readonly copies: Pick<StreamCopies, 'names' | 'restore'>
  readonly client: ChainClient
  readonly opener: Opener
  /** Told what is being done. */
  readonly tell?: (line: string) => void
  readonly nowMs: () => number
}

/** In DATA_DIR while a restore is not finished: no process may start on what is there. */
export const UNFINISHED = 'restore.unfinished'

/**
 * Checks every part of the backup, then writes databases and files into DATA_DIR, the archive of the feeds into its directory
 * and the streams into the bus: the register of markets first, the command logs last, without which no market is opened. Leaves the mark of an unfinished
 * restore. Throws BadBackup before anything is written when the backup, the directory, the bus or the chain does not fit;
 * BusUnavailable and ChainUnreachable.
 */
export async function putBack(options: BackupRestoreOptions): Promise<Manifest> {
  const { dir, dataDir, opener, copies, client } = options
  const manifest = await readManifest(dir)
  await assertPlacesEmpty(options)
  assertArchivePlace(options, manifest)
  await assertSameChain(client, manifest)
  const { tell = () => undefined, nowMs } = options
  const totalBytes = manifest.parts.reduce((sum, { bytes }) => sum + bytes, 0)
  const progress = (done: string) => countProgress({ done, totalBytes, tell, nowMs })
  tell(`checks ${manifest.parts.length} parts, ${totalBytes} bytes`)
  const checked = progress('checked')
  for (const part of manifest.parts)
    for await (const chunk of checked(openedFile(opener, dir, part))) void chunk
  await mkdir(dataDir, { recursive: true })
  await writeFileDurably(join(dataDir, UNFINISHED), `${dir}\n`)
  const parts = manifest.parts.toSorted((a, b) => rank(a) - rank(b))
  const restored = progress('restored')
  for (const part of parts) {
    tell(`restores ${part.kind} ${part.name}`)
    const content = restored(openedFile(opener, dir, part))
    if (part.kind === 'stream') await putStream(copies, part, content)
    else await putFile(placeOf(options, part), content)
  }
  return manifest
}

/** Removes the mark: the processes may start. */
export const finish = (dataDir: string): Promise<void> => rm(join(dataDir, UNFINISHED))

const rank = ({ kind, name }: BackupPart): number =>
  kind !== 'stream' ? 0 : name === registerStream ? 1 : isCommandsStream(name) ? 3 : 2

async function assertPlacesEmpty({ dataDir, copies }: BackupRestoreOptions): Promise<void> {
  const found = existsSync(dataDir) ? readdirSync(dataDir) : []
  if (found.includes(UNFINISHED))
    throw new BadBackup(
      `a restore into ${dataDir} broke off: empty it and the bus, then restore again`,
    )
  const databases = existsSync(dataDir) ? [...databaseFiles(dataDir).keys()] : []
  if (databases.length > 0)
    throw new BadBackup(
      `${dataDir} has databases already (${databases.join(', ')}): move them away`,
    )
  const streams = await copies.names()
  if (streams.length > 0)
    throw new BadBackup(`the bus has streams already (${streams.join(', ')}): give an empty one`)
}

async function assertSameChain(client: ChainClient, { chain }: Manifest): Promise<void> {
  const id = await orUnreachable('chain id', client.getChainId())
  if (id !== chain.id)
    throw new BadBackup(`the backup is of chain ${chain.id}, the node is of chain ${id}`)
  const block = { number: BigInt(chain.block), hash: chain.block_hash as Hex }
  const isHeld = await holdsBlock(client, block).catch(() => false)
  if (!isHeld)
    throw new BadBackup(
      `the node does not have block ${chain.block} of the backup: it is another chain, or lost it`,
    )
}

function assertArchivePlace({ archiveDir }: BackupRestoreOptions, { parts }: Manifest): void {
  if (!parts.some(({ kind }) => kind === 'archive')) return
  if (archiveDir === undefined)
    throw new BadBackup(
      'the backup holds an archive of the feeds: set FEED_ARCHIVE_DIR to its place',
    )
  if (existsSync(archiveDir) && readdirSync(archiveDir).length > 0)
    throw new BadBackup(`${archiveDir} has an archive already: move it away`)
}

function placeOf(options: BackupRestoreOptions, { kind, name, folder = '' }: BackupPart): string {
  const { dataDir, archiveDir = '' } = options
  return kind === 'archive' ? join(archiveDir, folder, name) : databasePath(dataDir, name)
}

/** The file is complete and on disk once it has its name. */
async function putFile(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  const temporary = `${path}.restored`
  await makeDirDurably(dirname(path))
  await pipeline(content, createWriteStream(temporary, { mode: 0o600 }))
  await syncPath(temporary)
  await rename(temporary, path)
  await syncPath(dirname(path))
}

async function putStream(
  copies: BackupRestoreOptions['copies'],
  { name, stream }: BackupPart,
  chunks: AsyncIterable<Uint8Array>,
): Promise<void> {
  if (stream === undefined) throw new BadBackup(`the manifest does not describe stream ${name}`)
  const { state } = await copies.restore(name, stream, chunks).catch((error: unknown) => {
    if (!(error instanceof BusUnavailable && TOO_SLOW.test(error.message))) throw error
    throw new BusUnavailable(
      `the bus took too long for ${name}: start it with sync_interval "24h" for the restore (docs/BACKUP.md)`,
      { cause: error },
    )
  })
  assertPositions(name, state, stream.state)
}

/** What a server says that has waited some seconds for the disk: it stores a copy message by message, and syncs each. */
const TOO_SLOW = /closed pipe|stalled/
