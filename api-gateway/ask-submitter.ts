import type { Bus } from '../bus-schemas/bus.js'
import { NoAnswer } from '../bus-schemas/bus.js'
import { askTransfer, askTransferRecord } from '../bus-schemas/subjects.js'
import {
  TRANSFER_TIMEOUT_MS,
  type TransferAnswer,
  type TransferLookup,
  type TransferRequest,
  decodeTransferAnswer,
  encodeTransferLookup,
  encodeTransferRequest,
} from '../bus-schemas/transfer-requests.js'
import {
  transferRecordUnreadable,
  transferUnknown,
  transfersUnavailable,
} from '../core/transfer-refusals.js'
import type { TransferKind } from '../core/transfer.js'

type AskingBus = Pick<Bus, 'ask' | 'isConnected'>

/**
 * Passes a request to the submitter and returns its answer. Without a connection nothing is sent, and that is said;
 * silence says nothing about what was submitted.
 */
export async function askToSubmit(
  bus: AskingBus,
  kind: TransferKind,
  request: TransferRequest,
): Promise<TransferAnswer> {
  if (!bus.isConnected()) return { kind: 'refused', refusal: transfersUnavailable(kind) }
  const answer = await ask(bus, askTransfer(kind), encodeTransferRequest(request))
  return answer ?? { kind: 'refused', refusal: transferUnknown(kind) }
}

/** Asks the submitter for a record. */
export async function askForRecord(
  bus: AskingBus,
  kind: TransferKind,
  lookup: TransferLookup,
): Promise<TransferAnswer> {
  const answer = bus.isConnected()
    ? await ask(bus, askTransferRecord(kind), encodeTransferLookup(lookup))
    : undefined
  return answer ?? { kind: 'refused', refusal: transferRecordUnreadable(kind) }
}

/** Undefined when nobody answered in time. */
async function ask(
  bus: AskingBus,
  subject: string,
  question: Uint8Array,
): Promise<TransferAnswer | undefined> {
  try {
    return decodeTransferAnswer(await bus.ask(subject, question, TRANSFER_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
