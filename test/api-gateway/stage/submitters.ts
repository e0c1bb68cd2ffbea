import { encodeGasStanding } from '../../../bus-schemas/operations.js'
import { askGasStanding, askTransfer, askTransferRecord } from '../../../bus-schemas/subjects.js'
import {
  decodeTransferLookup,
  decodeTransferRequest,
  encodeTransferAnswer,
  type TransferAnswer,
  type TransferLookup,
  type TransferRequest,
} from '../../../bus-schemas/transfers.js'
import {
  transferNotFound,
  transferRefusals,
  type TransferRefusal,
} from '../../../core/entry/transfer-refusals.js'
import {
  readTransferBody,
  validateDeposit,
  validateWithdrawal,
} from '../../../core/entry/validate-transfer.js'
import type { GasStanding, TransferKind } from '../../../core/transfer.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { places } from '../../support/transfer-bodies.js'

/** A submitter of one kind that answers whatever the test says, on a bus in memory. */
export interface ScriptedSubmitter {
  readonly requests: TransferRequest[]
  readonly lookups: TransferLookup[]
  /** Undefined: it stays silent. */
  answer: TransferAnswer | undefined
  gas: GasStanding | undefined
}

export async function aScriptedSubmitter(bus: Bus, kind: TransferKind): Promise<ScriptedSubmitter> {
  const submitter: ScriptedSubmitter = {
    requests: [],
    lookups: [],
    answer: undefined,
    gas: undefined,
  }
  const reply = (replyTo: string): void => {
    if (submitter.answer !== undefined) bus.reply(replyTo, encodeTransferAnswer(submitter.answer))
  }
  const queue = `${kind}-submitter`
  await bus.answer(askTransfer(kind), queue, (data, replyTo) => {
    submitter.requests.push(decodeTransferRequest(data))
    reply(replyTo)
  })
  await bus.answer(askTransferRecord(kind), queue, (data, replyTo) => {
    submitter.lookups.push(decodeTransferLookup(data))
    reply(replyTo)
  })
  await bus.answer(askGasStanding(kind), queue, (_, replyTo) => {
    if (submitter.gas !== undefined) bus.reply(replyTo, encodeGasStanding(submitter.gas))
  })
  return submitter
}

/** Submitters that check the shape of a request alone, refuse every signature and keep no record. */
export async function startShapeSubmitters(bus: Bus, nowMs: () => number): Promise<void> {
  for (const kind of ['deposit', 'withdrawal'] as const) {
    const answer = (refusal: TransferRefusal): Uint8Array =>
      encodeTransferAnswer({ kind: 'refused', refusal })
    await bus.answer(askTransfer(kind), kind, (data, replyTo) => {
      const { body } = decodeTransferRequest(data)
      bus.reply(replyTo, answer(judge(kind, JSON.parse(body), nowMs())))
    })
    await bus.answer(askTransferRecord(kind), kind, (_, replyTo) => {
      bus.reply(replyTo, answer(transferNotFound(kind)))
    })
  }
}

function judge(kind: TransferKind, body: unknown, nowMs: number): TransferRefusal {
  const read = readTransferBody(kind, body)
  if ('refusal' in read) return read.refusal
  const withdrawable = [places.wrappedUsdc, places.wrappedCngn]
  const valid =
    kind === 'deposit'
      ? validateDeposit(read, { ...places, nowMs })
      : validateWithdrawal(read, { ...places, withdrawable, nowMs })
  return 'refusal' in valid ? valid.refusal : transferRefusals.signature
}
