import { createHash, type Hash } from 'node:crypto'
import { z } from 'zod'
import { assert } from '../core/assert.js'
import type { Deadline } from '../core/deadlines.js'
import type { SettledMove } from '../core/accounts.js'
import type { Hold } from '../core/live-order.js'
import type { AccountSnapshot, MatcherSnapshot, OrderSnapshot } from '../core/matcher-snapshot.js'
import { amountE18 } from '../core/money.js'
import type { OrderStatement } from '../core/order-statement.js'
import { accountFromWire, accountJson } from './account-wire.js'
import { type Lines, framed, openFrame } from './frame.js'
import { matchFromWire, matchJson } from './match-wire.js'
import { orderFromWire, orderJson } from './order-wire.js'
import { bytesOf, MAX_MESSAGE_BYTES, wholeNumber } from './wire.js'

/** Raised with every change to what a checkpoint holds or how; one of an unknown version is never used. */
export const CHECKPOINT_VERSION = 3

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
  readonly write: (item: T) => string
  /** Given what `write` made, which the checksum vouches for, and the lines behind the part's rows. */
  readonly read: (row: never, lines: Lines) => T
}

/** One codec for each list of the state; a list without one does not compile. */
const LISTS: { readonly [K in ListPart]: RowCodec<Item<K>> } = {
  orders: { write: writeOrder, read: readOrder },
  matches: { write: matchJson, read: matchFromWire },
  deadlines: {
    write: ({ atMs, rank, orderId }) => JSON.stringify([atMs, rank, orderId]),
    read: ([atMs, rank, orderId]: [number, number, string]): Deadline => ({ atMs, rank, orderId }),
  },
  accounts: { write: writeAccount, read: readAccount },
  idleAccounts: { write: (id) => `"${id}"`, read: (row: string) => BigInt(row) },
  reviews: { write: (id) => `"${id}"`, read: (row: string) => BigInt(row) },
  lastSourceNo: { write: (entry) => JSON.stringify(entry), read: (row: [string, number]) => row },
}
const LIST_NAMES = Object.keys(LISTS) as ListPart[]

type StandingRow = ReturnType<typeof standingOf>

/** The order's terms, and where it stands; its statement goes behind the rows. */
function writeOrder(live: OrderSnapshot): string {
  return `[${orderJson(live.order)},${JSON.stringify(standingOf(live))}]`
}

/** Every other field of an order, `null` for an absent one; a field that is missing here does not compile. */
function standingOf(live: OrderSnapshot) {
  return {
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
  } satisfies Record<Exclude<keyof OrderSnapshot, 'order'>, unknown>
}

function readOrder([order, row]: [order: unknown, row: StandingRow], lines: Lines): OrderSnapshot {
  const { gone, cancelReason, cancelledAtMs, hold } = row
  const live: { -readonly [K in keyof OrderSnapshot]: OrderSnapshot[K] } = {
    order: orderFromWire(order, lines),
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

/** What was observed of it, and the rest. */
function writeAccount(account: AccountSnapshot): string {
  const { observed } = account
  const seen = observed === undefined ? 'null' : accountJson(observed)
  return `[${seen},${JSON.stringify(accountRow(account))}]`
}

function accountRow({ subaccountId, settled, pending, waiting }: AccountSnapshot) {
  return {
    subaccountId: String(subaccountId),
    settled: settled.map(writeMove),
    pending: { base: String(pending.base), quote: String(pending.quote) },
    waiting,
  } satisfies Record<Exclude<keyof AccountSnapshot, 'observed'>, unknown>
}

function readAccount([observed, row]: [
  observed: unknown,
  row: ReturnType<typeof accountRow>,
]): AccountSnapshot {
  const { subaccountId, settled, pending, waiting } = row
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

type Head = ReturnType<typeof headOf>

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
  for (const { list, rows, statements } of partsOf(checkpoint)) {
    const head = `${JSON.stringify({ part: parts, list })}\n[${rows.join(',')}]`
    const data = framed(head, statements)
    assert(data.length <= MAX_MESSAGE_BYTES, `a part of a checkpoint has ${data.length} bytes`)
    hash.update(data)
    parts += 1
    bytes += data.length
    yield data
  }
  const { market, commandSeq } = checkpoint
  yield sealed({ v: CHECKPOINT_VERSION, market, command_seq: commandSeq, parts, bytes }, hash)
}

/** Rows of one list, and the statements of the orders among them. */
interface PartRows {
  readonly list: string
  readonly rows: string[]
  readonly statements: OrderStatement[]
}

function* partsOf(checkpoint: Checkpoint): Generator<PartRows> {
  yield { list: 'head', rows: [JSON.stringify(headOf(checkpoint))], statements: [] }
  for (const list of LIST_NAMES) yield* partsOfList(list, checkpoint.state)
}

function* partsOfList<K extends ListPart>(list: K, state: MatcherSnapshot): Generator<PartRows> {
  const { write } = LISTS[list]
  let part: PartRows = { list, rows: [], statements: [] }
  let length = 0
  for (const item of state[list] as readonly Item<K>[]) {
    const row = write(item)
    part.rows.push(row)
    length += row.length
    if (list === 'orders') {
      const { statement } = (item as OrderSnapshot).order
      part.statements.push(statement)
      length += statement.length
    }
    if (length < PART_CLOSES_AT_BYTES) continue
    yield part
    part = { list, rows: [], statements: [] }
    length = 0
  }
  if (part.rows.length > 0) yield part
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
  if (seal.v !== CHECKPOINT_VERSION) {
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
    const frame = openFrame(part)
    const { lines } = frame
    const { list } = partLine.parse(JSON.parse(frame.head))
    const rows = JSON.parse(lines.line()) as unknown[]
    if (list === 'head') heads.push(...(rows as Head[]))
    else if (Object.hasOwn(LISTS, list)) readRows(list as ListPart, { rows, lines }, lists)
    frame.assertTaken()
  }
  const [head] = heads
  assert(head !== undefined, 'a checkpoint begins with its head')
  const { commandSeq, feed, term, scalars } = head
  return { market, commandSeq, feed, term, state: { ...scalars, ...lists } }
}

function readRows<K extends ListPart>(
  list: K,
  { rows, lines }: { readonly rows: readonly unknown[]; readonly lines: Lines },
  lists: Readonly<Record<K, Item<K>[]>>,
): void {
  const { read } = LISTS[list]
  const items = lists[list]
  for (const row of rows) items.push(read(row as never, lines))
}
