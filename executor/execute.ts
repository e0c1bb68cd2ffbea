import { encodeMatch, type MatchCall } from '../chain/contracts/calldata.js'
import type { FailedAt } from '../chain/contracts/failed-state.js'
import type { FindGuilty } from '../chain/contracts/find-guilty.js'
import type { ReadGasUse } from '../chain/contracts/read-gas-use.js'
import type { ReadMark } from '../chain/contracts/read-mark.js'
import type {
  MinedTransaction,
  OpenTransaction,
  RecordedIntent,
  TransactionJournal,
} from '../core/transaction-journal.js'
import type { TransactionSender } from '../chain/sender/transaction-sender.js'
import { fingerprintOf } from '../chain/signing/keys.js'
import type { Address, Hex } from '../core/action.js'
import type { Market } from '../core/model/market.js'
import { crash } from '../core/crash-point.js'
import type { Blame } from '../core/model/match.js'
import { E18, mulDivCeil, quoteE18, type PriceE18, type QuoteE18 } from '../core/money.js'
import { GAS_LOST, NOT_TRIED, UNKNOWN_REVERT } from '../core/revert.js'
import { JournalUnwritable } from '../data/journal/journal-file.js'
import { within } from '../runtime/process/within.js'
import { lossesOf, type LostGas } from './lost-gas.js'
import type { ExecutorObserver } from './observe.js'
import type { ExecutePayload } from './payload.js'
import type { SettlementQueue } from './settlement-queue.js'
import { partiesOf, termsOf, type RefusedSettlement, type SubmitResult } from './settlement.js'
import type { FaultWatch } from './watch-faults.js'

/**
 * The result of a settlement. Only `mined` and `refused` are final; after the others the caller may ask again with the
 * key.
 */
export type ExecuteAnswer =
  | {
      readonly kind: 'mined'
      readonly transaction: MinedTransaction
      /** Of a revert, as far as the chain shows it. */
      readonly guilty?: Blame
      readonly codeSigners?: readonly Address[]
      /** Where the contract has a mark and the chain still shows at which it booked the match. */
      readonly markPrice?: PriceE18
      /** Of its share of the transaction's gas, in USDC at 1e18, rounded up. */
      readonly gasCost?: QuoteE18
    }
  /** The simulation reverted. Nothing was sent, and nothing will be sent under this key. */
  | RefusedAnswer
  /**
   * A node accepted the transaction. It is not mined yet, or its batch is mined, not final and did not try the match.
   */
  | { readonly kind: 'timeout'; readonly hash: Hex }
  /** Signed and journaled, but no node has confirmed that it accepted the transaction. */
  | { readonly kind: 'unknown'; readonly hash: Hex }
  /** Nothing was sent of which the journal on the bus holds a signed form. */
  | { readonly kind: 'unavailable'; readonly why: string }
  /** The key was used for another match. */
  | { readonly kind: 'mismatch' }

type RefusedAnswer = RefusedSettlement & {
  readonly guilty?: Blame
  readonly codeSigners?: readonly Address[]
  readonly isSpentElsewhere?: true
}

export interface ExecuteDeps {
  readonly matching: Address
  readonly markets: readonly Market[]
  readonly journal: TransactionJournal
  readonly txSender: TransactionSender
  readonly queue: Pick<SettlementQueue, 'submit'>
  readonly findGuilty: FindGuilty
  readonly readMark: ReadMark
  readonly readGasUse: ReadGasUse
  /** USDC at 1e18 for 1e18 wei. */
  readonly gasTokenPrice: QuoteE18
  readonly lostGas: Pick<LostGas, 'note' | 'over'>
  /** A match was refused for a fault of the venue. */
  readonly onVenueFault: FaultWatch['refused']
  /** How long a request waits to be sent, and after that for its outcome. */
  readonly timeoutMs: number
  readonly facts: ExecutorObserver
}

/** Settles a match once. `key` is the settlement's id; it defaults to the fingerprint of the call. */
export type Execute = (payload: ExecutePayload, key: string | undefined) => Promise<ExecuteAnswer>

export interface Executions {
  readonly execute: Execute
  /** The id of a settlement: the caller's key, or the fingerprint of the call. */
  readonly idOf: (payload: ExecutePayload, key: string | undefined) => string
  /** Whether the id is journaled or in the queue, so that a transaction may have been sent for it. */
  readonly isKnown: (id: string) => boolean
  /** Whether the settlement is in the queue, so that it may be signed at any moment. */
  readonly isRunning: (key: string) => boolean
}

interface ExecCall {
  readonly id: string
  readonly payload: ExecutePayload
  readonly call: Hex
  readonly fingerprint: Hex
}

/** A settlement in the queue, shared by all requests with its key. */
interface QueueJob {
  readonly intentId: string
  readonly fingerprint: Hex
  readonly submission: Promise<SubmitResult>
}

interface ExecState extends ExecuteDeps {
  /** By settlement id: closes the gap between the look-up and the journal. Bounded by the queue. */
  readonly running: Map<string, QueueJob>
  /** By intent, oldest first: what a refusal knows besides its journaled name. */
  readonly refusals: Map<string, RefusedAnswer>
}

/** Most refusals that are remembered: a caller that asks again asks soon, and a node forgets their state too. */
const MAX_REFUSALS = 10_000

const NOT_TAKEN = 'the bus does not take the journal'

/** Concurrent requests with the same key share one submission. */
export function createExecute(deps: ExecuteDeps): Executions {
  const executing: ExecState = { ...deps, running: new Map(), refusals: new Map() }

  const execute: Execute = async (payload, key) => {
    const call = encodeMatch(payload.match)
    const fingerprint = fingerprintOf(deps.matching, call)
    const id = key ?? fingerprint
    const { market, takerOrderId, makerOrderIds } = payload
    deps.facts.settlementReceived({ settlementId: id, market, takerOrderId, makerOrderIds })
    const request = { id, payload, call, fingerprint }
    const settled = await settle(executing, request)
    const answer = await onceDurable(deps, settled)
    const judged = await withGuilty(deps, { payload, call }, answer)
    const marked = await withMark(deps, payload, judged)
    return marked.kind === 'mined' ? withGasCost(deps, request, marked) : marked
  }
  const isKnown = (id: string): boolean =>
    executing.running.has(id) || deps.journal.find(id) !== undefined
  const idOf: Executions['idOf'] = ({ match }, key) =>
    key ?? fingerprintOf(deps.matching, encodeMatch(match))
  return { execute, idOf, isKnown, isRunning: (key) => executing.running.has(key) }
}

/**
 * An outcome is told once the journal on the bus holds it, so that a process that continues from there answers the same,
 * and finds out when the chain changes it. Until then the caller is to ask again.
 */
async function onceDurable(
  { journal, timeoutMs }: ExecuteDeps,
  answer: ExecuteAnswer,
): Promise<ExecuteAnswer> {
  if (answer.kind !== 'refused' && answer.kind !== 'mined') return answer
  const durable = journal.durable().then(() => answer)
  const known = await within(durable, timeoutMs)
  if (known !== undefined) return known
  if (answer.kind === 'mined') return { kind: 'timeout', hash: answer.transaction.hash }
  return { kind: 'unavailable', why: NOT_TAKEN }
}

/**
 * What is at fault is not journaled: each request reads it in the state in which the match failed. That of a simulation is
 * known to the process that made it.
 */
async function withGuilty(
  { findGuilty, onVenueFault, markets }: ExecuteDeps,
  { payload, call }: Pick<ExecCall, 'payload' | 'call'>,
  answer: ExecuteAnswer,
): Promise<ExecuteAnswer> {
  if (answer.kind !== 'refused' && answer.kind !== 'mined') return answer
  const revert = answer.kind === 'refused' ? answer.revert : revertOf(answer.transaction)
  if (revert === undefined) return answer
  const { match, market } = payload
  const { guilty, codeSigners } = await findGuilty(match, revert, failedAt(answer))
  if (guilty === 'venue') onVenueFault(market, termsOf(match, call, markets), revert)
  const isElsewhere = answer.kind === 'refused' && isSpentElsewhere(match, guilty, answer)
  return {
    ...answer,
    ...(guilty !== undefined && { guilty }),
    ...(codeSigners && { codeSigners }),
    ...(isElsewhere && { isSpentElsewhere: true }),
  }
}

function failedAt(
  answer: Extract<ExecuteAnswer, { kind: 'refused' | 'mined' }>,
): FailedAt | undefined {
  if (answer.kind === 'mined') return { kind: 'mined', hash: answer.transaction.hash }
  return answer.onBlock && { kind: 'simulated', blockHash: answer.onBlock }
}

/** Whether matches of other markets may have taken what each guilty account lacks; what any lacks, if none can be named. */
function isSpentElsewhere(
  { actions: [taker, maker] }: MatchCall,
  guilty: Blame | undefined,
  { spentElsewhere = [] }: RefusedSettlement,
): boolean {
  if (guilty === undefined) return spentElsewhere.length > 0
  const sides = { taker: [taker], maker: [maker], both: [taker, maker], venue: [] }[guilty]
  return (
    sides.length > 0 &&
    sides.every((side) => side !== undefined && spentElsewhere.includes(side.subaccountId))
  )
}

/**
 * The mark is not journaled either. A match whose mark cannot be read now is answered like one that is not mined, so that
 * the caller asks again.
 */
async function withMark(
  { readMark }: ExecuteDeps,
  { match }: ExecutePayload,
  answer: ExecuteAnswer,
): Promise<ExecuteAnswer> {
  if (answer.kind !== 'mined' || answer.transaction.status !== 'success') return answer
  const mark = await readMark(match, answer.transaction)
  if (mark === 'unreadable') return { kind: 'timeout', hash: answer.transaction.hash }
  return mark === undefined ? answer : { ...answer, markPrice: mark }
}

/** As the mark: read for each request, so that it outlives a restart, and while it cannot be read the caller is to ask again. */
async function withGasCost(
  { readGasUse, gasTokenPrice, lostGas }: ExecuteDeps,
  { id, payload, fingerprint }: ExecCall,
  answer: Extract<ExecuteAnswer, { kind: 'mined' }>,
): Promise<ExecuteAnswer> {
  const use = await readGasUse(answer.transaction, fingerprint)
  if (use === 'unreadable') return { kind: 'timeout', hash: answer.transaction.hash }
  if (use === undefined) return answer
  const revert = revertOf(answer.transaction)
  if (revert !== undefined)
    lostGas.note(id, lossesOf(payload.match, { ...answer, revert, gas: use.gas }))
  return { ...answer, gasCost: quoteE18(mulDivCeil(use.wei, gasTokenPrice, E18)) }
}

const revertOf = ({ status, revert = UNKNOWN_REVERT }: MinedTransaction): string | undefined =>
  status === 'reverted' ? revert : undefined

function settle(executing: ExecState, request: ExecCall): Promise<ExecuteAnswer> | ExecuteAnswer {
  const known = executing.running.get(request.id)
  if (known !== undefined) return follow(executing, request, known)
  const attempt = findAttempt(executing.journal, request.id)
  const { recorded } = attempt
  if (recorded === undefined) return begin(executing, request, attempt)
  if (recorded.fingerprint !== request.fingerprint) return { kind: 'mismatch' }
  const { state } = recorded
  switch (state.kind) {
    case 'refused':
      return executing.refusals.get(attempt.intentId) ?? state
    case 'displaced':
      return begin(executing, request, attempt)
    case 'open':
      return waitForResult(executing, request, { ...attempt, open: state.transaction })
    case 'mined':
      return attempt.isLast ? state : { kind: 'timeout', hash: state.transaction.hash }
  }
}

/**
 * Nothing is sent for a signer that is code and has lost its gas of the hour: the match is refused, so that the other side does
 * not wait with it.
 */
function begin(
  executing: ExecState,
  request: ExecCall,
  attempt: SettlementAttempt,
): Promise<ExecuteAnswer> | ExecuteAnswer {
  const [taker, ...makers] = request.payload.match.actions
  const isTaker = taker !== undefined && executing.lostGas.over(taker)
  const isMaker = makers.some((action) => executing.lostGas.over(action))
  if (!isTaker && !isMaker) return follow(executing, request, submit(executing, request, attempt))
  try {
    executing.journal.recordRefusal(attempt.intentId, request.fingerprint, GAS_LOST)
  } catch (error) {
    if (!(error instanceof JournalUnwritable)) throw error
    return unavailable(executing, request.id, error.message)
  }
  executing.facts.refused(attempt.intentId, GAS_LOST)
  const guilty = isTaker && isMaker ? 'both' : isTaker ? 'taker' : 'maker'
  const refused: RefusedAnswer = { kind: 'refused', revert: GAS_LOST, guilty }
  rememberRefusal(executing, attempt.intentId, refused)
  return refused
}

function submit(
  executing: ExecState,
  request: ExecCall,
  { intentId }: SettlementAttempt,
): QueueJob {
  const { id, payload, call, fingerprint } = request
  crash('executor.after_request')
  const terms = termsOf(payload.match, call, executing.markets)
  const submission = executing.queue
    .submit({ ...terms, intentId, fingerprint, parties: partiesOf(payload.match) })
    .then((submitted) => {
      if (submitted.kind === 'refused') rememberRefusal(executing, intentId, submitted)
      return submitted
    })
    .finally(() => executing.running.delete(id))
  const running = { intentId, fingerprint, submission }
  executing.running.set(id, running)
  return running
}

function rememberRefusal({ refusals }: ExecState, intentId: string, refused: RefusedAnswer): void {
  refusals.set(intentId, refused)
  for (const oldest of refusals.keys()) {
    if (refusals.size <= MAX_REFUSALS) return
    refusals.delete(oldest)
  }
}

async function follow(
  executing: ExecState,
  request: ExecCall,
  { intentId, fingerprint, submission }: QueueJob,
): Promise<ExecuteAnswer> {
  const { id } = request
  if (fingerprint !== request.fingerprint) return { kind: 'mismatch' }
  const submitted = await within(submission, executing.timeoutMs)
  if (submitted === undefined) return unavailable(executing, id, 'waits for other settlements')
  if (submitted.kind === 'unavailable') return unavailable(executing, id, submitted.why)
  if (submitted.kind === 'refused') return submitted
  return waitForResult(executing, request, { intentId, open: submitted.transaction })
}

function unavailable({ facts }: ExecuteDeps, id: string, why: string): ExecuteAnswer {
  facts.unavailable(id, why)
  return { kind: 'unavailable', why }
}

async function waitForResult(
  { txSender, journal, timeoutMs }: ExecState,
  { id }: ExecCall,
  { intentId, open }: { readonly intentId: string; readonly open: OpenTransaction },
): Promise<ExecuteAnswer> {
  const transaction = await txSender.waitFor(intentId, timeoutMs)
  if (transaction === undefined) {
    // Until a signed form is in the stream another process may come to sign something else.
    const hash = open.attempts.findLast((each) => journal.isDurable(each.hash))?.hash
    if (hash === undefined) return { kind: 'unavailable', why: NOT_TAKEN }
    return { kind: txSender.wasTaken(intentId) ? 'timeout' : 'unknown', hash }
  }
  const hasAnother = isUntried(transaction) && !findAttempt(journal, id).isLast
  return hasAnother ? { kind: 'timeout', hash: transaction.hash } : { kind: 'mined', transaction }
}

/**
 * One attempt at a settlement: an intent of the journal, with one nonce. A batch may be mined without having tried the
 * match; then, and only once that batch is final, another attempt may begin.
 */
export interface SettlementAttempt {
  readonly intentId: string
  readonly recorded: RecordedIntent | undefined
  /** Whether no other attempt may follow, so that its result is the settlement's. */
  readonly isLast: boolean
}

/** A settlement that no batch tries is given up after so many attempts. */
export const MAX_ATTEMPTS = 5

/** Whether the transaction was mined without having tried the match. */
const isUntried = ({ status, revert }: MinedTransaction): boolean =>
  status === 'reverted' && revert === NOT_TRIED

/** The newest attempt at the settlement; it has not begun when it is not recorded. */
export function findAttempt(journal: TransactionJournal, id: string): SettlementAttempt {
  for (let no = 1; ; no += 1) {
    const intentId = attemptId(id, no)
    const recorded = journal.find(intentId)
    if (recorded === undefined) return { intentId, recorded, isLast: false }
    const { state } = recorded
    const wasTried = state.kind !== 'mined' || !isUntried(state.transaction)
    if (wasTried || no === MAX_ATTEMPTS) return { intentId, recorded, isLast: true }
    const isFinal = !journal.unsettledIntents().includes(intentId)
    if (!isFinal) return { intentId, recorded, isLast: false }
  }
}

/** As journals have it: `life` is the older word for an attempt. A caller's key has no blank in it. */
const LATER_ATTEMPT = / life \d+$/

const attemptId = (id: string, no: number): string => (no === 1 ? id : `${id} life ${no}`)

/** The settlement that an intent of the journal is an attempt at. */
export const settlementOf = (intentId: string): string => intentId.replace(LATER_ATTEMPT, '')
