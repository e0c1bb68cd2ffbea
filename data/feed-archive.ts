import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'
import { subjectOfFeed } from '../bus-schemas/subjects.js'
import { assert } from '../core/assert.js'
import { CannotStart, faultsOf } from '../core/cannot-start.js'
import type { BusMessage } from '../runtime/bus/bus.js'
import { writeFileDurably, writeJsonDurably } from './durable-file.js'

const zip = promisify(gzip)
const unzip = promisify(gunzip)

const MANIFEST = 'manifest.json'

/** Most messages of a segment. */
export const SEGMENT_MESSAGES = 10_000
/** A segment is closed before the message that would take its data beyond this; a message has at most 1 MiB. */
export const SEGMENT_BYTES = 16 * 1024 * 1024

const segment = z.object({
  file: z.string().regex(/^[\w.-]+\.gz$/),
  /** Messages of the stream, without a gap. */
  first_seq: z.int().min(1),
  last_seq: z.int().min(1),
  /** The last change up to its end. */
  last_change: z.int().min(0),
  /** Of the file, in hex. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  /** Orders with a change in it that may still be forgotten. */
  waiting: z.int().min(0),
  /** When it was last looked at for orders to forget, in unix milliseconds. */
  reviewed_at_ms: z.int().min(0),
  /** Orders that were matched in it and had no fill when it was written; they are never forgotten. */
  matched: z.array(z.string()),
})

const manifest = z.object({
  version: z.literal(1),
  stream: z.string(),
  segments: z.array(segment),
})

export type Segment = Readonly<z.infer<typeof segment>>

/** The archive holds other bytes than its manifest says, or has a gap: restore it from a copy. */
export class ArchiveDamaged extends CannotStart {
  override readonly name = 'ArchiveDamaged'
}

/** A segment is not there, which the writer may have replaced since its manifest was read. */
class SegmentMissing extends ArchiveDamaged {}

/** The archive is there, and the system does not let this user read it: without it the messages in it would count as gone. */
export class ArchiveNotShared extends CannotStart {
  override readonly name = 'ArchiveNotShared'
}

/** A file of the archive. */
export interface ArchivedFile {
  /** In the folder of its stream. */
  readonly name: string
  readonly bytes: Uint8Array
}

/**
 * Streams as files: for each a folder with its segments and `manifest.json`, which names them in order with their SHA-256. A
 * segment is gzip of one line per message: sequence, time of storage, data. One process writes; any number read.
 */
export interface FeedArchive {
  /** Names of the streams that have a manifest. */
  streams(): Promise<readonly string[]>
  /**
   * The files of a stream's folder as a copy needs them, while the writer goes on: each segment in the form that it has when
   * its turn comes, then the manifest that names exactly these. Throws ArchiveDamaged.
   */
  files(stream: string): AsyncGenerator<ArchivedFile>
  /** Oldest first, from message 1 without a gap; none when nothing is archived. Throws ArchiveDamaged and ArchiveNotShared. */
  segments(stream: string): Promise<readonly Segment[]>
  /** All messages of a segment. Throws ArchiveDamaged. */
  load(stream: string, segment: Segment): Promise<readonly BusMessage[]>
  /** Up to `limit` messages from `fromSeq`, in order; none where the archive does not hold that one. Throws ArchiveDamaged. */
  read(stream: string, fromSeq: number, limit: number): Promise<readonly BusMessage[]>
}

export function openFeedArchive(dir: string): FeedArchive {
  let held: { readonly segment: Segment; readonly messages: readonly BusMessage[] } | undefined
  const load: FeedArchive['load'] = async (stream, segment) => {
    if (held?.segment.file === segment.file && held.segment.sha256 === segment.sha256)
      return held.messages
    const messages = await loadSegment(join(dir, stream), segment)
    held = { segment, messages }
    return messages
  }
  const find = async (stream: string, seq: number): Promise<readonly BusMessage[]> => {
    const segments = await readManifest(dir, stream)
    const segment = segments.find(({ first_seq, last_seq }) => first_seq <= seq && seq <= last_seq)
    return segment === undefined ? [] : load(stream, segment)
  }
  return {
    segments: (stream) => readManifest(dir, stream),
    load,
    async streams() {
      const names = existsSync(dir) ? await readdir(dir) : []
      return names.filter((name) => existsSync(join(dir, name, MANIFEST))).toSorted()
    },
    files: (stream) => filesOf(dir, stream),
    async read(stream, fromSeq, limit) {
      const messages = await find(stream, fromSeq).catch(async (error: unknown) => {
        // The writer has replaced the segment since the manifest was read.
        if (!(error instanceof SegmentMissing)) throw error
        return find(stream, fromSeq)
      })
      const at = fromSeq - (messages[0]?.seq ?? fromSeq)
      return messages.slice(at, at + limit)
    },
  }
}

async function* filesOf(dir: string, stream: string): AsyncGenerator<ArchivedFile> {
  const segments: Segment[] = []
  for (const listed of await readManifest(dir, stream)) {
    let segment = listed
    const bytes = await readSegment(join(dir, stream), segment).catch(async (error: unknown) => {
      if (!(error instanceof SegmentMissing)) throw error
      segment = await replacementOf(dir, stream, listed)
      return readSegment(join(dir, stream), segment)
    })
    segments.push(segment)
    yield { name: segment.file, bytes }
  }
  yield { name: MANIFEST, bytes: Buffer.from(JSON.stringify({ version: 1, stream, segments })) }
}

/** The form that the writer has given to a segment since its manifest was read: the same messages in another file. */
async function replacementOf(dir: string, stream: string, former: Segment): Promise<Segment> {
  const segments = await readManifest(dir, stream)
  const found = segments.find(({ first_seq }) => first_seq === former.first_seq)
  if (found === undefined || found.file === former.file)
    throw new SegmentMissing(missing(join(dir, stream, former.file)))
  return found
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code
const isAbsent = (error: unknown): boolean => hasCode(error, 'ENOENT')

/** Throws ArchiveNotShared, and what else the file system throws. */
function readShared(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    if (!hasCode(cause, 'EACCES')) throw cause
    const why = 'give it to the group of its directory (docs/operating/tmpfiles.conf)'
    throw new ArchiveNotShared(`${file} may not be read by this user: ${why}`, { cause })
  })
}

async function readManifest(dir: string, stream: string): Promise<readonly Segment[]> {
  const file = join(dir, stream, MANIFEST)
  const bytes = await readShared(file).catch((error: unknown) => {
    if (isAbsent(error)) return undefined
    throw error
  })
  if (bytes === undefined) return []
  const { segments } = parseManifest(file, bytes.toString())
  let next = 1
  for (const { first_seq, last_seq } of segments) {
    if (first_seq !== next || last_seq < first_seq)
      throw new ArchiveDamaged(`${file} has no segment from message ${next} on`)
    next = last_seq + 1
  }
  return segments
}

function parseManifest(file: string, text: string): z.infer<typeof manifest> {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (cause) {
    throw new ArchiveDamaged(`${file} is no JSON: restore it from a copy`, { cause })
  }
  const parsed = manifest.safeParse(given)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error.issues, given)
  throw new ArchiveDamaged(`${file} is no manifest, ${faults}: restore it from a copy`)
}

const missing = (file: string): string => `${file} is missing: restore it from a copy`

/** The bytes of a segment as its manifest names them. Throws SegmentMissing, and ArchiveDamaged for other bytes. */
async function readSegment(folder: string, segment: Segment): Promise<Buffer> {
  const file = join(folder, segment.file)
  const bytes = await readShared(file).catch((error: unknown) => {
    throw isAbsent(error) ? new SegmentMissing(missing(file)) : error
  })
  if (sha256Of(bytes) !== segment.sha256)
    throw new ArchiveDamaged(`${file} is not the file that its manifest names: restore it`)
  return bytes
}

async function loadSegment(folder: string, segment: Segment): Promise<readonly BusMessage[]> {
  const file = join(folder, segment.file)
  const bytes = await readSegment(folder, segment)
  const lines = (await unzip(bytes)).toString().split('\n').slice(0, -1)
  const subject = subjectOfFeed(basename(folder))
  const messages = lines.map((line) => readLine(line, subject))
  const isWhole =
    messages.length === segment.last_seq - segment.first_seq + 1 &&
    messages.every(({ seq }, index) => seq === segment.first_seq + index)
  if (!isWhole) throw new ArchiveDamaged(`${file} lacks messages that its manifest names`)
  return messages
}

/** A line has the rest of its message: all of a feed have one subject. */
function readLine(line: string, subject: string): BusMessage {
  const [seq = '', storedAtMs = ''] = line.split(' ', 2)
  const data = Buffer.from(line.slice(seq.length + storedAtMs.length + 2))
  return { seq: Number(seq), subject, storedAtMs: Number(storedAtMs), data }
}

const lineOf = ({ seq, storedAtMs, data }: BusMessage): string => {
  const text = Buffer.from(data).toString()
  assert(!text.includes('\n'), `message ${seq} is not one line`)
  return `${seq} ${storedAtMs} ${text}\n`
}

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** What a segment is written from. */
export interface NewSegment extends Pick<
  Segment,
  'last_change' | 'waiting' | 'reviewed_at_ms' | 'matched'
> {
  readonly messages: readonly BusMessage[]
}

/**
 * Writes a segment after the others, or in the place of the one with the same messages. Once it resolves the file and the
 * manifest that names it are on disk; after a crash before that the archive is as it was.
 */
export async function writeSegment(
  dir: string,
  stream: string,
  { messages, ...facts }: NewSegment,
): Promise<Segment> {
  const folder = join(dir, stream)
  await mkdir(folder, { recursive: true })
  const first = messages.at(0)
  const last = messages.at(-1)
  assert(first !== undefined && last !== undefined, 'a segment has messages')
  const bytes = await zip(messages.map(lineOf).join(''))
  const sha256 = sha256Of(bytes)
  const range = { first_seq: first.seq, last_seq: last.seq }
  const file = `${first.seq}-${last.seq}.${sha256.slice(0, 8)}.gz`
  const written: Segment = { file, ...range, sha256, ...facts }
  await writeFileDurably(join(folder, file), bytes)
  await listSegment(dir, stream, written)
  return written
}

/** Puts a segment into the manifest, in the place of the one with the same messages or after the last. */
export async function listSegment(dir: string, stream: string, written: Segment): Promise<void> {
  const before = await readManifest(dir, stream)
  const at = before.findIndex(({ first_seq }) => first_seq === written.first_seq)
  const replaced = before[at]
  const isNext = (before.at(-1)?.last_seq ?? 0) + 1 === written.first_seq
  assert(replaced === undefined ? isNext : replaced.last_seq === written.last_seq, 'no gap')
  const segments = replaced === undefined ? [...before, written] : before.with(at, written)
  await writeJsonDurably(join(dir, stream, MANIFEST), { version: 1, stream, segments })
  await removeUnlisted(join(dir, stream), new Set(segments.map(({ file }) => file)))
}

/** Files of an earlier form of a segment, or of a write that a crash has ended. */
async function removeUnlisted(folder: string, listed: ReadonlySet<string>): Promise<void> {
  for (const name of await readdir(folder))
    if (/\.gz(\.new)?$/.test(name) && !listed.has(name)) await rm(join(folder, name))
}
