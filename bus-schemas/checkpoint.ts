import { createHash, type Hash } from 'node:crypto'
import { assert } from '../core/assert.js'
import type { MatcherSnapshot } from '../core/engine/snapshot.js'
import { atOnce, type Pieces } from '../core/pieces.js'
import { MalformedMessage, never, position, text, whole, type Codec } from '../core/wire/codec.js'
import { struct } from '../core/wire/compound.js'
import {
  checkpointVersions,
  type Checkpoint,
  type CheckpointForm,
  type CheckpointHead,
  type Item,
  type ListPart,
  type Lists,
  type ReadPart,
} from './checkpoint-form.js'
import type { LogMarket } from './commands.js'
import { assertKnownVersion, MAX_MESSAGE_BYTES, textOf } from './envelope.js'

const LINE_BREAK = 0x0a

/** A part is closed with the row that brings it here, which keeps the encoding of each to a millisecond or two. */
const PART_CLOSES_AT_BYTES = 64 * 1024

/** The last message of a checkpoint: what those before it must be. */
export interface CheckpointTrailer {
  /** Of the parts; the trailer itself has one form in all versions. */
  readonly version: number
  readonly market: string
  readonly commandSeq: number
  readonly parts: number
  readonly bytes: number
}

const trailerLine = struct<CheckpointTrailer>({
  version: whole,
  market: text,
  commandSeq: whole,
  parts: position,
  bytes: whole,
})

/** The first line of a part: its number and what its rows are. The second line has the rows. */
interface PartHead {
  readonly no: number
  readonly list: string
}

const partLine = struct<PartHead>({ no: whole, list: text })

/** The bytes are not a whole checkpoint of this market and version, or nothing that can be decoded. */
export class CheckpointUnusable extends Error {
  override readonly name = 'CheckpointUnusable'
}

function onceOf({ commandSeq, feed, term, state }: Checkpoint): CheckpointHead {
  const { observed, fault, clock, codeTrials, ...scalars } = state
  return {
    commandSeq,
    feed,
    term,
    scalars: {
      ...scalars,
      ...(observed !== undefined && { observed }),
      ...(fault !== undefined && { fault }),
      ...(clock !== undefined && { clock }),
      ...(codeTrials !== undefined && { codeTrials }),
    },
  }
}

/**
 * The messages of a checkpoint, the trailer last, which holds the SHA-256 of everything before it and of itself. Each is
 * made when it is asked for, so that the writer can do other work between two; as a text, at most MAX_MESSAGE_BYTES long
 * in UTF-8, so that one buffer serves all: memory outside of the heap brings collections of the whole heap.
 */
export function* encodeCheckpoint(checkpoint: Checkpoint): Generator<string> {
  const { version, form } = checkpointVersions(checkpoint.state.identity)
  const hash = createHash('sha256')
  let parts = 0
  let bytes = 0
  for (const { list, rows } of partsOf(checkpoint, form)) {
    const text = `${partLine.write({ no: parts, list })}\n[${rows.join(',')}]`
    const length = Buffer.byteLength(text)
    assert(length <= MAX_MESSAGE_BYTES, `a part of a checkpoint has ${length} bytes`)
    hash.update(text)
    parts += 1
    bytes += length
    yield text
  }
  const { market, commandSeq } = checkpoint
  yield sealed({ version, market, commandSeq, parts, bytes }, hash)
}

/** Rows of one list, as JSON. */
interface PartRows {
  readonly list: string
  readonly rows: string[]
}

function* partsOf(
  checkpoint: Checkpoint,
  { head, lists }: CheckpointForm<CheckpointHead, Lists>,
): Generator<PartRows> {
  const { state } = checkpoint
  yield { list: 'head', rows: [head.write(onceOf(checkpoint))] }
  for (const list of Object.keys(lists) as ListPart[]) yield* partsOfList(list, lists, state)
}

function* partsOfList<K extends ListPart>(
  list: K,
  lists: Lists,
  state: MatcherSnapshot,
): Generator<PartRows> {
  const { write } = lists[list]
  let rows: string[] = []
  let length = 0
  for (const item of state[list] as Iterable<Item<K>>) {
    const row = write(item)
    rows.push(row)
    length += row.length
    if (length < PART_CLOSES_AT_BYTES) continue
    yield { list, rows }
    rows = []
    length = 0
  }
  if (rows.length > 0) yield { list, rows }
}

function sealed(trailer: CheckpointTrailer, hash: Hash): string {
  const line = trailerLine.write(trailer)
  return `${line}\n${hash.update(line).digest('hex')}`
}

/** The trailer in a message, if it is the last of a checkpoint; not verified yet. */
export const readTrailer = (data: Uint8Array): CheckpointTrailer | undefined =>
  readFirstLine(trailerLine, data)

/** How many messages of its checkpoint stand before this one, if it is one of those before the trailer. */
export const readPartNumber = (data: Uint8Array): number | undefined =>
  readFirstLine(partLine, data)?.no

function readFirstLine<T>(line: Codec<T>, data: Uint8Array): T | undefined {
  const end = data.indexOf(LINE_BREAK)
  try {
    return line.read(JSON.parse(textOf(data.subarray(0, Math.max(end, 0)))), 'line')
  } catch (error) {
    if (error instanceof MalformedMessage || error instanceof SyntaxError) return undefined
    throw error
  }
}

/**
 * The inverse of encodeCheckpoint, for every known version. Throws CheckpointUnusable unless the messages are a whole
 * checkpoint of this market, to the bit. One of a newer version breaks an invariant, as the log after it may.
 */
export const decodeCheckpoint = (
  messages: readonly Uint8Array[],
  market: LogMarket,
  versions = checkpointVersions(market),
): Checkpoint => atOnce(decodeInPieces(messages, market, versions))

/** The same, a message in each piece; all of one that an earlier release wrote is read in one. */
export function* decodeInPieces(
  messages: readonly Uint8Array[],
  market: LogMarket,
  versions = checkpointVersions(market),
): Pieces<Checkpoint> {
  const parts = messages.slice(0, -1)
  const bytes = checkBytes(market, versions)
  for (const part of parts) {
    bytes.take(part)
    yield
  }
  const trailer = bytes.close(messages.at(-1) ?? new Uint8Array())
  const { version, form } = versions
  const { head, lists } =
    trailer.version === version
      ? yield* orUnusableInPieces(form.readInPieces(readParts(parts), 'checkpoint'))
      : orUnusable(() => versions.read(trailer.version, readParts(parts), 'checkpoint'))
  const { commandSeq, feed, term, scalars } = head
  const absent = { observed: undefined, fault: undefined, clock: undefined, codeTrials: undefined }
  const state = { ...absent, ...scalars, ...lists }
  return { market: market.market, commandSeq, feed, term, state }
}

/** Whatever decoding fails with, another checkpoint or the log still holds the state. Nothing in it asks the bus. */
export function orUnusable<T>(decode: () => T): T {
  try {
    return decode()
  } catch (cause) {
    throw undecodable(cause)
  }
}

/** The same of work in pieces. */
export function* orUnusableInPieces<T>(decode: Pieces<T>): Pieces<T> {
  try {
    return yield* decode
  } catch (cause) {
    throw undecodable(cause)
  }
}

const undecodable = (cause: unknown): CheckpointUnusable => {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CheckpointUnusable(`it cannot be decoded: ${why}`, { cause })
}

/** Checks the messages of a checkpoint one after the other, each in a millisecond or two. */
export interface CheckpointCheck {
  /** Takes the next part. Throws CheckpointUnusable when a start could not decode it. */
  take(part: Uint8Array): void
  /** What the trailer says. Throws CheckpointUnusable unless it is that of all that was taken. */
  close(trailer: Uint8Array): CheckpointTrailer
}

/**
 * For a stored checkpoint of any version: whether its bytes are those that were sealed. They were decoded before. `close` throws
 * as decodeCheckpoint does.
 */
export function checkBytes(
  market: LogMarket,
  versions: Parameters<typeof assertKnownVersion>[2] = checkpointVersions(market),
): CheckpointCheck {
  const hash = createHash('sha256')
  return {
    take: (part) => void hash.update(part),
    close(message) {
      const trailer = assertSeal(message, hash)
      const { first } = versions
      if (trailer.version < first) {
        throw new CheckpointUnusable(
          `version ${trailer.version}, this build reads from ${first} on`,
        )
      }
      assertKnownVersion(`a checkpoint of ${trailer.market}`, trailer.version, versions)
      if (trailer.market !== market.market) {
        throw new CheckpointUnusable(`of ${trailer.market}, not ${market.market}`)
      }
      return trailer
    },
  }
}

/** For a checkpoint that this build has written. */
export function checkCheckpoint(market: LogMarket): CheckpointCheck {
  const { head, lists } = checkpointVersions(market).form
  const codecs = new Map<string, Pick<Codec<unknown>, 'read'>>(Object.entries({ head, ...lists }))
  const hash = createHash('sha256')
  return {
    take(part) {
      hash.update(part)
      orUnusable(() => {
        for (const { list, rows } of readParts([part]))
          for (const row of rows) (codecs.get(list) ?? never).read(row, list)
      })
    },
    close: (message) => assertSeal(message, hash),
  }
}

function* readParts(parts: readonly Uint8Array[]): Generator<ReadPart> {
  for (const part of parts) {
    const [line = '', text = ''] = textOf(part).split('\n')
    const { list } = partLine.read(JSON.parse(line), 'part')
    yield { list, rows: JSON.parse(text) as readonly unknown[] }
  }
}

/** The trailer in a checkpoint's last message, if it is that of all bytes before it. */
function assertSeal(message: Uint8Array, hash: Hash): CheckpointTrailer {
  const trailer = readTrailer(message)
  if (trailer === undefined) throw new CheckpointUnusable('no trailer at its end')
  if (!Buffer.from(sealed(trailer, hash)).equals(message))
    throw new CheckpointUnusable('its bytes are not what was written')
  return trailer
}
