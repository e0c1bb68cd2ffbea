import type { GasFacts } from '../chain/read-gas.js'
import type { ReadBalances } from '../chain/read-balances.js'
import type { Head } from '../chain/read-head.js'
import type { TransactionJournal } from '../chain/transaction-journal.js'
import { assert } from '../core/assert.js'
import type { Verdict } from './carrier.js'
import { findShort } from './find-short.js'
import { viewOf } from './in-flight.js'
import type { InFlight } from './in-flight.js'
import { sendPassing } from './send-passing.js'
import type { Passing, SendDeps } from './send-passing.js'
import type { MatchTerms } from './settlement.js'
import type { Waiting } from './waiting.js'

export interface GroupDeps extends SendDeps {
  readonly readBalances: ReadBalances
  readonly journal: TransactionJournal
  /** Whether the chain still says of the head what it said when it was read. */
  readonly isUnchanged: (head: Head) => Promise<boolean>
}

/** After so many waits a refusal is final, and what could not be found out about what is in flight is let be. */
const MAX_DEFERRALS = 3

/** One look at a group of settlements. */
interface Round {
  readonly deps: GroupDeps
  readonly head: Head
  readonly inFlight: InFlight
  /** Whether others wait behind the group. */
  readonly moreWait: boolean
  /** Those that are looked at again. */
  readonly again: Set<Waiting>
}

/**
 * Tries the settlements out, sends those that pass, refuses those that the chain refuses, and answers which are to be
 * looked at again, in their order. What is in flight is taken into account: a refusal is final only when nothing in
 * flight could change it, and what cannot be paid after what is in flight is not sent. Rejects with ChainUnreachable,
 * and as the lane and the journal throw.
 */
export async function settleGroup(
  deps: GroupDeps,
  head: Head,
  group: readonly Waiting[],
  moreWait = false,
): Promise<Waiting[]> {
  const inFlight = deps.book.after(head.count)
  const round: Round = { deps, head, inFlight, moreWait, again: new Set() }
  const { chosen, short, ahead } = await choose(round, group)
  if (chosen.length > 0) {
    const matches = chosen.map(({ settlement }) => settlement)
    const trying = deps.carrier.try(head, matches, ahead)
    const [{ aheadHolds, verdicts }, gas] = await Promise.all([trying, deps.lane.readGas()])
    // Whatever was read of a head that turns out to be another is worth nothing, least of all a refusal.
    if (!(await deps.isUnchanged(head))) return [...group]
    if (aheadHolds) conclude(round, { chosen, verdicts, gas })
    else for (const waiting of chosen) putBack(round, waiting, short.has(waiting.settlement))
  }
  return group.filter((waiting) => round.again.has(waiting))
}

/** Who is tried out now, and which matches in flight are assumed to go through first. */
async function choose(round: Round, group: readonly Waiting[]) {
  const { deps, head, inFlight } = round
  const { maxAhead } = deps.carrier
  const careful = group.filter(({ deferrals }) => deferrals <= MAX_DEFERRALS)
  const short = await findShort<MatchTerms>({
    matches: careful.map(({ settlement }) => settlement),
    inFlight,
    balancesOf: (ids) => deps.readBalances(head.blockHash, ids),
    // Tried out by itself, a match does not see what those before it take.
    countEarlier: maxAhead === 0,
  })
  let accounts: ReadonlySet<bigint> = new Set()
  const ours = new Set<bigint>()
  const chosen = group.filter((waiting) => {
    const lacking = short.get(waiting.settlement)
    const isOurs = (id: bigint) => ours.has(id) || inFlight.lastTouching([id]) !== undefined
    // What nothing of ours takes is lacking for good: the chain is to say so, or it would wait for ever.
    if (lacking === undefined || ![...lacking].some(isOurs)) {
      for (const id of waiting.settlement.accountIds) ours.add(id)
      return true
    }
    const wanted = new Set([...accounts, ...lacking])
    const fits = maxAhead > 0 && inFlight.touching(wanted).length <= maxAhead
    if (fits) accounts = wanted
    else if (waiting.deferrals < MAX_DEFERRALS) putBack(round, waiting, true)
    else return true
    return fits
  })
  return { chosen, short, ahead: inFlight.touching(accounts) }
}

/** Back into the queue; one that lacks something waits until what touches its accounts is mined. */
function putBack(round: Round, waiting: Waiting, isShort: boolean): void {
  const evmNonce = round.inFlight.lastTouching(waiting.settlement.accountIds)
  if (isShort && evmNonce !== undefined) defer(round, waiting, evmNonce)
  else round.again.add(waiting)
}

function defer({ deps, again }: Round, waiting: Waiting, evmNonce: number): void {
  again.add(waiting)
  waiting.waitsFor = evmNonce
  waiting.deferrals += 1
  deps.facts.deferred(waiting.settlement.intentId, evmNonce)
}

interface Tried {
  readonly chosen: readonly Waiting[]
  readonly verdicts: readonly Verdict[]
  readonly gas: GasFacts
}

interface Refused {
  readonly waiting: Waiting
  /** Its place in the trial. */
  readonly at: number
  readonly revert: string
}

function conclude(round: Round, { chosen, verdicts, gas }: Tried): void {
  const passing: Passing[] = []
  const refused: Refused[] = []
  for (const [i, waiting] of chosen.entries()) {
    const verdict = verdicts[i]
    assert(verdict !== undefined, 'a trial without a verdict')
    if (verdict.kind === 'passes') {
      round.deps.facts.simulated(waiting.settlement.intentId, verdict.gas)
      passing.push({ waiting, gas: verdict.gas })
    } else if (verdict.kind === 'reverts') {
      refused.push({ waiting, at: i, revert: verdict.revert })
    } else if (i === 0) {
      waiting.resolve({ kind: 'unavailable', why: 'the node gives too little gas for a trial' })
    } else {
      round.again.add(waiting)
    }
  }
  const { sent, kept, complete } = sendPassing(round.deps, passing, gas, round.moreWait)
  for (const { waiting } of kept) round.again.add(waiting)
  const [firstKept] = kept
  const keptFrom = firstKept === undefined ? chosen.length : chosen.indexOf(firstKept.waiting)
  const mates = viewOf(sent)
  for (const one of refused) {
    // It was tried out on what those before it would have left, had they been sent.
    if (complete && one.at < keptFrom) judgeRefusal(round, one, mates)
    else round.again.add(one.waiting)
  }
}

/** Final unless something that is sent touches an account of it; then it is tried again on what that has left. */
function judgeRefusal(round: Round, { waiting, revert }: Refused, mates: InFlight): void {
  const { accountIds, intentId, fingerprint } = waiting.settlement
  const evmNonce = mates.lastTouching(accountIds) ?? round.inFlight.lastTouching(accountIds)
  if (evmNonce !== undefined && waiting.deferrals < MAX_DEFERRALS) {
    defer(round, waiting, evmNonce)
    return
  }
  const { journal, facts } = round.deps
  journal.recordRefusal(intentId, fingerprint, revert)
  facts.refused(intentId, revert)
  waiting.resolve({ kind: 'refused', revert })
}
