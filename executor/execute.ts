import { encodeMatch } from '../chain/encode-match.js'
import type { FindGuilty, GuiltySide } from '../chain/find-guilty.js'
import { fingerprintOf } from '../chain/fingerprint.js'
import type {
  MinedTransaction,
  OpenTransaction,
  TransactionJournal,
} from '../chain/transaction-journal.js'
import type { TransactionLane } from '../chain/transaction-lane.js'
import type { Address, Hex } from '../core/action.js'
import { assert } from '../core/assert.js'
import { crash } from '../core/crash-point.js'
import type { Market } from '../core/market.js'
import type { ExecutePayload } from './execute-payload.js'
import { findLife, isUntried } from './lives.js'
import type { Life } from './lives.js'
import type { ExecutorFacts } from './observe.js'
import type { SettlementQueue } from './settlement-queue.js'
import { termsOf } from './settlement.js'
import type { Submission } from './waiting.js'

/** What became of a settlement. Only `mined` and `refused` are final; the others say: ask again with the same key. */
export type ExecuteAnswer =
  | {
      readonly kind: 'mined'
      readonly transaction: MinedTransaction
      /** Of a revert, when one side alone is to blame. */
      readonly guilty?: GuiltySide
    }
  /** The simulation reverted; nothing was sent, and nothing ever will be for this key. */
  | { readonly kind: 'refused'; readonly revert: string; readonly guilty?: GuiltySide }
  /** A node has the transaction, the chain has not mined it yet, or not for good without having tried the match. */
  | { readonly kind: 'timeout'; readonly hash: Hex }
  /** Signed and recorded, but no node has said that it has it. */
  | { readonly kind: 'unknown'; readonly hash: Hex }
  /** It was not sent yet. */
  | { readonly kind: 'unavailable'; readonly why: string }
  /** The key belongs to another match. */
  | { readonly kind: 'mismatch' }

export interface ExecuteDeps {
  readonly matching: Address
  readonly markets: readonly Market[]
  readonly journal: TransactionJournal
  readonly lane: TransactionLane
  readonly queue: SettlementQueue
  readonly findGuilty: FindGuilty
  /** How long a request waits to be sent, and after that for its outcome. */
  readonly timeoutMs: number
  readonly facts: ExecutorFacts
}

/** Settles a match once; `key` is the settlement's id, without one the call itself is the key. */
export type Execute = (payload: ExecutePayload, key: string | undefined) => Promise<ExecuteAnswer>

export interface Executions {
  readonly execute: Execute
  /** Whether something was recorded under the key, or is about to be: then it may have been sent. */
  readonly isKnown: (key: string) => boolean
  /** Whether it is being tried out or waits for that, so that it may be signed any moment. */
  readonly isRunning: (key: string) => boolean
}

interface Request {
  readonly id: string
  readonly payload: ExecutePayload
  readonly call: Hex
  readonly fingerprint: Hex
}

/** A settlement that is being tried out or waits for it, whoever asked for it. */
interface Running {
  readonly intentId: string
  readonly fingerprint: Hex
  readonly submission: Promise<Submission>
}

interface Executing extends ExecuteDeps {
  /** By settlement id, so that none can slip between looking and recording. Bounded by the queue. */
  readonly running: Map<string, Running>
}

/** Concurrent requests with one key share one submission. */
export function createExecute(deps: ExecuteDeps): Executions {
  const executing: Executing = { ...deps, running: new Map() }

  const execute: Execute = async (payload, key) => {
    const call = encodeMatch(payload.match)
    const fingerprint = fingerprintOf(deps.matching, call)
    const id = key ?? fingerprint
    const { market, takerOrderId, makerOrderIds } = payload
    deps.facts.settlementReceived({ settlementId: id, market, takerOrderId, makerOrderIds })
    const answer = await settle(executing, { id, payload, call, fingerprint })
    return withGuilty(deps.findGuilty, payload, answer)
  }
  const isKnown = (key: string): boolean =>
    executing.running.has(key) || deps.journal.find(key) !== undefined
  return { execute, isKnown, isRunning: (key) => executing.running.has(key) }
}

/** Blame is not recorded: a repeated question is answered by what the chain shows then. */
async function withGuilty(
  findGuilty: FindGuilty,
  { match }: ExecutePayload,
  answer: ExecuteAnswer,
): Promise<ExecuteAnswer> {
  if (answer.kind !== 'refused' && answer.kind !== 'mined') return answer
  const revert = answer.kind === 'refused' ? answer.revert : revertOf(answer.transaction)
  if (revert === undefined) return answer
  const guilty = await findGuilty(match, revert)
  return guilty === undefined ? answer : { ...answer, guilty }
}

const revertOf = ({ status, revert = 'unknown' }: MinedTransaction): string | undefined =>
  status === 'reverted' ? revert : undefined

function settle(executing: Executing, request: Request): Promise<ExecuteAnswer> | ExecuteAnswer {
  const known = executing.running.get(request.id)
  if (known !== undefined) return follow(executing, request, known)
  const life = findLife(executing.journal, executing.lane.address, request.id)
  const recorded = life.recorded
  if (recorded === undefined) return follow(executing, request, submit(executing, request, life))
  if (recorded.fingerprint !== request.fingerprint) return { kind: 'mismatch' }
  const { state } = recorded
  switch (state.kind) {
    case 'refused':
      return state
    case 'displaced':
      return follow(executing, request, submit(executing, request, life))
    case 'open':
      return waitForResult(executing, request, { ...life, hash: hashOf(state.transaction) })
    case 'mined':
      return life.isOver ? state : { kind: 'timeout', hash: state.transaction.hash }
  }
}

function submit(executing: Executing, request: Request, { intentId }: Life): Running {
  const { id, payload, call, fingerprint } = request
  crash('executor.after_request')
  const terms = termsOf(payload.match, call, executing.markets)
  const submission = executing.queue
    .submit({ ...terms, intentId, fingerprint })
    .finally(() => executing.running.delete(id))
  const running = { intentId, fingerprint, submission }
  executing.running.set(id, running)
  return running
}

async function follow(
  executing: Executing,
  request: Request,
  { intentId, fingerprint, submission }: Running,
): Promise<ExecuteAnswer> {
  const { id } = request
  if (fingerprint !== request.fingerprint) return { kind: 'mismatch' }
  const submitted = await within(submission, executing.timeoutMs)
  if (submitted === undefined) return unavailable(executing, id, 'waits for other settlements')
  if (submitted.kind === 'unavailable') return unavailable(executing, id, submitted.why)
  if (submitted.kind === 'refused') return submitted
  return waitForResult(executing, request, { intentId, hash: hashOf(submitted.transaction) })
}

/** The promise's result, or undefined when there is none within the time; what it settles to later is not lost on it. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms)
  })
  return Promise.race([promise, timeout]).finally(() => clearTimeout(timer))
}

function unavailable({ facts }: ExecuteDeps, id: string, why: string): ExecuteAnswer {
  facts.unavailable(id, why)
  return { kind: 'unavailable', why }
}

async function waitForResult(
  { lane, journal, timeoutMs }: Executing,
  { id }: Request,
  { intentId, hash }: { readonly intentId: string; readonly hash: Hex },
): Promise<ExecuteAnswer> {
  const transaction = await lane.waitFor(intentId, timeoutMs)
  if (transaction === undefined) {
    return { kind: lane.wasTaken(intentId) ? 'timeout' : 'unknown', hash }
  }
  const hasAnother = isUntried(transaction) && !findLife(journal, lane.address, id).isOver
  return hasAnother ? { kind: 'timeout', hash: transaction.hash } : { kind: 'mined', transaction }
}

/** Hash of the newest signed form, the likeliest to be mined. */
function hashOf({ attempts, evmNonce }: OpenTransaction): Hex {
  const newest = attempts.at(-1)
  assert(newest !== undefined, `nothing was signed for nonce ${evmNonce}`)
  return newest.hash
}
