import type { ReadClaims } from '../chain/contracts/read-claims.js'
import type { GasFacts } from '../chain/lane/gas.js'
import type { TransactionJournal } from '../core/transaction-journal.js'
import type { Shortage, TransactionLane } from '../chain/lane/transaction-lane.js'
import type { SenderHead } from '../chain/reads/blocks.js'
import type { Address } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import {
  findShort,
  viewOf,
  type InFlight,
  type InFlightBook,
  type InFlightMatch,
} from './in-flight.js'
import type { ExecutorFacts } from './observe.js'
import type { MatchPacker, QueuedSettlement, SettlementTerms, Verdict } from './settlement.js'

export interface GroupDeps extends SendDeps {
  readonly readClaims: ReadClaims
  readonly journal: TransactionJournal
  /** Whether the node still gives the same answer about the head as when it was read. */
  readonly isUnchanged: (head: SenderHead) => Promise<boolean>
}

/** After so many deferrals a refusal is final, and a settlement is judged by the newest block alone. */
const MAX_DEFERRALS = 3
/** Transactions mined lately: an account may have been matched elsewhere before its market saw what they took. */
const LATELY = 16

/** One pass over a group of settlements. */
interface Round {
  readonly deps: GroupDeps
  readonly head: SenderHead
  readonly inFlight: InFlight
  /** Whether more settlements wait behind the group. */
  readonly moreWait: boolean
  /** Settlements that stay in the queue. */
  readonly again: Set<QueuedSettlement>
}

/**
 * Simulates the settlements, sends those that pass, refuses those that the chain refuses, and returns those that stay
 * in the queue, in their order. Matches in flight are taken into account: a refusal is final only when nothing in
 * flight could change it, and a settlement whose claims do not fit beside those in flight is not sent. Rejects with
 * ChainUnreachable, and with the errors of the lane and the journal.
 */
export async function settleGroup(
  deps: GroupDeps,
  head: SenderHead,
  group: readonly QueuedSettlement[],
  moreWait = false,
): Promise<QueuedSettlement[]> {
  const inFlight = deps.book.after(head.count)
  const round: Round = { deps, head, inFlight, moreWait, again: new Set() }
  const { chosen, short, ahead } = await choose(round, group)
  if (chosen.length > 0) {
    const matches = chosen.map(({ settlement }) => settlement)
    const [{ aheadPassed, verdicts }, gas] = await Promise.all([
      deps.packer.simulate(head, matches, ahead),
      deps.lane.readGas(),
    ])
    // Answers about a head that turned out to be another one mean nothing, refusals least of all.
    if (!(await deps.isUnchanged(head))) return [...group]
    if (aheadPassed) conclude(round, { chosen, verdicts, gas })
    else for (const queued of chosen) keep(round, queued, short.has(queued.settlement))
  }
  return group.filter((queued) => round.again.has(queued))
}

/** Chooses the settlements to simulate now, and the matches in flight to put ahead of them. */
async function choose(round: Round, group: readonly QueuedSettlement[]) {
  const { deps, head, inFlight } = round
  const { maxAhead } = deps.packer
  const deferrable = group.filter(({ deferrals }) => deferrals <= MAX_DEFERRALS)
  const short = await findShort<SettlementTerms>({
    matches: deferrable.map(({ settlement }) => settlement),
    inFlight,
    reads: deps.readClaims(head.blockHash),
    // Simulated by itself, a match does not see what the matches before it take.
    countEarlier: maxAhead === 0,
  })
  let accounts: ReadonlySet<bigint> = new Set()
  const chosenAccounts = new Set<bigint>()
  const chosen = group.filter((queued) => {
    const lacking = short.get(queued.settlement)
    const isShared = (id: bigint) =>
      chosenAccounts.has(id) || inFlight.lastTouching([id]) !== undefined
    // If no other match of ours touches the account, waiting would not help: let the chain refuse it.
    if (lacking === undefined || ![...lacking].some(isShared)) {
      for (const id of queued.settlement.accountIds) chosenAccounts.add(id)
      return true
    }
    const wanted = new Set([...accounts, ...lacking])
    const fits = maxAhead > 0 && inFlight.touching(wanted).length <= maxAhead
    if (fits) accounts = wanted
    else if (queued.deferrals < MAX_DEFERRALS) keep(round, queued, true)
    else return true
    return fits
  })
  return { chosen, short, ahead: inFlight.touching(accounts) }
}

/** Leaves the settlement in the queue; if it is short, until the matches that touch its accounts are mined. */
function keep(round: Round, queued: QueuedSettlement, isShort: boolean): void {
  const evmNonce = round.inFlight.lastTouching(queued.settlement.accountIds)
  if (isShort && evmNonce !== undefined) defer(round, queued, evmNonce)
  else round.again.add(queued)
}

function defer({ deps, again }: Round, queued: QueuedSettlement, evmNonce: number): void {
  again.add(queued)
  queued.waitsFor = evmNonce
  queued.deferrals += 1
  deps.facts.deferred(queued.settlement.intentId, evmNonce)
}

interface Simulated {
  readonly chosen: readonly QueuedSettlement[]
  readonly verdicts: readonly Verdict[]
  readonly gas: GasFacts
}

interface Refused {
  readonly queued: QueuedSettlement
  /** Its position in the simulation. */
  readonly at: number
  readonly revert: string
}

function conclude(round: Round, { chosen, verdicts, gas }: Simulated): void {
  const passing: Passing[] = []
  const refused: Refused[] = []
  for (const [i, queued] of chosen.entries()) {
    const verdict = verdicts[i]
    assert(verdict !== undefined, 'a simulated match has no verdict')
    if (verdict.kind === 'passes') {
      round.deps.facts.simulated(queued.settlement.intentId, verdict.gas)
      passing.push({ queued, gas: verdict.gas })
    } else if (verdict.kind === 'reverts') {
      refused.push({ queued, at: i, revert: verdict.revert })
    } else if (i === 0) {
      queued.resolve({ kind: 'unavailable', why: 'the node gives too little gas for a trial' })
    } else {
      round.again.add(queued)
    }
  }
  // What the simulation had no gas for waits as well as what did not arrive yet.
  const moreWait = round.moreWait || verdicts.some(({ kind }) => kind === 'untried')
  const { sent, kept, complete } = sendPassing(round.deps, passing, gas, moreWait)
  for (const { queued } of kept) round.again.add(queued)
  const [firstKept] = kept
  const keptFrom = firstKept === undefined ? chosen.length : chosen.indexOf(firstKept.queued)
  const sentNow = viewOf(sent)
  for (const one of refused) {
    // It was simulated on what the matches before it leave, so its verdict holds only if all of those were sent.
    if (complete && one.at < keptFrom) judgeRefusal(round, one, sentNow)
    else round.again.add(one.queued)
  }
}

/** Final unless a match that was sent touches one of its accounts; then it is simulated again after that match. */
function judgeRefusal(round: Round, { queued, revert }: Refused, sentNow: InFlight): void {
  const { accountIds, intentId, fingerprint, match } = queued.settlement
  const evmNonce = sentNow.lastTouching(accountIds) ?? round.inFlight.lastTouching(accountIds)
  if (evmNonce !== undefined && queued.deferrals < MAX_DEFERRALS) {
    defer(round, queued, evmNonce)
    return
  }
  const { journal, facts } = round.deps
  journal.recordRefusal(intentId, fingerprint, revert)
  facts.refused(intentId, revert)
  const isShort = match?.contract.solvency.reverts.includes(revert) === true
  const elsewhere = isShort ? spentElsewhere(round, queued) : []
  queued.resolve({
    ...{ kind: 'refused', revert, onBlock: round.head.blockHash },
    ...(elsewhere.length > 0 && { spentElsewhere: elsewhere }),
  })
}

/** Accounts of the settlement that matches of other markets, in flight or mined lately, touch as well. */
function spentElsewhere({ deps, head }: Round, { settlement }: QueuedSettlement): bigint[] {
  const own = settlement.match?.market.market
  const lately = deps.book.after(head.count - LATELY)
  return settlement.accountIds.filter((id) =>
    lately.touching(new Set([id])).some(({ match }) => match?.market.market !== own),
  )
}

interface SendDeps {
  readonly packer: MatchPacker
  readonly book: InFlightBook
  readonly lane: TransactionLane
  readonly facts: ExecutorFacts
}

/** A settlement that passed its simulation, and the gas that it used. */
interface Passing {
  readonly queued: QueuedSettlement
  readonly gas: bigint
}

/** The matches that were sent, and the settlements that wait for the next transaction. */
export interface Sent {
  readonly sent: readonly InFlightMatch[]
  readonly kept: readonly Passing[]
  /** False when the lane accepts no more now, and all other settlements were answered with that. */
  readonly complete: boolean
}

/**
 * Signs and sends transactions until all settlements are sent or the lane accepts no more, and answers each settlement.
 * When more wait behind the group, the last settlements are kept unless they fill a transaction. Does not yield. Throws
 * the errors of the lane; answers given before stand.
 */
function sendPassing(
  deps: SendDeps,
  passing: readonly Passing[],
  gas: GasFacts,
  moreWait: boolean,
): Sent {
  const sent: InFlightMatch[] = []
  let unsent = passing
  while (unsent.length > 0) {
    const packed = deps.packer.pack(
      unsent.map(({ queued, gas: used }) => ({ match: queued.settlement, gas: used })),
    )
    if (moreWait && sent.length > 0 && !packed.isFull) return { sent, kept: unsent, complete: true }
    const shortage = deps.lane.shortage(gas, packed.gasLimit * gas.maxFeePerGas)
    if (shortage !== undefined) {
      const why = describe(shortage, deps.lane.address)
      for (const { queued } of unsent) queued.resolve({ kind: 'unavailable', why })
      return { sent, kept: [], complete: false }
    }
    const included = unsent.slice(0, packed.count)
    unsent = unsent.slice(packed.count)
    const settlements = included.map(({ queued }) => queued.settlement)
    const { maxFeePerGas, maxPriorityFeePerGas } = gas
    crash('executor.before_journal')
    const transaction = deps.lane.take({
      intents: settlements.map(({ intentId, fingerprint }) => ({ intentId, fingerprint })),
      to: packed.to,
      data: packed.data,
      fees: { gasLimit: packed.gasLimit, maxFeePerGas, maxPriorityFeePerGas },
    })
    const { evmNonce } = transaction
    deps.book.add(evmNonce, settlements)
    sent.push(...settlements.map((settlement) => ({ ...settlement, evmNonce })))
    for (const { queued } of included) queued.resolve({ kind: 'sent', transaction })
  }
  return { sent, kept: [], complete: true }
}

/** Names the signer whose gas money is short: each signer has its own. */
const describe = ({ kind, why }: Shortage, signer: Address): string =>
  kind === 'gas_money' ? `${why}: ${signer}` : why
