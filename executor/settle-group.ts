import type { ReadClaims } from '../chain/contracts/read-claims.js'
import type { GasFacts } from '../chain/sender/gas.js'
import type { TransactionJournal } from '../core/transaction-journal.js'
import type { SenderHead } from '../chain/reads/blocks.js'
import { assert } from '../core/assert.js'
import type { ReadCode } from '../chain/reads/code-at-block.js'
import { findShort, viewOf, type InFlightMatches } from './in-flight.js'
import { placeApart } from './place-apart.js'
import { sendPassing, type PassedSettlement, type SendDeps } from './send-passing.js'
import type { QueuedSettlement, SettlementTerms, ChainVerdict } from './settlement.js'

export interface GroupDeps extends SendDeps {
  readonly readClaims: ReadClaims
  readonly readCode: ReadCode
  readonly journal: TransactionJournal
  /** Whether the node still gives the same answer about the head as when it was read. */
  readonly isUnchanged: (head: SenderHead) => Promise<boolean>
}

/** After so many deferrals a refusal is final, and a settlement is judged by the newest block alone. */
const MAX_DEFERRALS = 3
/** Transactions mined lately: an account may have been matched elsewhere before its market saw what they took. */
const LATELY = 16
/** Transactions in flight that code has signed, each of one signer and owner: what they burn is ahead of what comes later. */
const MAX_CODE_TRANSACTIONS = 8

/** One pass over a group of settlements. */
interface GroupRound {
  readonly deps: GroupDeps
  readonly head: SenderHead
  readonly inFlight: InFlightMatches
  /** Whether more settlements wait after the group. */
  readonly moreWait: boolean
  /** By settlement that code has signed: names those signers with their owners. */
  readonly codeKeys: ReadonlyMap<QueuedSettlement, string>
  /** Settlements that stay in the queue. */
  readonly again: Set<QueuedSettlement>
}

/**
 * Simulates the settlements, sends those that pass, refuses those that the chain refuses, and returns those that stay
 * in the queue, in their order. Matches in flight are taken into account: a refusal is final only when nothing in
 * flight could change it, and a settlement whose claims do not fit in addition to those in flight is not sent. Rejects with
 * ChainUnreachable, and with the errors of the sender and the journal.
 */
export async function settleGroup(
  deps: GroupDeps,
  head: SenderHead,
  group: readonly QueuedSettlement[],
  moreWait = false,
): Promise<QueuedSettlement[]> {
  const inFlight = deps.book.after(head.count)
  const codeKeys = await readCodeKeys(deps, head, group)
  const round: GroupRound = { deps, head, inFlight, moreWait, codeKeys, again: new Set() }
  const { chosen, short, ahead } = await choose(round, place(round, group))
  if (chosen.length > 0) {
    const matches = chosen.map(({ settlement }) => settlement)
    const [{ aheadPassed, verdicts }, gas] = await Promise.all([
      deps.packer.simulate(head, matches, ahead),
      deps.txSender.readGas(),
    ])
    const passing = aheadPassed ? await passingOf(round, chosen, verdicts) : []
    // Answers about a head that turned out to be another one mean nothing, refusals least of all.
    if (!(await deps.isUnchanged(head))) return [...group]
    if (aheadPassed) conclude(round, { chosen, verdicts, passing, gas })
    else for (const queued of chosen) keep(round, queued, short.has(queued.settlement))
  }
  return group.filter((queued) => round.again.has(queued))
}

/** The settlements of the group that code has signed, at the head. */
async function readCodeKeys(
  { readCode }: GroupDeps,
  { blockHash }: SenderHead,
  group: readonly QueuedSettlement[],
): Promise<Map<QueuedSettlement, string>> {
  const signers = group.flatMap(({ settlement }) => settlement.parties.map(({ signer }) => signer))
  const code = await readCode(signers, blockHash)
  const keys = new Map<QueuedSettlement, string>()
  if (code.size === 0) return keys
  for (const queued of group) {
    const ofCode = queued.settlement.parties.filter(({ signer }) => code.has(signer))
    if (ofCode.length === 0) continue
    keys.set(
      queued,
      ofCode
        .map(({ signer, owner }) => `${signer} ${owner}`)
        .sort()
        .join(),
    )
  }
  return keys
}

/** The group in the order in which it is simulated and sent, without what code has signed beyond its transactions. */
function place(
  { deps, head, codeKeys, again }: GroupRound,
  group: readonly QueuedSettlement[],
): readonly QueuedSettlement[] {
  const { codeTransactions } = deps.book.gasAfter(head.count)
  const maxCodeRuns = Math.max(0, MAX_CODE_TRANSACTIONS - codeTransactions)
  const { runs, held } = placeApart(
    group,
    (queued) => ({
      accountIds: queued.settlement.accountIds,
      codeKey: codeKeys.get(queued),
    }),
    { maxCodeRuns, onePerKey: deps.packer.maxAhead > 0 },
  )
  for (const queued of held) {
    again.add(queued)
    // Until one in flight is mined it would only take the place of another in each group.
    if (maxCodeRuns === 0) queued.waitsFor = head.count
  }
  return runs.flatMap(({ members }) => members)
}

/**
 * The settlements that pass. Those that code has signed are simulated a second time as they will be sent, because in their
 * own transaction no other match has paid for the first access to storage: what a match uses there is up to twice as much.
 * Of several in one simulation only the first transaction is sent: what its matches use does not depend on later ones.
 */
async function passingOf(
  { deps, head, codeKeys }: GroupRound,
  chosen: readonly QueuedSettlement[],
  verdicts: readonly ChainVerdict[],
): Promise<PassedSettlement[]> {
  const passed = chosen.flatMap((queued, i) => {
    const verdict = verdicts[i]
    return verdict?.kind === 'passes' ? [{ queued, gas: verdict.gas }] : []
  })
  const byKey = new Map<string, QueuedSettlement[]>()
  for (const { queued } of passed) {
    const key = codeKeys.get(queued)
    if (key !== undefined) byKey.set(key, [...(byKey.get(key) ?? []), queued])
  }
  const alone = new Map<QueuedSettlement, bigint>()
  const simulateAlone = async (run: readonly QueuedSettlement[]): Promise<void> => {
    const matches = run.map(({ settlement }) => settlement)
    const { verdicts: answers } = await deps.packer.simulate(head, matches, [])
    for (const [i, queued] of run.entries()) {
      const answer = answers[i]
      if (answer?.kind === 'passes') alone.set(queued, answer.gas)
    }
  }
  await Promise.all([...byKey.values()].map(simulateAlone))
  return passed.map(({ queued, gas }) => {
    const key = codeKeys.get(queued)
    if (key === undefined) return { queued, gas }
    return { queued, gas, code: { key, alone: alone.get(queued) } }
  })
}

/** Chooses the settlements to simulate now, and the matches in flight to put ahead of them. */
async function choose(round: GroupRound, group: readonly QueuedSettlement[]) {
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
function keep(round: GroupRound, queued: QueuedSettlement, isShort: boolean): void {
  const evmNonce = round.inFlight.lastTouching(queued.settlement.accountIds)
  if (isShort && evmNonce !== undefined) defer(round, queued, evmNonce)
  else round.again.add(queued)
}

function defer({ deps, again }: GroupRound, queued: QueuedSettlement, evmNonce: number): void {
  again.add(queued)
  queued.waitsFor = evmNonce
  queued.deferrals += 1
  deps.facts.deferred(queued.settlement.intentId, evmNonce)
}

interface SimulatedGroup {
  readonly chosen: readonly QueuedSettlement[]
  readonly verdicts: readonly ChainVerdict[]
  /** Those that pass, in their order. */
  readonly passing: readonly PassedSettlement[]
  readonly gas: GasFacts
}

interface RefusedInGroup {
  readonly queued: QueuedSettlement
  /** Its position in the simulation. */
  readonly at: number
  readonly revert: string
}

function conclude(round: GroupRound, { chosen, verdicts, passing, gas }: SimulatedGroup): void {
  const refused: RefusedInGroup[] = []
  for (const [i, queued] of chosen.entries()) {
    const verdict = verdicts[i]
    assert(verdict !== undefined, 'a simulated match has no verdict')
    if (verdict.kind === 'passes') {
      round.deps.facts.simulated(queued.settlement.intentId, verdict.gas)
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
  const { codeGas } = round.deps.book.gasAfter(round.head.count)
  const { sent, kept, complete } = sendPassing(round.deps, { passing, gas, moreWait, codeGas })
  for (const { queued, code } of kept) {
    round.again.add(queued)
    // As what was held, where some of code was in flight before.
    if (code !== undefined && codeGas > 0n) queued.waitsFor = round.head.count
  }
  const keptFrom = Math.min(chosen.length, ...kept.map(({ queued }) => chosen.indexOf(queued)))
  const sentNow = viewOf(sent)
  for (const one of refused) {
    // It was simulated on what the matches before it leave, so its verdict holds only if all of those were sent.
    if (complete && one.at < keptFrom) judgeRefusal(round, one, sentNow)
    else round.again.add(one.queued)
  }
}

/** Final unless a match that was sent touches one of its accounts; then it is simulated again after that match. */
function judgeRefusal(
  round: GroupRound,
  { queued, revert }: RefusedInGroup,
  sentNow: InFlightMatches,
): void {
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
    kind: 'refused',
    revert,
    onBlock: round.head.blockHash,
    ...(elsewhere.length > 0 && { spentElsewhere: elsewhere }),
  })
}

/** Accounts of the settlement that matches of other markets, in flight or mined lately, touch as well. */
function spentElsewhere({ deps, head }: GroupRound, { settlement }: QueuedSettlement): bigint[] {
  const own = settlement.match?.market.market
  const lately = deps.book.after(head.count - LATELY)
  return settlement.accountIds.filter((id) =>
    lately.touching(new Set([id])).some(({ match }) => match?.market.market !== own),
  )
}
