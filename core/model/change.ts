import type { HoldReason } from '../../interface/reasons.js'
import type { Address, Hex } from '../action.js'
import type { MarketTerms } from './market-terms.js'
import { RESTORED_SEQ_JUMP } from './limits.js'
import { amountE18, priceE18, type AmountE18, type PriceE18 } from '../money.js'
import type { Command } from './command.js'
import type { Match, Fill } from './match.js'
import { isLiving, type Order, type OrderStatus, type Side } from './order.js'

/** What every change carries of its order: the state after the change. */
export interface ChangeBase {
  /** Position in the market's sequence of changes, from 1 without gaps (STR-001). */
  readonly seq: number
  /** Market time of the change, unix milliseconds. */
  readonly atMs: number
  readonly orderId: string
  readonly owner: Address
  readonly side: Side
  readonly limitPrice: PriceE18
  readonly desired: AmountE18
  readonly filled: AmountE18
  readonly pending: AmountE18
  readonly open: AmountE18
  /** How `open` moved, signed: the book's `size_delta`. */
  readonly openDelta: bigint
  readonly status: OrderStatus
}

/** What an order that is no longer kept has used up for ever (ORD-017, ORD-018). */
export interface Tombstone {
  readonly orderId: string
  readonly owner: Address
  readonly nonce: bigint
  /** Digest of the signed action. */
  readonly fingerprint: Hex
}

/** The kind of a change, and the fields of that kind. */
export type ChangeFacts =
  | {
      readonly kind: 'OrderPlaced'
      readonly order: Order
      /** Time priority: the order's number in the market's log of placements. */
      readonly rank: number
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  /** A resting order was hit: `match` awaits settlement. */
  | { readonly kind: 'OrderMatched'; readonly match: Match }
  | { readonly kind: 'OrderFilled'; readonly fill: Fill }
  /** A settlement failed; what had been pending is open again, or held, or gone with the order. */
  | {
      readonly kind: 'MatchReverted'
      readonly settlementId: string
      readonly revert: string
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  /**
   * The chain has lost a settled match for good: `fill` is this order's leg as it was published, and counts no longer. A
   * filled order becomes cancelled; any other ended order stays as it ended.
   */
  | {
      readonly kind: 'FillReversed'
      readonly fill: Fill
      /** Why: the revert's name, or `not_carried_out`. */
      readonly revert: string
      readonly hold?: HoldReason
      readonly cancelReason?: string
    }
  | { readonly kind: 'OrderHeld'; readonly hold: HoldReason }
  /** A hold ended; the order came back as if it were incoming, and may have matched or stopped at once. */
  | { readonly kind: 'OrderReleased'; readonly hold?: HoldReason; readonly cancelReason?: string }
  /** The order asks for `desired` from here on: it was reduced, or has grown again by a fill that came to light late. */
  | { readonly kind: 'OrderResized'; readonly hold?: HoldReason; readonly cancelReason?: string }
  | { readonly kind: 'OrderCancelled'; readonly cancelReason: string }
  | { readonly kind: 'OrderExpired' }
  /**
   * Only in the archive of a feed (decision 0043): stands where a change of an order was that ended without a fill and is
   * no longer kept. The other fields are empty; what took the place of the placement says what the order has used up.
   */
  | { readonly kind: 'OrderForgotten'; readonly tombstone?: Tombstone }
  /** The step could not derive what it needs of this command, which changed nothing else. It is of no order. */
  | {
      readonly kind: 'CommandRefused'
      readonly command: Command['kind']
      readonly source: string
      readonly sourceNo: number
    }

/** One state change of one order. Changes are facts in the past tense. */
export type Change = ChangeBase & ChangeFacts

export type ChangeKind = Change['kind']

/**
 * All changes that one command message made to a market, published as one message so that it cannot be torn.
 * Which commands share a block follows from the log alone, so that replaying it gives the same bytes.
 */
export interface Block {
  readonly market: string
  /**
   * Stream sequence of the command message and the index of the last command in it that this block covers. A leader's block
   * covers none: it stands after the first `commandIndex` commands of the message, or after all of it if that is 0.
   */
  readonly commandSeq: number
  readonly commandIndex: number
  readonly firstSeq: number
  /** Empty only with `terms` or a `leader`. */
  readonly changes: readonly Change[]
  /**
   * The market's terms from this block on, absent while they stay as they were. The rules are those of all its matches;
   * the standing is the one at its end.
   */
  readonly terms?: MarketTerms
  /** The matcher that takes over the market with this block; it fences out the matcher before. */
  readonly leader?: Leader
}

/** Whether a change with this `seq` may come after one with the other: the next one, or the first after a restored gap. */
export const isNextSeq = (seq: number, before: number): boolean =>
  seq === before + 1 || seq === before + 1 + RESTORED_SEQ_JUMP

/** One term of one process as a market's matcher. */
export interface Leader {
  /** Counts the terms; greater than any before. */
  readonly term: number
  /** Distinguishes processes that claim the same term at once; one of them gets it. */
  readonly id: string
}

/** Why an order is not open after a change, given why it was not before; undefined when it is open, or has ended. */
export function heldReasonAfter(
  change: Change,
  before: HoldReason | undefined,
): HoldReason | undefined {
  if (!isLiving(change.status)) return undefined
  // A fill settles an earlier match; the rest of the order stays as it was.
  if (change.kind === 'OrderFilled') return before
  return 'hold' in change ? change.hold : undefined
}

/**
 * The order after a change. Once released it has been checked, since only then an unchecked order leaves its hold, and no
 * order gets any other hold before. Once resized it asks for another amount than was signed.
 */
export function orderAfter(change: Change, before: Order): Order {
  if (change.kind === 'OrderResized') return resized(before, change.desired)
  if (change.kind !== 'OrderReleased' || before.signatureStatus === 'checked') return before
  return { ...before, signatureStatus: 'checked' }
}

const resized = (before: Order, desired: AmountE18): Order => ({
  ...before,
  desiredAmount: desired,
  signedDesiredAmount: before.signedDesiredAmount ?? before.desiredAmount,
})

const EMPTY: Omit<ChangeBase, 'seq' | 'atMs'> = {
  orderId: '',
  owner: '0x0000000000000000000000000000000000000000',
  side: 'buy',
  status: 'cancelled',
  limitPrice: priceE18(0n),
  desired: amountE18(0n),
  filled: amountE18(0n),
  pending: amountE18(0n),
  open: amountE18(0n),
  openDelta: 0n,
}

/** What a change carries that is of no order. */
export const OF_NO_ORDER: Omit<ChangeBase, 'seq' | 'atMs'> = EMPTY

/** What an OrderForgotten carries of its order: nothing. */
export const FORGOTTEN = { ...EMPTY, kind: 'OrderForgotten' } as const

/** Whether a change is of no order, so that it says nothing but its own fields. */
export const isOfNoOrder = ({ kind }: Pick<Change, 'kind'>): boolean =>
  kind === 'OrderForgotten' || kind === 'CommandRefused'

/** The block without what `known`, the same block of an archive, has forgotten. */
export function forgetAlike(block: Block, { changes: known }: Pick<Block, 'changes'>): Block {
  if (!known.some(({ kind }) => kind === 'OrderForgotten')) return block
  const changes = block.changes.map((change, index) => {
    const stored = known[index]
    return stored?.kind === 'OrderForgotten' && stored.atMs === change.atMs ? stored : change
  })
  return { ...block, changes }
}
