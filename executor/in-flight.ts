import { balanceKey } from '../chain/match-payments.js'
import type { BalanceId } from '../chain/read-balances.js'
import type { MatchTerms } from './settlement.js'

/** A match whose transaction is signed. */
export interface InFlightMatch extends MatchTerms {
  readonly evmNonce: number
}

/** The matches of our own transactions that a block does not show yet. */
export interface InFlight {
  /** The highest nonce of those that touch one of the accounts; undefined when none does. */
  lastTouching(accountIds: readonly bigint[]): number | undefined
  /** Those that touch one of the accounts, in the order of their nonces. */
  touching(accountIds: ReadonlySet<bigint>): InFlightMatch[]
  /** What they take out of a balance, without what they bring in. */
  claimed(balance: BalanceId): bigint
}

/** All matches of our own transactions that are not mined, or mined so lately that the chain may lose them again. */
export interface InFlightBook {
  add(evmNonce: number, matches: readonly MatchTerms[]): void
  /** What a block does not show in which so many transactions are mined. */
  after(count: number): InFlight
}

/** Mined transactions that are kept beside those in flight: more than the chain may lose at once. */
const MINED_KEPT = 256

/** Bounded by the transactions that may be in flight. */
export function createInFlightBook(): InFlightBook {
  const byNonce = new Map<number, readonly InFlightMatch[]>()

  function forgetBefore(count: number): void {
    for (const evmNonce of byNonce.keys()) {
      if (evmNonce < count - MINED_KEPT) byNonce.delete(evmNonce)
    }
  }
  return {
    add(evmNonce, matches) {
      byNonce.set(
        evmNonce,
        matches.map((match) => ({ ...match, evmNonce })),
      )
    },
    after(count) {
      forgetBefore(count)
      const nonces = [...byNonce.keys()].filter((evmNonce) => evmNonce >= count)
      return viewOf(nonces.sort((a, b) => a - b).flatMap((evmNonce) => byNonce.get(evmNonce) ?? []))
    },
  }
}

/** `matches` in the order of their nonces. */
export function viewOf(matches: readonly InFlightMatch[]): InFlight {
  const last = new Map<bigint, number>()
  const claims = new Map<string, bigint>()
  for (const { evmNonce, accountIds, payments = [] } of matches) {
    for (const accountId of accountIds) last.set(accountId, evmNonce)
    for (const payment of payments) {
      const key = balanceKey(payment)
      claims.set(key, (claims.get(key) ?? 0n) + payment.amount)
    }
  }
  return {
    lastTouching(accountIds) {
      const nonces = accountIds.flatMap((accountId) => last.get(accountId) ?? [])
      return nonces.length === 0 ? undefined : Math.max(...nonces)
    },
    touching: (accountIds) =>
      matches.filter((match) => match.accountIds.some((accountId) => accountIds.has(accountId))),
    claimed: (balance) => claims.get(balanceKey(balance)) ?? 0n,
  }
}
