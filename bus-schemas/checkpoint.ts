import { createHash, type Hash } from 'node:crypto'
import { assert } from '../core/assert.js'
import type { ContractWire, MarketHold, MarketObservation } from '../core/contracts/contract.js'
import type { RefusedByMarket } from '../core/engine/command-answer.js'
import { POST_ONLY_WOULD_CROSS } from '../core/engine/controls.js'
import type { Deadline } from '../core/engine/deadlines.js'
import type { ChainFault, HoldCause } from '../core/engine/holds.js'
import type { AccountSnapshot, MatcherSnapshot, OrderSnapshot } from '../core/engine/snapshot.js'
import {
  amountE18,
  flag,
  malformed,
  MalformedMessage,
  oneOf,
  position,
  priceE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { appended, list, mapped, optional, struct } from '../core/wire/compound.js'
import { match } from './blocks.js'
import { endReason, lease, massCancel } from './cancels.js'
import { accountObservation, marketObservation, perContract, type LogMarket } from './commands.js'
import { assertKnownVersion, MAX_MESSAGE_BYTES, since, textOf, type Form } from './envelope.js'
import { marketIdentity, marketRules } from './markets.js'
import { hold, order, refusedByMarket } from './orders.js'

/** The version with which the declaration of checkpoints begins; older ones are not used. */
const CHECKPOINT_VERSION = 7

const LINE_BREAK = 0x0a

/** A part is closed with the row that brings it here, which keeps the encoding of each to a few milliseconds. */
const PART_CLOSES_AT_BYTES = 128 * 1024

/** A market's matcher between two command messages: all it needs to continue as if it had not stopped. */
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

/** The last message of a checkpoint: what those before it must be. */
export interface Seal {
  /** Of the parts; the seal itself has one form in all versions. */
  readonly version: number
  readonly market: string
  readonly commandSeq: number
  readonly parts: number
  readonly bytes: number
}

const sealLine = struct<Seal>({
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

/** The bytes are no whole checkpoint of this market and version. */
export class CheckpointUnusable extends Error {
  override readonly name = 'CheckpointUnusable'
}

/** An order as it is kept. Nothing else of a checkpoint has as many rows. */
const keptOrder = struct<OrderSnapshot>({
  order,
  rank: whole,
  createdAtMs: whole,
  updatedAtMs: whole,
  filled: amountE18,
  pending: amountE18,
  shownOpen: amountE18,
  gone: optional(oneOf<NonNullable<OrderSnapshot['gone']>>({ cancelled: true, expired: true })),
  cancelReason: optional(text),
  cancelledAtMs: optional(whole),
  hold: optional(hold),
  refusals: whole,
  firstRefusedAtMs: whole,
  cancelOnReturn: appended(endReason),
})

type Part = keyof MatcherSnapshot
type ListPart = { [K in Part]: MatcherSnapshot[K] extends Iterable<unknown> ? K : never }[Part]
type Item<K extends ListPart> = MatcherSnapshot[K] extends Iterable<infer Row> ? Row : never

/** One declaration for the rows of each list of the state; a list that is missing here does not compile. */
type Lists = { readonly [K in ListPart]: Codec<Item<K>> }

/** A hold of the whole market with its cause. */
interface KeptHold extends MarketHold {
  readonly cause: HoldCause
}

const marketHold = mapped(
  struct<KeptHold>({
    cause: oneOf<HoldCause>({ operator: true, facts: true, chain: true, restored: true }),
    reason: text,
    untilMs: optional(whole),
  }),
  ([cause, hold]: Item<'holds'>) => ({ cause, ...hold }),
  ({ cause, ...hold }) => [cause, hold] as const,
)

const refusedOrder = mapped(
  struct<{ readonly orderId: string; readonly code: RefusedByMarket }>({
    orderId: text,
    code: refusedByMarket,
  }),
  ([orderId, code]: Item<'refusedOrders'>) => ({ orderId, code }),
  ({ orderId, code }) => [orderId, code] as const,
)

/** The lists that every version has. */
const sameLists = (wire: ContractWire): Omit<Lists, 'refusedOrders'> => ({
  holds: marketHold,
  orders: keptOrder,
  matches: match,
  deadlines: struct<Deadline>({ atMs: whole, rank: whole, orderId: text }),
  accounts: struct<AccountSnapshot>({
    subaccountId: uint,
    observed: optional(accountObservation(wire)),
    purse: wire.purse,
    waiting: list(text),
  }),
  idleAccounts: uint,
  reviews: uint,
  refusedPrices: priceE18,
  leases: lease,
  massCancels: massCancel,
  keyEnds: mapped(
    struct<{ readonly orderId: string; readonly endsSec: number }>({
      orderId: text,
      endsSec: whole,
    }),
    ([orderId, endsSec]) => ({ orderId, endsSec }),
    ({ orderId, endsSec }) => [orderId, endsSec] as const,
  ),
  lastSourceNo: mapped(
    struct<{ readonly source: string; readonly no: number }>({ source: text, no: whole }),
    ([source, no]) => ({ source, no }),
    ({ source, no }) => [source, no] as const,
  ),
})

const listsOf = (wire: ContractWire): Lists => ({
  ...sameLists(wire),
  refusedOrders: refusedOrder,
})

/** Only post-only orders were refused. */
const listsOfVersion7 = (wire: ContractWire) => ({ ...sameLists(wire), refusedOrderIds: text })

/** Scalars of the state; the market's observation and its fault are left out while there is none. */
interface Scalars extends Omit<MatcherSnapshot, ListPart | 'observed' | 'fault'> {
  readonly observed?: MarketObservation
  readonly fault?: ChainFault
}

/** What stands once in a checkpoint. */
interface Head extends Omit<Checkpoint, 'market' | 'state'> {
  readonly scalars: Scalars
}

const headOf = (wire: ContractWire): Codec<Head> =>
  struct<Head>({
    commandSeq: whole,
    feed: struct<Checkpoint['feed']>({ messageSeq: whole, sha256: text }),
    term: whole,
    scalars: struct<Scalars>({
      identity: marketIdentity,
      rules: marketRules,
      enabled: flag,
      cancelUpToRank: whole,
      engineVersion: position,
      seq: whole,
      rank: whole,
      nowMs: whole,
      observed: optional(marketObservation(wire)),
      closed: flag,
      fault: optional(struct<ChainFault>({ revert: text, accounts: list(uint), holdMs: whole })),
      reversals: struct<Scalars['reversals']>({ upTo: whole, beyond: list(whole) }),
    }),
  })

/** Rows of one list, parsed. */
interface ReadPart {
  readonly list: string
  readonly rows: readonly unknown[]
}

/** What a checkpoint of one version holds. */
interface Content<H, L> {
  readonly head: H
  readonly lists: { readonly [K in keyof L]: (L[K] extends Codec<infer Row> ? Row : never)[] }
}

/** One version of checkpoints, made of the declarations of its head and its lists. */
interface CheckpointForm<H, L> extends Form<Content<H, L>> {
  readonly head: Codec<H>
  readonly lists: L
}

/** Reads one part after the other, so that the JSON of each is let go before the next. */
export function checkpointForm<H, L extends object>(
  head: Codec<H>,
  lists: L,
): CheckpointForm<H, L> {
  return {
    ...{ head, lists },
    read(parts: Iterable<ReadPart>, field) {
      const codecs = new Map<string, Codec<unknown>>(Object.entries(lists))
      const read = new Map(Array.from(codecs.keys(), (name): [string, unknown[]] => [name, []]))
      let found: H | undefined
      for (const { list, rows } of parts) {
        if (list === 'head') {
          found = head.read(rows[0], list)
          continue
        }
        const [codec, items] = [codecs.get(list), read.get(list)]
        if (codec === undefined || items === undefined) return malformed(list, 'a list of it')
        for (const row of rows) items.push(codec.read(row, list))
      }
      if (found === undefined) return malformed(field, 'begun with its head')
      return { head: found, lists: Object.fromEntries(read) as Content<H, L>['lists'] }
    },
  }
}

/**
 * The versions of checkpoints. A change of what a checkpoint holds is one more version: `next` with the form of its own head
 * and lists, and an upcast of the content.
 */
export const checkpointVersions = perContract((wire) =>
  since(CHECKPOINT_VERSION, checkpointForm(headOf(wire), listsOfVersion7(wire))).next(
    checkpointForm(headOf(wire), listsOf(wire)),
    ({ head, lists: { refusedOrderIds, ...lists } }) => ({
      head,
      lists: {
        ...lists,
        refusedOrders: refusedOrderIds.map((id) => [id, POST_ONLY_WOULD_CROSS] as const),
      },
    }),
  ),
)

/** The version of checkpoints that is written. */
export const checkpointVersion = (market: LogMarket): number => checkpointVersions(market).version

function onceOf({ commandSeq, feed, term, state }: Checkpoint): Head {
  const { observed, fault, ...scalars } = state
  return {
    commandSeq,
    feed,
    term,
    scalars: {
      ...scalars,
      ...(observed !== undefined && { observed }),
      ...(fault !== undefined && { fault }),
    },
  }
}

/**
 * The messages of a checkpoint, the seal last, which holds the SHA-256 of everything before it and of itself. Each is
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
  { head, lists }: CheckpointForm<Head, Lists>,
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

function sealed(seal: Seal, hash: Hash): string {
  const line = sealLine.write(seal)
  return `${line}\n${hash.update(line).digest('hex')}`
}

/** The seal in a message, if it is the last of a checkpoint; not verified yet. */
export const readSeal = (data: Uint8Array): Seal | undefined => readFirstLine(sealLine, data)

/** How many messages of its checkpoint stand before this one, if it is one of those before the seal. */
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
 * checkpoint of this market, to the bit. One of a newer version breaks an invariant, as the log behind it may.
 */
export function decodeCheckpoint(
  messages: readonly Uint8Array[],
  market: LogMarket,
  versions = checkpointVersions(market),
): Checkpoint {
  const parts = messages.slice(0, -1)
  const seal = assertSealed(parts, messages.at(-1) ?? new Uint8Array())
  const { first } = versions
  if (seal.version < first) {
    throw new CheckpointUnusable(`version ${seal.version}, this build reads from ${first} on`)
  }
  assertKnownVersion(`a checkpoint of ${seal.market}`, seal.version, versions)
  if (seal.market !== market.market) {
    throw new CheckpointUnusable(`of ${seal.market}, not ${market.market}`)
  }
  const { head, lists } = versions.read(seal.version, readParts(parts), 'checkpoint')
  const { commandSeq, feed, term, scalars } = head
  const state = { observed: undefined, fault: undefined, ...scalars, ...lists }
  return { market: market.market, commandSeq, feed, term, state }
}

function* readParts(parts: readonly Uint8Array[]): Generator<ReadPart> {
  for (const part of parts) {
    const [line = '', text = ''] = textOf(part).split('\n')
    const { list } = partLine.read(JSON.parse(line), 'part')
    yield { list, rows: JSON.parse(text) as readonly unknown[] }
  }
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
