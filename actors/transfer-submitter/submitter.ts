import { encodeGasStanding } from '../../bus-schemas/operations.js'
import { askGasStanding, askTransfer, askTransferRecord } from '../../bus-schemas/subjects.js'
import {
  decodeTransferLookup,
  decodeTransferRequest,
  encodeTransferAnswer,
  type TransferAnswer,
  type TransferRequest,
} from '../../bus-schemas/transfers.js'
import type { Hex } from '../../core/action.js'
import {
  chainUnreadable,
  transferNotFound,
  transfersUnavailable,
  transferUnknown,
} from '../../core/entry/transfer-refusals.js'
import {
  intentOf,
  type GasStanding,
  type TransferKind,
  type TransferRecord,
} from '../../core/transfer.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Jobs } from './carry-out.js'
import type { IncomingRequest, TransferJudgement, JudgedRequest } from './judge.js'
import type { RecordBook } from './records.js'
import { within } from '../../runtime/process/within.js'
import { type Transactions } from '../sending/transactions.js'

export interface SubmitterDeps<Transfer> {
  readonly kind: TransferKind
  readonly judge: (request: JudgedRequest) => Promise<TransferJudgement<Transfer>>
  readonly jobs: Jobs<Transfer>
  readonly records: RecordBook
  readonly transactions: Pick<Transactions, 'minedWithin' | 'stateOf'>
  /** Updates a record from the chain; leaves it as it is while the chain does not answer. */
  readonly follow: (actionHash: Hex) => Promise<void>
}

/** The answers to requests and lookups. */
export interface Submitter {
  readonly submit: (request: IncomingRequest, withinMs: number) => Promise<TransferAnswer>
  readonly lookUp: (actionHash: Hex) => Promise<TransferAnswer>
}

/** How long an answer waits for a fresh look at the chain before the record is given as it is. */
const LOOK_AGAIN_MS = 2_000

export function createSubmitter<Transfer>(deps: SubmitterDeps<Transfer>): Submitter {
  const { kind, judge, jobs, records } = deps

  async function submit(request: IncomingRequest, withinMs: number): Promise<TransferAnswer> {
    const deadline = performance.now() + withinMs
    const left = (): number => Math.max(0, deadline - performance.now())
    let isGivenUp = false
    let isClaiming = false
    const isLate = (): boolean => isGivenUp || request.isLate()
    const onClaim = (): void => void (isClaiming = true)
    const judged = await within(judge({ ...request, isLate, onClaim }), withinMs)
    if (judged === undefined) {
      // A claim after this answer would never be carried out, and a timer may fire early by our clock: set a flag.
      isGivenUp = true
      return {
        kind: 'refused',
        refusal: isClaiming ? transferUnknown(kind) : chainUnreadable(kind),
      }
    }
    if (judged.kind === 'refused') return judged
    const { actionHash } = judged.record
    if (judged.kind === 'record') return answerRepeat(deps, judged.record)
    const job = jobs.carryOut(actionHash, judged.transfer)
    const carried = await within(job, left())
    if (carried?.kind === 'refused') return carried
    const record = await records.settled(actionHash, left())
    const late = record.status === 'rejected' ? await job : undefined
    return late?.kind === 'refused' ? late : { kind: 'record', record }
  }

  return {
    submit,
    async lookUp(actionHash) {
      const record = records.find(actionHash)
      if (record === undefined) return { kind: 'refused', refusal: transferNotFound(kind) }
      return { kind: 'record', record: await lookAgain(deps, record) }
    },
  }
}

/** Answers a repeated request from its record; one without an outcome is first updated from the chain. */
async function answerRepeat<Transfer>(
  deps: SubmitterDeps<Transfer>,
  record: TransferRecord,
): Promise<TransferAnswer> {
  if (record.status === 'pending') return { kind: 'record', record }
  return { kind: 'record', record: await lookAgain(deps, record) }
}

async function lookAgain<Transfer>(
  { kind, transactions, follow, records }: SubmitterDeps<Transfer>,
  record: TransferRecord,
): Promise<TransferRecord> {
  const { actionHash, status } = record
  if (status !== 'submitted' && status !== 'unknown') return record
  const intentId = intentOf(kind, actionHash)
  // The sender asks for receipts several times a second, so a mined transaction is recorded within this wait.
  if (transactions.stateOf(intentId)?.kind === 'open') {
    await transactions.minedWithin(intentId, LOOK_ONCE_MS)
  }
  await within(follow(actionHash), LOOK_AGAIN_MS)
  return records.find(actionHash) ?? record
}

/** Long enough for one poll of the sender. */
const LOOK_ONCE_MS = 500

/** Most requests and lookups in flight; beyond it they are refused at once. */
export const MAX_IN_FLIGHT = 1_024

export interface AnswerDeps {
  readonly kind: TransferKind
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  /** Answers within `withinMs`, also when the chain does not answer. */
  readonly submit: (request: IncomingRequest, withinMs: number) => Promise<TransferAnswer>
  readonly lookUp: (actionHash: Hex) => Promise<TransferAnswer>
  readonly gasStanding: () => Promise<GasStanding>
  /** How long a request may take before it is answered with its current state. */
  readonly answerWithinMs: number
  readonly log: Logger
  /** A handler failed: a broken invariant, or a store that cannot be written. */
  readonly onFatal: (error: unknown) => void
}

export interface RequestService {
  /** Accepts no new requests. */
  stop(): Promise<void>
  /** Resolves when every accepted request is answered. */
  drained(): Promise<void>
}

/** Answers the gateway's requests for this kind of transfer. */
export async function answerAsks(deps: AnswerDeps): Promise<RequestService> {
  const { kind, bus } = deps
  const queue = `${kind}-submitter`
  const inFlight = new Set<Promise<void>>()

  const answering =
    <Question>(
      decode: (data: Uint8Array) => Question,
      handle: (question: Question) => Promise<Uint8Array>,
    ) =>
    (data: Uint8Array, replyTo: string) => {
      if (inFlight.size >= MAX_IN_FLIGHT) {
        const refusal = transfersUnavailable(kind)
        bus.reply(replyTo, encodeTransferAnswer({ kind: 'refused', refusal }))
        return
      }
      const question = readQuestion(decode, data, warnOfUnreadable(deps.log))
      if (question === undefined) return
      const handled = handle(question)
        .then((answer) => bus.reply(replyTo, answer))
        .catch(deps.onFatal)
        .finally(() => inFlight.delete(handled))
      inFlight.add(handled)
    }

  const subscriptions: Subscription[] = await Promise.all([
    bus.answer(
      askTransfer(kind),
      queue,
      answering(decodeTransferRequest, (request) => submit(deps, request)),
    ),
    bus.answer(
      askTransferRecord(kind),
      queue,
      answering(decodeTransferLookup, async ({ action_hash }) =>
        encodeTransferAnswer(await deps.lookUp(action_hash)),
      ),
    ),
    bus.answer(
      askGasStanding(kind),
      queue,
      answering(anyQuestion, async () => encodeGasStanding(await deps.gasStanding())),
    ),
  ])
  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    },
    drained: async () => {
      await Promise.all(inFlight)
    },
  }
}

/** The question has no content. */
const anyQuestion = (): null => null

async function submit(deps: AnswerDeps, asked: TransferRequest): Promise<Uint8Array> {
  const { answerWithinMs, log } = deps
  const { request_id, client_address, body } = asked
  const deadline = performance.now() + answerWithinMs
  const isLate = (): boolean => performance.now() >= deadline
  const request = { body, clientAddress: client_address, isLate }
  const answer = await deps.submit(request, answerWithinMs)
  const outcome = answer.kind === 'record' ? answer.record.status : answer.refusal.code
  const action_hash = answer.kind === 'record' ? answer.record.actionHash : undefined
  log.info({ request_id, action_hash, outcome }, 'request answered')
  return encodeTransferAnswer(answer)
}
