import type { Address } from '../../core/action.js'
import type { Block, Change } from '../../core/model/change.js'
import { PAIR_FORGOTTEN_MS, PAIR_WAIT_MAX_MS, PAIR_WAIT_MS } from '../../core/model/limits.js'
import type { Match } from '../../core/model/match.js'
import type { HoldReason } from '../../interface/reasons.js'

type Reverted = Extract<Change, { kind: 'MatchReverted' }>

/** Which signers an order may pass over, as the feed alone tells: those with whom a match of its signer has failed lately. */
export interface PairAudit {
  /** Looks through a block before its changes: what a failure gives back is stated before the failure, and so is a new order. */
  begin(block: Block): void
  /** Notes that a match has failed. Of one that ended the guilty order a feed does not tell who was at fault: its signers may wait. */
  failed(change: Reverted, match: Match): void
  /** Notes that a match has settled. */
  settled(match: Match): void
  /** Whether the signers of the two orders may have to wait for each other, at this market time in unix milliseconds. */
  mayWait(orderId: string, other: string, nowMs: number): boolean
}

export interface PairAuditOptions {
  /** Matches without a result. */
  readonly pending: ReadonlyMap<string, Match>
  /** As the blocks before have it; undefined for an order that they do not know. */
  readonly orderOf: (orderId: string) => Known | undefined
  /** Whether a failure is the venue's, which no pair waits for. */
  readonly isVenueFault: (revert: string) => boolean
}

interface Known {
  readonly order: { readonly signer: Address }
  readonly hold: HoldReason | undefined
}

interface Wait {
  readonly failedAtMs: number
  readonly waitMs: number
}

export function createPairAudit(options: PairAuditOptions): PairAudit {
  const { pending, orderOf, isVenueFault } = options
  const waits = new Map<string, Wait>()
  /** Pairs of which a match fails in this block. */
  const failing = new Set<string>()
  /** Matches that fail in this block, and of which it shows who was at fault. */
  const proven = new Set<string>()
  /** Orders that this block holds as guilty. */
  const held = new Set<string>()
  /** Signers of the orders that this block places. */
  const placed = new Map<string, Address>()

  const signerOf = (orderId: string): Address | undefined =>
    orderOf(orderId)?.order.signer ?? placed.get(orderId)
  const keyOf = (one: string, other: string): string =>
    [signerOf(one), signerOf(other)].sort().join(' ')
  const ofMatch = ({ makerOrderId, takerOrderId }: Match): string =>
    keyOf(makerOrderId, takerOrderId)

  /** Whether it newly holds an order as the guilty one. */
  const isBlamed = ({ orderId, hold }: Reverted): boolean =>
    hold === 'settlement_refused' && orderOf(orderId)?.hold !== hold && !held.has(orderId)

  return {
    begin({ changes }) {
      for (const kept of [failing, proven, held, placed]) kept.clear()
      const reverted: Reverted[] = []
      for (const change of changes) {
        if (change.kind === 'OrderPlaced') placed.set(change.orderId, change.order.signer)
        if (change.kind === 'MatchReverted') reverted.push(change)
      }
      for (const change of reverted) {
        const isGuilty = isBlamed(change)
        if (isGuilty) held.add(change.orderId)
        if (isGuilty || isVenueFault(change.revert)) proven.add(change.settlementId)
      }
      for (const { settlementId } of reverted) {
        const match = pending.get(settlementId)
        if (match !== undefined && !proven.has(settlementId)) failing.add(ofMatch(match))
      }
    },
    failed({ settlementId, atMs }, match) {
      if (proven.has(settlementId)) return
      const key = ofMatch(match)
      const before = waits.get(key)
      if (before !== undefined && atMs < endOf(before)) return
      const isAnew = before === undefined || atMs >= before.failedAtMs + PAIR_FORGOTTEN_MS
      const waitMs = isAnew ? PAIR_WAIT_MS : Math.min(2 * before.waitMs, PAIR_WAIT_MAX_MS)
      waits.set(key, { failedAtMs: atMs, waitMs })
    },
    settled: (match) => void waits.delete(ofMatch(match)),
    mayWait(orderId, other, nowMs) {
      const key = keyOf(orderId, other)
      const wait = waits.get(key)
      return failing.has(key) || (wait !== undefined && nowMs < endOf(wait))
    },
  }
}

const endOf = ({ failedAtMs, waitMs }: Wait): number => failedAtMs + waitMs
