import type { Bus } from '../../bus-schemas/bus.js'
import { encodeGasStanding } from '../../bus-schemas/gas-standing.js'
import { askGasStanding, askTransfer, askTransferRecord } from '../../bus-schemas/subjects.js'
import {
  type TransferAnswer,
  type TransferLookup,
  type TransferRequest,
  decodeTransferLookup,
  decodeTransferRequest,
  encodeTransferAnswer,
} from '../../bus-schemas/transfer-requests.js'
import type { GasStanding, TransferKind } from '../../core/transfer.js'

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
