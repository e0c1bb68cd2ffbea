import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { CannotStart } from '../../../core/cannot-start.js'
import { writeJsonDurably } from '../../../data/durable-file.js'

/** The form of the backups that this build writes, and the only one that it reads. */
export const BACKUP_FORMAT = 2
export const MANIFEST = 'manifest.json'

/** A backup that is not complete, is damaged, or cannot be opened with the key that is given; one line. */
export class BadBackup extends CannotStart {
  override readonly name = 'BadBackup'
}

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)

const streamFacts = z.object({
  config: z.record(z.string(), z.unknown()),
  state: z.looseObject({
    messages: z.int().nonnegative(),
    first_seq: z.int().nonnegative(),
    last_seq: z.int().nonnegative(),
  }),
  /** When some of its messages were stored; backups of 0.3.0 and before have none. */
  times: z.array(z.object({ seq: z.int().positive(), time: z.string() })).optional(),
})

const part = z.object({
  kind: z.enum(['database', 'stream', 'file', 'archive']),
  /** Name of the database or file in DATA_DIR, of the stream, or of the file in its folder of FEED_ARCHIVE_DIR. */
  name: z.string().regex(/^[A-Za-z0-9._-]+$/),
  /** Of an archive: its feed. */
  folder: z
    .string()
    .regex(/^FEED_[A-Za-z0-9._-]+$/)
    .optional(),
  /** Name of the encrypted file in the backup. */
  file: z.string().regex(/^[A-Za-z0-9._-]+$/),
  /** Of the content. */
  bytes: z.int().nonnegative(),
  sha256,
  /** Of the encrypted file. */
  stored_bytes: z.int().nonnegative(),
  stored_sha256: sha256,
  captured_at: z.iso.datetime(),
  /** Of a stream. */
  stream: streamFacts.optional(),
})

const manifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  /** The release that made it. */
  venue_version: z.string(),
  started_at: z.iso.datetime(),
  /** What was answered before this moment is in the backup. */
  covers_until: z.iso.datetime(),
  ended_at: z.iso.datetime(),
  chain: z.object({
    id: z.int().positive(),
    /** The newest block before anything was captured: what the backup lacks of the chain is after it. */
    block: z.int().nonnegative(),
    block_hash: z.string(),
  }),
  /** In the order of capture. */
  parts: z.array(part),
})

/** One captured thing, with the hashes by which a restore checks it. */
export type BackupPart = z.infer<typeof part>
/** What a backup holds: the only file of it that is not encrypted. */
export type Manifest = z.infer<typeof manifest>

/** Feeds of the backup whose beginning is neither in their stream nor in an archive, with the first message that is held. */
export const feedsWithoutBeginning = ({ parts }: Manifest): string[] =>
  parts
    .filter(({ name, stream }) => /^FEED_/.test(name) && (stream?.state.first_seq ?? 1) > 1)
    .filter(({ name }) => !parts.some(({ folder }) => folder === name))
    .map(({ name, stream }) => `${name} (from message ${stream?.state.first_seq} on)`)

export const writeManifest = (dir: string, written: Manifest): Promise<void> =>
  writeJsonDurably(join(dir, MANIFEST), written)

/** Throws BadBackup when the directory holds no complete backup of a known form. */
export async function readManifest(dir: string): Promise<Manifest> {
  const path = join(dir, MANIFEST)
  let given: unknown
  try {
    given = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new BadBackup(`${dir} holds no complete backup: ${path} cannot be read`, { cause })
  }
  const parsed = manifest.safeParse(given)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw new BadBackup(
    `${path} is not a manifest that this release reads: ${issue?.path.join('.')} ${issue?.message}`,
    { cause: parsed.error },
  )
}
