import { balanceKey } from '../chain/match-payments.js'
import type { Payment } from '../chain/match-payments.js'
import type { BalanceId } from '../chain/read-balances.js'
import type { InFlight } from './in-flight.js'
import type { MatchTerms } from './settlement.js'

export interface ShortQuestion<Match extends MatchTerms> {
  readonly matches: readonly Match[]
  readonly inFlight: InFlight
  /** Balances at 1e18 by position, in the block that `inFlight` is seen from. */
  readonly balancesOf: (ids: readonly BalanceId[]) => Promise<bigint[]>
  /**
   * Whether an account that only earlier matches of the list touch counts like one in flight. Of one in flight, what
   * they take counts in any case: each could be paid beside what is in flight, and all of them together not.
   */
  readonly countEarlier: boolean
}

/**
 * The matches that might not be payable once all that is in flight has taken its part, with the accounts that may lack
 * something. What is in flight is assumed to take everything and to bring nothing, so a match that is not among these
 * can be paid whatever becomes of the others. Only accounts that the others touch are looked at.
 */
export async function findShort<Match extends MatchTerms>(
  question: ShortQuestion<Match>,
): Promise<Map<Match, ReadonlySet<bigint>>> {
  const { matches, inFlight, countEarlier } = question
  const left = await readLeft(question, sharedAccounts(question))
  const short = new Map<Match, ReadonlySet<bigint>>()
  /** Accounts of earlier matches that are not short themselves, where they count. */
  const taken = new Set<bigint>()
  const isTouched = (accountId: bigint): boolean =>
    taken.has(accountId) || inFlight.lastTouching([accountId]) !== undefined
  for (const match of matches) {
    const lacking = lackingAccounts(match, left).filter(isTouched)
    if (lacking.length > 0) {
      short.set(match, new Set(lacking))
      continue
    }
    take(left, match.payments ?? [])
    if (countEarlier) for (const accountId of match.accountIds) taken.add(accountId)
  }
  return short
}

/** Accounts that may be touched by more than one match. */
function sharedAccounts({ matches, inFlight, countEarlier }: ShortQuestion<MatchTerms>) {
  const seen = new Set<bigint>()
  const shared = new Set<bigint>()
  for (const accountId of matches.flatMap(({ accountIds }) => accountIds)) {
    const isShared = inFlight.lastTouching([accountId]) !== undefined
    if (isShared || (countEarlier && seen.has(accountId))) shared.add(accountId)
    seen.add(accountId)
  }
  return shared
}

type Left = Map<string, bigint>

/** What is left of the shared accounts' balances after what is in flight. */
async function readLeft(
  { matches, inFlight, balancesOf }: ShortQuestion<MatchTerms>,
  shared: ReadonlySet<bigint>,
): Promise<Left> {
  const payments = matches
    .flatMap((match) => match.payments ?? [])
    .filter(({ accountId }) => shared.has(accountId))
  const ids = [...new Map(payments.map((payment) => [balanceKey(payment), payment])).values()]
  const balances = await balancesOf(ids)
  return new Map(
    ids.map((id, i) => [balanceKey(id), (balances[i] ?? 0n) - inFlight.claimed(id)] as const),
  )
}

function lackingAccounts({ payments, accountIds }: MatchTerms, left: Left): readonly bigint[] {
  // Where it does not follow from the match what it takes, it may take anything.
  if (payments === undefined) return accountIds
  return payments
    .filter((payment) => payment.amount > (left.get(balanceKey(payment)) ?? payment.amount))
    .map(({ accountId }) => accountId)
}

function take(left: Left, payments: readonly Payment[]): void {
  for (const payment of payments) {
    const before = left.get(balanceKey(payment))
    if (before !== undefined) left.set(balanceKey(payment), before - payment.amount)
  }
}
