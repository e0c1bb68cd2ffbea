import type { Bus, Subscription } from '../../bus-schemas/bus.js'
import { encodeGasStanding } from '../../bus-schemas/gas-standing.js'
import type { Logger } from '../../bus-schemas/log.js'
import { askGasStanding, askTransfer, askTransferRecord } from '../../bus-schemas/subjects.js'
import {
  decodeTransferLookup,
  decodeTransferRequest,
  encodeTransferAnswer,
} from '../../bus-schemas/transfer-requests.js'
import type { TransferAnswer } from '../../bus-schemas/transfer-requests.js'
import type { Hex } from '../../core/action.js'
import { transfersUnavailable } from '../../core/transfer-refusals.js'
import type { GasStanding, TransferKind } from '../../core/transfer.js'
import type { Asked } from './judge.js'

/** Requests and lookups in the making at once; beyond it they are turned away before anything is looked at. */
export const MAX_IN_FLIGHT = 1_024

export interface AnswerDeps {
  readonly kind: TransferKind
  readonly bus: Pick<Bus, 'answer' | 'reply'>
  /** Answers within `withinMs`, whatever the chain does. */
  readonly submit: (asked: Asked, withinMs: number) => Promise<TransferAnswer>
  readonly lookUp: (actionHash: Hex) => Promise<TransferAnswer>
  readonly gasStanding: () => Promise<GasStanding>
  /** How long a request may take before it is answered by how it stands. */
  readonly answerWithinMs: number
  readonly log: Logger
  /** Handling a question failed on our side: a broken invariant, or a store that cannot be written. */
  readonly onFatal: (error: unknown) => void
}

export interface Answering {
  /** Takes nothing new. */
  stop(): Promise<void>
  /** Resolves when everything that was taken is answered. */
  drained(): Promise<void>
}

/** Answers what the gateway asks of this submitter. */
export async function answerAsks(deps: AnswerDeps): Promise<Answering> {
  const { kind, bus } = deps
  const queue = `${kind}-submitter`
  const inFlight = new Set<Promise<void>>()

  const answering =
    (handle: (data: Uint8Array) => Promise<Uint8Array>) => (data: Uint8Array, replyTo: string) => {
      if (inFlight.size >= MAX_IN_FLIGHT) {
        const refusal = transfersUnavailable(kind)
        bus.reply(replyTo, encodeTransferAnswer({ kind: 'refused', refusal }))
        return
      }
      const handled = handle(data)
        .then((answer) => bus.reply(replyTo, answer))
        .catch(deps.onFatal)
        .finally(() => inFlight.delete(handled))
      inFlight.add(handled)
    }

  const subscriptions: Subscription[] = await Promise.all([
    bus.answer(
      askTransfer(kind),
      queue,
      answering((data) => submit(deps, data)),
    ),
    bus.answer(
      askTransferRecord(kind),
      queue,
      answering(async (data) => {
        const { action_hash } = decodeTransferLookup(data)
        return encodeTransferAnswer(await deps.lookUp(action_hash))
      }),
    ),
    bus.answer(
      askGasStanding(kind),
      queue,
      answering(async () => encodeGasStanding(await deps.gasStanding())),
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

async function submit(deps: AnswerDeps, data: Uint8Array): Promise<Uint8Array> {
  const { answerWithinMs, log } = deps
  const { request_id, client_address, body } = decodeTransferRequest(data)
  const deadline = performance.now() + answerWithinMs
  const isLate = (): boolean => performance.now() >= deadline
  const asked = { body, clientAddress: client_address, isLate }
  const answer = await deps.submit(asked, answerWithinMs)
  const outcome = answer.kind === 'record' ? answer.record.status : answer.refusal.code
  const action_hash = answer.kind === 'record' ? answer.record.actionHash : undefined
  log.info({ request_id, action_hash, outcome }, 'request answered')
  return encodeTransferAnswer(answer)
}
