import Database from 'better-sqlite3'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isLeadStream } from '../../../bus-schemas/subjects.js'
import { readNewestBlock } from '../../../chain/reads/blocks.js'
import type { ChainClient } from '../../../chain/reads/client.js'
import { isoTime } from '../../../core/time.js'
import { ACCOUNTS_FILE } from '../../../data/account-index.js'
import { writeFileDurably } from '../../../data/durable-file.js'
import { openFeedArchive } from '../../../data/feed-archive.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import type { StreamCopies } from '../../../runtime/bus/nats-copies.js'
import { VERSION } from '../../../runtime/process/version.js'
import {
  BACKUP_FORMAT,
  BadBackup,
  writeManifest,
  type BackupPart,
  type Manifest,
} from './manifest.js'
import { copyStreamWhole, throughPlainCopy } from './plain-copy.js'
import { assertRoom, databaseBytes, streamBytes, treeBytes } from './room.js'
import { KEY_FILE, sealFile, type Sealer } from './sealed-files.js'
import { sampleTimes } from './stream-times.js'
import { closedDirectories, databaseFiles, databasePath } from '../../../data/places.js'

interface BackupOptions {
  /** Directory of the backup; it must not exist, or be empty. */
  readonly dir: string
  readonly dataDir: string
  readonly deploymentFile: string
  /** FEED_ARCHIVE_DIR. */
  readonly archiveDir?: string | undefined
  readonly copies: Pick<StreamCopies, 'names' | 'copy' | 'facts' | 'storedAt'>
  readonly bus: Pick<Bus, 'ask'>
  readonly client: ChainClient
  readonly chainId: number
  readonly sealer: Sealer
  readonly nowMs: () => number
  /** Told before each part is captured. */
  readonly onPart?: (kind: BackupPart['kind'], name: string) => void | Promise<void>
}

/** Name of the file that is neither a database nor a stream, as a restore writes it into DATA_DIR. */
export const DEPLOYMENT_PART = 'restored-deployment.json'

/** Followers of the streams: captured before them, so that none is ahead of what it follows. */
const FOLLOWERS: ReadonlySet<string> = new Set(['history.db', 'intake.db'])
/**
 * Sole writers of what was signed: captured after the streams, so that every result in a log is in its journal; and the
 * journals of transactions after the records that refer to them.
 */
const JOURNAL = /^executor\.db$|-transactions\.db$/

/** The file of a journal follows its stream and is captured before it. */
const OF_JOURNAL = /^JOURNAL_/

/**
 * Streams in the order of capture. First the register: each log that was there when the streams were listed is of a market in it.
 * Then each is followed by those that it was made from.
 */
const STREAM_ORDER = [/^MARKETS$/, /^CHECKPOINTS_/, /^FEED_/, /^COMMANDS_/] as const

/**
 * Captures a running venue into encrypted files and writes the manifest last; a directory without one is not a backup. A
 * database is copied in one read transaction of its own, which neither waits for its owner nor holds it up. Throws
 * BadBackup, BusUnavailable and ChainUnreachable.
 */
export async function takeBackup(options: BackupOptions): Promise<Manifest> {
  const { dir, dataDir, client, chainId, nowMs, copies, sealer } = options
  await assertEmpty(dir)
  const closed = closedDirectories(dataDir)
  if (closed.length > 0)
    throw new BadBackup(`this user may not read ${closed.join(', ')}: take the backup as root`)
  const work = `${dir}.partial`
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true, mode: 0o700 })
  const startedMs = nowMs()
  const { number, hash } = await readNewestBlock(client)
  const databases = [...databaseFiles(dataDir).keys()]
    // The index of accounts is made of the chain again.
    .filter((name) => name !== ACCOUNTS_FILE)
    .toSorted((a, b) => Number(JOURNAL.test(a)) - Number(JOURNAL.test(b)) || (a < b ? -1 : 1))
  await assertRoomFor(options, work, databases)
  const capture = { ...options, work, parts: [] }
  if (sealer.keyFile !== undefined) await writeFileDurably(join(work, KEY_FILE), sealer.keyFile)
  await captureDeployment(capture)
  for (const name of databases) if (FOLLOWERS.has(name)) await captureDatabase(capture, name)
  const names = inOrder(await copiedStreams(copies))
  // What is answered from here on may be stored after its stream was copied.
  const coversUntilMs = nowMs()
  for (const name of names) if (!OF_JOURNAL.test(name)) await captureStream(capture, name)
  // What a captured feed no longer holds was archived before.
  await captureArchive(capture)
  for (const name of databases) if (!FOLLOWERS.has(name)) await captureDatabase(capture, name)
  for (const name of names) if (OF_JOURNAL.test(name)) await captureStream(capture, name)
  const manifest: Manifest = {
    format: BACKUP_FORMAT,
    venue_version: VERSION,
    started_at: isoTime(startedMs),
    covers_until: isoTime(coversUntilMs),
    ended_at: isoTime(nowMs()),
    chain: { id: chainId, block: Number(number), block_hash: hash },
    parts: capture.parts,
  }
  await writeManifest(work, manifest)
  await rm(dir, { recursive: true, force: true })
  await rename(work, dir)
  return manifest
}

/** The logs say which terms there were: a stream of terms that is restored from an older moment would say less. */
const copiedStreams = async (copies: Pick<StreamCopies, 'names'>): Promise<string[]> =>
  (await copies.names()).filter((name) => !isLeadStream(name))

async function assertRoomFor(
  { dataDir, archiveDir, copies }: BackupOptions,
  work: string,
  databases: readonly string[],
): Promise<void> {
  const files = databases.map((name) => databaseBytes(databasePath(dataDir, name)))
  await assertRoom(work, [
    ...(await Promise.all(files)),
    ...(await treeBytes(archiveDir)),
    ...(await streamBytes(copies, await copiedStreams(copies))),
  ])
}

async function assertEmpty(dir: string): Promise<void> {
  if (!existsSync(dir)) return
  const found = await readdir(dir).catch(() => ['a file'])
  if (found.length > 0) throw new BadBackup(`${dir} is not empty: name a directory for this backup`)
}

function inOrder(streams: readonly string[]): string[] {
  const rank = (name: string): number => {
    const at = STREAM_ORDER.findIndex((form) => form.test(name))
    return at === -1 ? STREAM_ORDER.length : at
  }
  return streams.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))
}

interface BackupRun extends BackupOptions {
  readonly work: string
  readonly parts: BackupPart[]
}

interface PartContent {
  readonly kind: BackupPart['kind']
  readonly name: string
  readonly folder?: string
  readonly stream?: BackupPart['stream']
  readonly chunks: AsyncIterable<Uint8Array>
}

async function seal(
  capture: BackupRun,
  { kind, name, folder, stream, chunks }: PartContent,
): Promise<void> {
  const { sealer, work, parts, nowMs } = capture
  const captured_at = isoTime(nowMs())
  const file = `${[kind, folder, name].filter(Boolean).join('-')}.age`
  const sealed = await sealFile(sealer, join(work, file), chunks)
  const place = { kind, name, ...(folder !== undefined && { folder }), file }
  parts.push({ ...place, ...sealed, captured_at, ...(stream && { stream }) })
}

async function captureDeployment(capture: BackupRun): Promise<void> {
  const { deploymentFile, onPart } = capture
  await onPart?.('file', DEPLOYMENT_PART)
  const deployment = withoutSecrets(JSON.parse(await readFile(deploymentFile, 'utf8')))
  const text = `${JSON.stringify(deployment, null, 2)}\n`
  await seal(capture, { kind: 'file', name: DEPLOYMENT_PART, chunks: bytesOf(text) })
}

async function* bytesOf(content: string | Uint8Array): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(content))
}

async function captureArchive(capture: BackupRun): Promise<void> {
  const { archiveDir, onPart } = capture
  if (archiveDir === undefined) return
  const archive = openFeedArchive(archiveDir)
  for (const folder of await archive.streams()) {
    await onPart?.('archive', folder)
    for await (const { name, bytes } of archive.files(folder))
      await seal(capture, { kind: 'archive', folder, name, chunks: bytesOf(bytes) })
  }
}

/** All pages in one step: between two steps a writer would make the copy begin again. */
const ALL_PAGES = 2 ** 31 - 1

async function captureDatabase(capture: BackupRun, name: string): Promise<void> {
  const { dataDir, work, onPart } = capture
  await onPart?.('database', name)
  const place = databasePath(dataDir, name)
  await throughPlainCopy(join(work, `${name}.copy`), {
    write: (copy) => copyDatabase(place, copy),
    seal: (_, chunks) => seal(capture, { kind: 'database', name, chunks }),
  })
}

async function copyDatabase(place: string, copy: string): Promise<void> {
  const db = new Database(place, { readonly: true, fileMustExist: true })
  try {
    await db.backup(copy, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

/** Encryption takes longer than the server waits, so the copy is on disk before it begins. */
async function captureStream(capture: BackupRun, name: string): Promise<void> {
  const { copies, work, onPart } = capture
  await onPart?.('stream', name)
  await throughPlainCopy(join(work, `${name}.copy`), {
    write: (copy) => copyStreamWhole(copies, name, copy),
    seal: async ({ config, state }, chunks) => {
      const times = await sampleTimes(copies, name, state)
      await seal(capture, { kind: 'stream', name, stream: { config, state, times }, chunks })
    },
  })
}

/** Names under which a file of the launcher keeps what must not leave the machine. */
const SECRET_NAME = /key|secret|seed|mnemonic|password|passphrase|token|note|accounts/i
/** A private key, whatever its name; addresses are shorter. */
const SECRET_TEXT = /^(0x)?[0-9a-fA-F]{64}$/

/**
 * The value without everything that may be a key: the deployment file of the devnet has the keys of its development
 * accounts. What a venue reads of the file are addresses and numbers, and those stay.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(isPublic).map(withoutSecrets)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, held]) => !SECRET_NAME.test(name) && isPublic(held))
      .map(([name, held]) => [name, withoutSecrets(held)]),
  )
}

const isPublic = (value: unknown): boolean =>
  !(typeof value === 'string' && SECRET_TEXT.test(value))
