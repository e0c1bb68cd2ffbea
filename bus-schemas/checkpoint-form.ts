import type { Address } from '../core/action.js'
import type { ContractWire } from '../core/contracts/contract.js'
import type { RefusedByMarket } from '../core/model/command-answer.js'
import type { Deadline } from '../core/engine/deadlines.js'
import type {
  CodeTrials,
  CodeWindow,
  FailedSigner,
  TakenWindow,
  WindowsOfMatch,
} from '../core/engine/code-windows.js'
import type { AccountSnapshot, MatcherSnapshot, OrderSnapshot } from '../core/engine/snapshot.js'
import type { ClockSeen, ChainFault, HoldCause, FailedPair } from '../core/engine/state.js'
import type { MarketHold } from '../core/model/hold.js'
import type { MarketObservation } from '../core/model/observation.js'
import { atOnce, type Pieces } from '../core/pieces.js'
import {
  address,
  amountE18,
  flag,
  malformed,
  oneOf,
  position,
  priceE18,
  quoteE18,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { appended, list, mapped, optional, struct } from '../core/wire/compound.js'
import { match } from './blocks.js'
import { endReason, lease, massCancel } from './cancels.js'
import { accountObservation, marketObservation, perContract, type LogMarket } from './commands.js'
import { since, WIRE_VERSION, type Form } from './envelope.js'
import { marketIdentity, marketRules } from './markets.js'
import { hold, order, refusedByMarket } from './orders.js'

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

type StatePart = keyof MatcherSnapshot

export type ListPart = {
  [K in StatePart]: MatcherSnapshot[K] extends Iterable<unknown> ? K : never
}[StatePart]

export type Item<K extends ListPart> = MatcherSnapshot[K] extends Iterable<infer Row> ? Row : never

/** One declaration for the rows of each list of the state; a list that is missing here does not compile. */
export type Lists = { readonly [K in ListPart]: Codec<Item<K>> }

/** A hold of the whole market with its cause. */
interface KeptHold extends MarketHold {
  readonly cause: HoldCause
}

const marketHold = mapped(
  struct<KeptHold>({
    cause: oneOf<HoldCause>({
      operator: true,
      facts: true,
      chain: true,
      restored: true,
      clock: true,
    }),
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

const failedPair = mapped(
  struct<{
    readonly first: Address
    readonly second: Address
    readonly failedAtMs: number
    readonly waitMs: number
  }>({ first: address, second: address, failedAtMs: whole, waitMs: whole }),
  ({ signers: [first, second], failedAtMs, waitMs }: FailedPair) => ({
    first,
    second,
    failedAtMs,
    waitMs,
  }),
  ({ first, second, failedAtMs, waitMs }): FailedPair => ({
    signers: [first, second],
    failedAtMs,
    waitMs,
  }),
)

const codeWindow = struct<CodeWindow>({
  signer: address,
  owner: address,
  credit: quoteE18,
  failures: whole,
  proven: whole,
  failedAtMs: whole,
})

const takenWindows = struct<WindowsOfMatch>({
  settlementId: text,
  windows: list(struct<TakenWindow>({ signer: address, owner: address, isTrial: flag })),
})

const listsOf = (wire: ContractWire): Lists => ({
  holds: marketHold,
  orders: keptOrder,
  matches: match,
  deadlines: struct<Deadline>({ atMs: whole, rank: whole, orderId: text }),
  accounts: struct<AccountSnapshot>({
    subaccountId: uint,
    observed: optional(accountObservation(wire)),
    riskAccount: wire.riskAccount,
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
  refusedOrders: refusedOrder,
  failedPairs: failedPair,
  codeSigners: address,
  codeWindows: codeWindow,
  failedSigners: struct<FailedSigner>({ signer: address, failures: whole, failedAtMs: whole }),
  takenWindows,
})

/** Scalars of the state; the market's observation, its fault and its clock are left out while there is none. */
interface Scalars extends Omit<
  MatcherSnapshot,
  ListPart | 'observed' | 'fault' | 'clock' | 'codeTrials'
> {
  readonly observed?: MarketObservation
  readonly fault?: ChainFault
  readonly clock?: ClockSeen
  readonly codeTrials?: CodeTrials
}

/** What stands once in a checkpoint. */
export interface CheckpointHead extends Omit<Checkpoint, 'market' | 'state'> {
  readonly scalars: Scalars
}

const headOf = (wire: ContractWire): Codec<CheckpointHead> =>
  struct<CheckpointHead>({
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
      tradeNo: whole,
      nowMs: whole,
      observed: optional(marketObservation(wire)),
      closed: flag,
      fault: optional(struct<ChainFault>({ revert: text, accounts: list(uint), holdMs: whole })),
      reversals: struct<Scalars['reversals']>({ upTo: whole, beyond: list(whole) }),
      clock: appended(struct<ClockSeen>({ atMs: whole, chainMs: whole })),
      codeTrials: appended(struct<CodeTrials>({ gasCost: quoteE18, hour: whole, points: whole })),
    }),
  })

/** Rows of one list, parsed. */
export interface ReadPart {
  readonly list: string
  readonly rows: readonly unknown[]
}

/** What a checkpoint of one version holds. */
interface CheckpointContent<H, L> {
  readonly head: H
  readonly lists: { readonly [K in keyof L]: (L[K] extends Codec<infer Row> ? Row : never)[] }
}

/** One version of checkpoints, made of the declarations of its head and its lists. */
export interface CheckpointForm<H, L> extends Form<CheckpointContent<H, L>> {
  readonly head: Codec<H>
  readonly lists: L
  /** As `read`, a part of the checkpoint in each piece. */
  readonly readInPieces: (
    parts: Iterable<ReadPart>,
    field: string,
  ) => Pieces<CheckpointContent<H, L>>
}

/** Reads one part after the other, so that the JSON of each is let go before the next. */
export function checkpointForm<H, L extends object>(
  head: Codec<H>,
  lists: L,
): CheckpointForm<H, L> {
  function* readInPieces(
    parts: Iterable<ReadPart>,
    field: string,
  ): Pieces<CheckpointContent<H, L>> {
    const codecs = new Map<string, Codec<unknown>>(Object.entries(lists))
    const read = new Map(Array.from(codecs.keys(), (name): [string, unknown[]] => [name, []]))
    let found: H | undefined
    for (const { list, rows } of parts) {
      yield
      if (list === 'head') {
        found = head.read(rows[0], list)
        continue
      }
      const codec = codecs.get(list)
      const items = read.get(list)
      if (codec === undefined || items === undefined) return malformed(list, 'a list of it')
      for (const row of rows) items.push(codec.read(row, list))
    }
    if (found === undefined) return malformed(field, 'begun with its head')
    return { head: found, lists: Object.fromEntries(read) as CheckpointContent<H, L>['lists'] }
  }
  return { head, lists, readInPieces, read: (parts, field) => atOnce(readInPieces(parts, field)) }
}

/**
 * The versions of checkpoints. A change of what a checkpoint holds is one more version: `next` with the form of its own head
 * and lists, and an upcast of the content.
 */
export const checkpointVersions = perContract((wire) =>
  since(WIRE_VERSION, checkpointForm(headOf(wire), listsOf(wire))),
)

/** The version of checkpoints that is written. */
export const checkpointVersion = (market: LogMarket): number => checkpointVersions(market).version
