import type { ClaimReads } from '../chain/contracts/read-claims.js'
import type { MarketMatch } from '../chain/contracts/registry.js'
import { claimsLeft, type CapacityClaim, type ClaimKey } from '../core/contracts/claims.js'
import type { SettlementTerms } from './settlement.js'

/** A match whose transaction is signed. */
export interface InFlightMatch extends SettlementTerms {
  readonly evmNonce: number
}

/** The matches of our own transactions that a block does not show yet. */
export interface InFlightMatches {
  /** The highest nonce of the matches that touch one of the accounts; undefined when none does. */
  lastTouching(accountIds: readonly bigint[]): number | undefined
  /** The matches that touch one of the accounts, in the order of their nonces. */
  touching(accountIds: ReadonlySet<bigint>): InFlightMatch[]
}

/** The gas of a transaction. */
export interface GasLoad {
  readonly gasLimit: bigint
  /** Whether code has signed its matches. */
  readonly isOfCode: boolean
  /** What those of its matches used in their simulation that pay less than their gas costs. */
  readonly dustGas: bigint
}

/** The gas of several. */
export interface SumOfGas {
  readonly gas: bigint
  readonly codeTransactions: number
  readonly codeGas: bigint
  readonly dustGas: bigint
}

/** The matches of all our transactions that are not mined, or were mined so lately that the chain may lose them. */
export interface InFlightBook {
  /** Of a transaction that an earlier process has sent only the limit is known: it counts as one of plain keys. */
  add(evmNonce: number, matches: readonly SettlementTerms[], load?: Partial<GasLoad>): void
  /** The gas of the transactions that are missing from a block with so many mined transactions of the sender. */
  gasAfter(count: number): SumOfGas
  /** The matches that are missing from a block with so many mined transactions of the sender. */
  after(count: number): InFlightMatches
}

/** Mined transactions that are kept besides those in flight: more than a reorganisation can undo. */
const MINED_KEPT = 256

/** Bounded by the transactions that may be in flight. */
export function createInFlightBook(): InFlightBook {
  const byNonce = new Map<number, readonly InFlightMatch[]>()
  const loads = new Map<number, GasLoad>()

  function forgetBefore(count: number): void {
    for (const evmNonce of byNonce.keys()) {
      if (evmNonce >= count - MINED_KEPT) continue
      byNonce.delete(evmNonce)
      loads.delete(evmNonce)
    }
  }
  return {
    add(evmNonce, matches, load) {
      loads.set(evmNonce, { gasLimit: 0n, isOfCode: false, dustGas: 0n, ...load })
      byNonce.set(
        evmNonce,
        matches.map((match) => ({ ...match, evmNonce })),
      )
    },
    gasAfter(count) {
      const left = [...loads].flatMap(([evmNonce, load]) => (evmNonce >= count ? [load] : []))
      const ofCode = left.filter(({ isOfCode }) => isOfCode)
      const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n)
      return {
        gas: sum(left.map(({ gasLimit }) => gasLimit)),
        codeTransactions: ofCode.length,
        codeGas: sum(ofCode.map(({ gasLimit }) => gasLimit)),
        dustGas: sum(left.map(({ dustGas }) => dustGas)),
      }
    },
    after(count) {
      forgetBefore(count)
      const nonces = [...byNonce.keys()].filter((evmNonce) => evmNonce >= count)
      return viewOf(nonces.sort((a, b) => a - b).flatMap((evmNonce) => byNonce.get(evmNonce) ?? []))
    },
  }
}

/** `matches` in the order of their nonces. */
export function viewOf(matches: readonly InFlightMatch[]): InFlightMatches {
  const last = new Map<bigint, number>()
  for (const { evmNonce, accountIds } of matches) {
    for (const accountId of accountIds) last.set(accountId, evmNonce)
  }
  return {
    lastTouching(accountIds) {
      const nonces = accountIds.flatMap((accountId) => last.get(accountId) ?? [])
      return nonces.length === 0 ? undefined : Math.max(...nonces)
    },
    touching: (accountIds) =>
      matches.filter((match) => match.accountIds.some((accountId) => accountIds.has(accountId))),
  }
}

export interface ShortQuestion<Match extends SettlementTerms> {
  readonly matches: readonly Match[]
  readonly inFlight: InFlightMatches
  /** Of the block that `inFlight` is seen from. */
  readonly reads: ClaimReads
  /**
   * Whether an account that only earlier matches of the list touch counts as shared, as one in flight does. The claims
   * of earlier matches on accounts in flight count in any case, because their sum may exceed what is left.
   */
  readonly countEarlier: boolean
}

/**
 * The matches whose claims may not fit in addition to what is in flight, with the accounts that may be short. Everything in
 * flight is assumed to take all that it claims and to bring in nothing, so every other match can be paid whatever
 * becomes of those in flight. Only accounts that another match touches are read.
 */
export async function findShort<Match extends SettlementTerms>(
  question: ShortQuestion<Match>,
): Promise<Map<Match, ReadonlySet<bigint>>> {
  const { matches, inFlight, countEarlier } = question
  const short = new Map<Match, ReadonlySet<bigint>>()
  const shared = sharedAccounts(question)
  if (shared.size === 0) return short
  const { left, claimsOf, unknown } = await readLeft(question, shared)
  /** Accounts of earlier matches that are not short themselves, where those count. */
  const admitted = new Set<bigint>()
  const isTouched = (accountId: bigint): boolean =>
    admitted.has(accountId) || inFlight.lastTouching([accountId]) !== undefined
  for (const match of matches) {
    const claims = claimsOf(match)
    // A match whose claims are unknown may take anything, so all its accounts may lack something.
    const wanting =
      claims === undefined
        ? match.accountIds
        : [...left.lacking(claims), ...match.accountIds.filter((id) => unknown.has(id))]
    const lacking = wanting.filter(isTouched)
    if (lacking.length > 0) {
      short.set(match, new Set(lacking))
      continue
    }
    left.take(claims ?? [])
    if (countEarlier) for (const accountId of match.accountIds) admitted.add(accountId)
  }
  return short
}

/** Accounts that more than one match may touch. */
function sharedAccounts({ matches, inFlight, countEarlier }: ShortQuestion<SettlementTerms>) {
  const seen = new Set<bigint>()
  const shared = new Set<bigint>()
  for (const accountId of matches.flatMap(({ accountIds }) => accountIds)) {
    const isShared = inFlight.lastTouching([accountId]) !== undefined
    if (isShared || (countEarlier && seen.has(accountId))) shared.add(accountId)
    seen.add(accountId)
  }
  return shared
}

/**
 * What the claims in flight leave of the shared accounts, the claims of the matches, and the accounts of which
 * something in flight may take anything.
 */
async function readLeft(
  { matches, inFlight, reads }: ShortQuestion<SettlementTerms>,
  shared: ReadonlySet<bigint>,
) {
  const before = inFlight.touching(shared)
  const known = [...matches, ...before].flatMap(({ match }) => match ?? [])
  const claims = await reads.claims(known)
  const byMatch = new Map<MarketMatch, readonly CapacityClaim[] | undefined>(
    known.map((match, i) => [match, claims[i]]),
  )
  const claimsOf = ({ match }: SettlementTerms) => match && byMatch.get(match)
  const keysOf = (terms: SettlementTerms) => (claimsOf(terms) ?? []).map(({ key }) => key)
  // What a match in flight claims of a margin may be left short by a match of another market.
  const ofMargin = before.flatMap(keysOf).filter((key) => key.shares !== undefined)
  const keys = new Map<string, ClaimKey>()
  for (const key of [...matches.flatMap(keysOf), ...ofMargin]) {
    if (shared.has(key.accountId)) keys.set(key.id, key)
  }
  const asked = [...keys.values()]
  const capacities = await reads.capacities(asked)
  const left = claimsLeft(asked.map((key, i) => ({ key, capacity: capacities[i] ?? 0n })))
  const unknown = new Set<bigint>()
  for (const terms of before) {
    const taken = claimsOf(terms)
    left.take(taken ?? [])
    if (taken === undefined) for (const accountId of terms.accountIds) unknown.add(accountId)
  }
  return { left, claimsOf, unknown }
}
