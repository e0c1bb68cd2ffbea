import type { Hold } from '../model/hold.js'
import {
  FAILED_PAIRS_MAX,
  PAIR_FORGOTTEN_MS,
  PAIR_HIDDEN_MS,
  PAIR_WAIT_MAX_MS,
  PAIR_WAIT_MS,
} from '../model/limits.js'
import type { LiveOrder } from '../model/live-order.js'
import { isByCode } from './code-signers.js'
import type { MatcherState, FailedPair, FailedPairs } from './state.js'

// What the market keeps of signers whose matches have failed without proof against either side (SET-025, SET-026).

/** The inverse of listing `byKey`. */
export function failedPairsOf(list: Iterable<FailedPair>): FailedPairs {
  const pairs: FailedPairs = { byKey: new Map(), bySigner: new Map() }
  for (const pair of list) keep(pairs, pair)
  return pairs
}

/**
 * Notes that a match of the two signers has failed: they wait for half a minute, and twice as long after each further
 * failure, up to an hour. A match that was in flight when they began to wait says nothing new.
 */
export function noteFailedPair(state: MatcherState, one: LiveOrder, other: LiveOrder): void {
  const { failedPairs: pairs, nowMs } = state
  const signers = signersOf(one, other)
  const before = pairs.byKey.get(keyOf(signers))
  if (before !== undefined && nowMs < endOf(before)) return
  if (before !== undefined) drop(pairs, before)
  const waitMs = before === undefined ? PAIR_WAIT_MS : Math.min(2 * before.waitMs, PAIR_WAIT_MAX_MS)
  keep(pairs, { signers, failedAtMs: nowMs, waitMs })
  const [oldest] = pairs.byKey.values()
  if (pairs.byKey.size > FAILED_PAIRS_MAX && oldest !== undefined) drop(pairs, oldest)
}

/** Pairs of which two matches or more have failed so, without one that settled between them. */
export const repeatedPairs = ({ failedPairs }: Pick<MatcherState, 'failedPairs'>): FailedPair[] =>
  Array.from(failedPairs.byKey.values()).filter(({ waitMs }) => waitMs > PAIR_WAIT_MS)

/** A match of the two signers has settled: they begin anew. */
export function forgetFailedPair({ failedPairs }: MatcherState, one: LiveOrder, other: LiveOrder) {
  if (failedPairs.byKey.size === 0) return
  const known = failedPairs.byKey.get(keyOf(signersOf(one, other)))
  if (known !== undefined) drop(failedPairs, known)
}

/** Forgets the pairs whose last failure is long ago. */
export function forgetOldPairs({ failedPairs, nowMs }: MatcherState): void {
  if (failedPairs.byKey.size === 0) return
  for (const pair of failedPairs.byKey.values()) {
    if (nowMs < pair.failedAtMs + PAIR_FORGOTTEN_MS) return
    drop(failedPairs, pair)
  }
}

/** Whether some order may be barred from the signer's; false for all but a few. */
export const mayBeBarred = ({ failedPairs }: MatcherState, { order }: LiveOrder): boolean =>
  failedPairs.byKey.size > 0 && failedPairs.bySigner.has(order.signer)

/** Of two orders that cross and may not match now: the one that is hidden, so that the other meets others. */
export interface BarredOrder {
  readonly live: LiveOrder
  readonly hold: Hold & { readonly untilMs: number }
}

/**
 * Whether the signers of two crossing orders may not match now; undefined when they may. The order whose signer is code is
 * hidden, else the later one. It looks again after some seconds, since the other may have left meanwhile.
 */
export function barredOf(
  state: MatcherState,
  one: LiveOrder,
  other: LiveOrder,
): BarredOrder | undefined {
  const { failedPairs, nowMs } = state
  if (failedPairs.byKey.size === 0) return undefined
  const pair = failedPairs.byKey.get(keyOf(signersOf(one, other)))
  if (pair === undefined || nowMs >= endOf(pair)) return undefined
  const isOneCode = isByCode(state, one)
  const isHidden = isOneCode === isByCode(state, other) ? one.rank > other.rank : isOneCode
  const untilMs = Math.min(endOf(pair), nowMs + PAIR_HIDDEN_MS)
  return { live: isHidden ? one : other, hold: { reason: 'pair_waits', untilMs } }
}

const endOf = ({ failedAtMs, waitMs }: FailedPair): number => failedAtMs + waitMs

function signersOf(one: LiveOrder, other: LiveOrder): FailedPair['signers'] {
  const a = one.order.signer
  const b = other.order.signer
  return a < b ? [a, b] : [b, a]
}

const keyOf = ([first, second]: FailedPair['signers']): string => `${first} ${second}`

function keep({ byKey, bySigner }: FailedPairs, pair: FailedPair): void {
  byKey.set(keyOf(pair.signers), pair)
  for (const signer of new Set(pair.signers)) {
    bySigner.set(signer, (bySigner.get(signer) ?? 0) + 1)
  }
}

function drop({ byKey, bySigner }: FailedPairs, pair: FailedPair): void {
  byKey.delete(keyOf(pair.signers))
  for (const signer of new Set(pair.signers)) {
    const left = (bySigner.get(signer) ?? 0) - 1
    if (left > 0) bySigner.set(signer, left)
    else bySigner.delete(signer)
  }
}
