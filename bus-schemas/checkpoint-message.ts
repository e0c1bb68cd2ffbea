import { createHash, type Hash } from 'node:crypto'
import { z } from 'zod'
import { assert } from '../core/assert.js'
import type { Deadline } from '../core/deadlines.js'
import type { SettledMove } from '../core/accounts.js'
import type { Hold } from '../core/live-order.js'
import type { AccountSnapshot, MatcherSnapshot, OrderSnapshot } from '../core/matcher-snapshot.js'
import { amountE18 } from '../core/money.js'
import { accountFromWire, accountToWire } from './account-wire.js'
import { matchFromWire, matchToWire } from './match-wire.js'
import { orderFromWire, orderToWire } from './order-wire.js'
import { bytesOf, MAX_MESSAGE_BYTES, wholeNumber } from './wire.js'

/** Raised with every change to what a checkpoint holds or how; one of an unknown version is never used. */
export const CHECKPOINT_VERSION = 2

/** What was written before reversals were counted is read as if none had been dealt with. */
const READABLE_VERSIONS: ReadonlySet<number> = new Set([1, CHECKPOINT_VERSION])

/** A part is closed with the row that brings it here, which keeps the encoding of each to a few milliseconds. */
const PART_CLOSES_AT_BYTES = 128 * 1024

/** A market's matcher between two command messages: all it needs to go on as if it had never stopped. */
export interface Checkpoint {
  readonly market: string
  /** The last message of the command log that it includes. */
  readonly commandSeq: number
  /** The last message of the feed at that moment, 0 for none, and the SHA-256 of that message in hex. */
  readonly feed: { readonly messageSeq: number; readonly sha256: string }
  /** Term of the matcher that wrote it. */
  readonly term: number
  readonly state: MatcherSnapshot
}

/** What the last message of a checkpoint says of those before it. */
export interface Seal {
  readonly v: number
  readonly market: string
  readonly command_seq: number
  readonly parts: number
  readonly bytes: number
}

/** The bytes are no whole checkpoint of this market and version. */
export class CheckpointUnusable extends Error {
  override readonly name = 'CheckpointUnusable'
}

type Part = keyof MatcherSnapshot
type ListPart = { [K in Part]: MatcherSnapshot[K] extends readonly unknown[] ? K : never }[Part]
type ScalarPart = Exclude<Part, ListPart>
type Item<K extends ListPart> = MatcherSnapshot[K][number]

/** How an item of a list becomes JSON and is read again. */
interface RowCodec<T> {
  readonly write: (item: T) => unknown
  /** Given what `write` made, which the checksum vouches for. */
  readonly read: (row: never) => T
}

/** One codec for each list of the state; a list without one does not compile. */
const LISTS: { readonly [K in ListPart]: RowCodec<Item<K>> } = {
  orders: { write: writeOrder, read: readOrder },
  matches: { write: matchToWire, read: matchFromWire },
  deadlines: {
    write: ({ atMs, rank, orderId }) => [atMs, rank, orderId],
    read: ([atMs, rank, orderId]: [number, number, string]): Deadline => ({ atMs, rank, orderId }),
  },
  accounts: { write: writeAccount, read: readAccount },
  idleAccounts: { write: String, read: (row: string) => BigInt(row) },
  reviews: { write: String, read: (row: string) => BigInt(row) },
  lastSourceNo: { write: (entry) => entry, read: (row: [string, number]) => row },
}
const LIST_NAMES = Object.keys(LISTS) as ListPart[]

type OrderRow = ReturnType<typeof writeOrder>

/** Every field of an order, `null` for an absent one; a field that is missing here does not compile. */
function writeOrder(live: OrderSnapshot) {
  return {
    order: orderToWire(live.order),
    rank: live.rank,
    createdAtMs: live.createdAtMs,
    updatedAtMs: live.updatedAtMs,
    filled: String(live.filled),
    pending: String(live.pending),
    shownOpen: String(live.shownOpen),
    gone: live.gone ?? null,
    cancelReason: live.cancelReason ?? null,
    cancelledAtMs: live.cancelledAtMs ?? null,
    hold: live.hold === undefined ? null : writeHold(live.hold),
    refusals: live.refusals,
    firstRefusedAtMs: live.firstRefusedAtMs,
  } satisfies Record<keyof OrderSnapshot, unknown>
}

function readOrder(row: OrderRow): OrderSnapshot {
  const { gone, cancelReason, cancelledAtMs, hold } = row
  const live: { -readonly [K in keyof OrderSnapshot]: OrderSnapshot[K] } = {
    order: orderFromWire(row.order),
    rank: row.rank,
    createdAtMs: row.createdAtMs,
    updatedAtMs: row.updatedAtMs,
    filled: amountE18(BigInt(row.filled)),
    pending: amountE18(BigInt(row.pending)),
    shownOpen: amountE18(BigInt(row.shownOpen)),
    refusals: row.refusals,
    firstRefusedAtMs: row.firstRefusedAtMs,
  }
  if (gone !== null) live.gone = gone
  if (cancelReason !== null) live.cancelReason = cancelReason
  if (cancelledAtMs !== null) live.cancelledAtMs = cancelledAtMs
  if (hold !== null) live.hold = readHold(hold)
  return live
}

/** `null` for what is absent, here and below. */
function writeHold({ reason, untilMs, needed }: Hold) {
  return {
    reason,
    untilMs: untilMs ?? null,
    needed: needed === undefined ? null : String(needed),
  } satisfies Record<keyof Hold, unknown>
}

function readHold({ reason, untilMs, needed }: ReturnType<typeof writeHold>): Hold {
  return {
    reason,
    ...(untilMs !== null && { untilMs }),
    ...(needed !== null && { needed: BigInt(needed) }),
  }
}

function writeAccount(account: AccountSnapshot) {
  const { subaccountId, observed, settled, pending, waiting } = account
  return {
    subaccountId: String(subaccountId),
    observed: observed === undefined ? null : accountToWire(observed),
    settled: settled.map(writeMove),
    pending: { base: String(pending.base), quote: String(pending.quote) },
    waiting,
  } satisfies Record<keyof AccountSnapshot, unknown>
}

function readAccount(row: ReturnType<typeof writeAccount>): AccountSnapshot {
  const { subaccountId, observed, settled, pending, waiting } = row
  return {
    subaccountId: BigInt(subaccountId),
    ...(observed !== null && { observed: accountFromWire(observed) }),
    settled: settled.map(readMove),
    pending: { base: BigInt(pending.base), quote: BigInt(pending.quote) },
    waiting,
  }
}

function writeMove({ blockNumber, base, quote }: SettledMove) {
  return {
    blockNumber: String(blockNumber),
    base: String(base),
    quote: String(quote),
  } satisfies Record<keyof SettledMove, unknown>
}

const readMove = ({ blockNumber, base, quote }: ReturnType<typeof writeMove>): SettledMove => ({
  blockNumber: BigInt(blockNumber),
  base: BigInt(base),
  quote: BigInt(quote),
})

type Written = ReturnType<typeof headOf>
/** The first version did not have all of them. */
type Head = Omit<Written, 'scalars'> & {
  readonly scalars: Omit<Written['scalars'], 'reversals'> & Partial<Written['scalars']>
}

const NO_REVERSALS: MatcherSnapshot['reversals'] = { upTo: 0, beyond: [] }

function headOf({ commandSeq, feed, term, state }: Checkpoint) {
  const { rules, seq, rank, nowMs, reversals } = state
  const scalars = { rules, seq, rank, nowMs, reversals } satisfies Pick<MatcherSnapshot, ScalarPart>
  return { commandSeq, feed, term, scalars }
}

/**
 * The messages of a checkpoint, the seal last, which holds the SHA-256 of everything before it and of itself. Each is
 * made when it is asked for, so that whoever writes them can do other work between two.
 */
export function* encodeCheckpoint(checkpoint: Checkpoint): Generator<Uint8Array> {
  const hash = createHash('sha256')
  let parts = 0
  let bytes = 0
  for (const [list, rows] of partsOf(checkpoint)) {
    const data = bytesOf(`${JSON.stringify({ part: parts, list })}\n[${rows.join(',')}]`)
    assert(data.length <= MAX_MESSAGE_BYTES, `a part of a checkpoint has ${data.length} bytes`)
    hash.update(data)
    parts += 1
    bytes += data.length
    yield data
  }
  const { market, commandSeq } = checkpoint
  yield sealed({ v: CHECKPOINT_VERSION, market, command_seq: commandSeq, parts, bytes }, hash)
}

function* partsOf(checkpoint: Checkpoint): Generator<[list: string, rows: string[]]> {
  yield ['head', [JSON.stringify(headOf(checkpoint))]]
  for (const list of LIST_NAMES) yield* partsOfList(list, checkpoint.state)
}

function* partsOfList<K extends ListPart>(
  list: K,
  state: MatcherSnapshot,
): Generator<[list: string, rows: string[]]> {
  const { write } = LISTS[list]
  let rows: string[] = []
  let length = 0
  for (const item of state[list] as readonly Item<K>[]) {
    const row = JSON.stringify(write(item))
    rows.push(row)
    length += row.length
    if (length < PART_CLOSES_AT_BYTES) continue
    yield [list, rows]
    rows = []
    length = 0
  }
  if (rows.length > 0) yield [list, rows]
}

function sealed(seal: Seal, hash: Hash): Uint8Array {
  const line = JSON.stringify(seal)
  return bytesOf(`${line}\n${hash.update(line).digest('hex')}`)
}

const sealLine = z.strictObject({
  v: wholeNumber,
  market: z.string(),
  command_seq: wholeNumber,
  parts: z.int().positive(),
  bytes: wholeNumber,
})
const partLine = z.strictObject({ part: wholeNumber, list: z.string() })

/** What the message says of itself, if it is the last of a checkpoint; nothing of that is proved yet. */
export function readSeal(data: Uint8Array): Seal | undefined {
  return sealLine.safeParse(firstLine(data)).data
}

/** How many messages of its checkpoint stand before this one, if it is one of those before the seal. */
export function readPartNumber(data: Uint8Array): number | undefined {
  return partLine.safeParse(firstLine(data)).data?.part
}

function firstLine(data: Uint8Array): unknown {
  const end = data.indexOf(0x0a)
  try {
    return JSON.parse(Buffer.from(data.subarray(0, Math.max(end, 0))).toString('utf8'))
  } catch {
    return undefined
  }
}

/**
 * The inverse of encodeCheckpoint. Throws CheckpointUnusable unless the messages are a whole checkpoint of this market,
 * to the bit, in the version of this build.
 */
export function decodeCheckpoint(messages: readonly Uint8Array[], market: string): Checkpoint {
  const parts = messages.slice(0, -1)
  const seal = assertSealed(parts, messages.at(-1) ?? new Uint8Array())
  if (!READABLE_VERSIONS.has(seal.v)) {
    throw new CheckpointUnusable(`version ${seal.v}, this build reads ${CHECKPOINT_VERSION}`)
  }
  if (seal.market !== market) throw new CheckpointUnusable(`of ${seal.market}, not ${market}`)
  return assemble(parts, market)
}

function assertSealed(parts: readonly Uint8Array[], last: Uint8Array): Seal {
  const seal = readSeal(last)
  if (seal === undefined) throw new CheckpointUnusable('no seal at its end')
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  if (!Buffer.from(sealed(seal, hash)).equals(last)) {
    throw new CheckpointUnusable('its bytes are not what was written')
  }
  return seal
}

/** Reads one part after the other, so that the JSON of each is let go before the next. */
function assemble(parts: readonly Uint8Array[], market: string): Checkpoint {
  const heads: Head[] = []
  const lists: { -readonly [K in ListPart]: Item<K>[] } = {
    orders: [],
    matches: [],
    deadlines: [],
    accounts: [],
    idleAccounts: [],
    reviews: [],
    lastSourceNo: [],
  }
  for (const part of parts) {
    const { list } = partLine.parse(firstLine(part))
    const rows = JSON.parse(restOf(part)) as unknown[]
    if (list === 'head') heads.push(...(rows as Head[]))
    else if (Object.hasOwn(LISTS, list)) readRows(list as ListPart, rows, lists)
  }
  const [head] = heads
  assert(head !== undefined, 'a checkpoint begins with its head')
  const { commandSeq, feed, term, scalars } = head
  const state = { ...scalars, reversals: scalars.reversals ?? NO_REVERSALS, ...lists }
  return { market, commandSeq, feed, term, state }
}

function readRows<K extends ListPart>(
  list: K,
  rows: readonly unknown[],
  lists: Readonly<Record<K, Item<K>[]>>,
): void {
  const { read } = LISTS[list]
  const items = lists[list]
  for (const row of rows) items.push(read(row as never))
}

/** The text after the first line, without a copy of its bytes. */
function restOf({ buffer, byteOffset, length }: Uint8Array): string {
  const bytes = Buffer.from(buffer, byteOffset, length)
  return bytes.toString('utf8', bytes.indexOf(0x0a) + 1)
}
