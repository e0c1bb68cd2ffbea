import { z } from 'zod'
import type { Hex } from '../core/action.js'
import type { TransferRefusal } from '../core/transfer-refusals.js'
import type { TransferRecord } from '../core/transfer.js'
import { hashText, transferFromWire, transferToWire, transferWire } from './transfer-wire.js'
import { WIRE_VERSION, asHex, decodeMessage, encodeMessage, wholeNumber } from './wire.js'

/** A submitter answers within this time of being asked: with the settled record, or with where it stands by then. */
export const SUBMITTER_ANSWERS_WITHIN_MS = 12_000
/** The gateway waits longer, so that silence means that the submitter is gone. */
export const TRANSFER_TIMEOUT_MS = SUBMITTER_ANSWERS_WITHIN_MS + 3_000

/** Asked on `askTransfer(kind)`: the client's own JSON text, judged by the submitter alone. */
export interface TransferRequest {
  readonly request_id: string
  /** The network address it came from: what requests without a valid signature are counted by. */
  readonly client_address: string
  readonly body: string
}

/** Asked on `askTransferRecord(kind)`. */
export interface TransferLookup {
  readonly request_id: string
  readonly action_hash: Hex
}

/** What comes back for either question: the record as it stands, or why there is none. */
export type TransferAnswer =
  | { readonly kind: 'record'; readonly record: TransferRecord }
  | { readonly kind: 'refused'; readonly refusal: TransferRefusal }

const version = { v: z.literal(WIRE_VERSION) }
const requestMessage = z.strictObject({
  ...version,
  request_id: z.string(),
  client_address: z.string(),
  body: z.string(),
})
const lookupMessage = z.strictObject({
  ...version,
  request_id: z.string(),
  action_hash: hashText,
})
const answerMessage = z.discriminatedUnion('kind', [
  z.strictObject({ ...version, kind: z.literal('record'), record: transferWire }),
  z.strictObject({
    ...version,
    kind: z.literal('refused'),
    refusal: z.strictObject({
      code: z.string(),
      status: z.int(),
      message: z.string(),
      field: z.string().exactOptional(),
      detail: z.record(z.string(), z.unknown()).exactOptional(),
      revert: z.string().exactOptional(),
      retry_after_sec: wholeNumber.exactOptional(),
    }),
  }),
])
const progressMessage = z.strictObject({ ...version, record: transferWire })

export function encodeTransferRequest(request: TransferRequest): Uint8Array {
  const { request_id, client_address, body } = request
  return encodeMessage({ request_id, client_address, body })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version; the body inside may still be anything. */
export function decodeTransferRequest(data: Uint8Array): TransferRequest {
  const { request_id, client_address, body } = decodeMessage(
    'transfer request',
    requestMessage,
    data,
  )
  return { request_id, client_address, body }
}

export function encodeTransferLookup({ request_id, action_hash }: TransferLookup): Uint8Array {
  return encodeMessage({ request_id, action_hash })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeTransferLookup(data: Uint8Array): TransferLookup {
  const { request_id, action_hash } = decodeMessage('transfer lookup', lookupMessage, data)
  return { request_id, action_hash: asHex(action_hash) }
}

/** A refusal's `detail` must be plain JSON. */
export function encodeTransferAnswer(answer: TransferAnswer): Uint8Array {
  if (answer.kind === 'record') {
    return encodeMessage({ kind: answer.kind, record: transferToWire(answer.record) })
  }
  const { code, status, message, field, detail, revert, retryAfterSec } = answer.refusal
  const refusal = { code, status, message, field, detail, revert, retry_after_sec: retryAfterSec }
  return encodeMessage({ kind: answer.kind, refusal })
}

/** The inverse of encodeTransferAnswer. Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeTransferAnswer(data: Uint8Array): TransferAnswer {
  const wire = decodeMessage('transfer answer', answerMessage, data)
  if (wire.kind === 'record') return { kind: wire.kind, record: transferFromWire(wire.record) }
  const { retry_after_sec, ...refusal } = wire.refusal
  return {
    kind: wire.kind,
    refusal: {
      ...refusal,
      ...(retry_after_sec !== undefined && { retryAfterSec: retry_after_sec }),
    },
  }
}

/** One message of the stream of transfers: the record after a step. */
export function encodeTransferProgress(record: TransferRecord): Uint8Array {
  return encodeMessage({ record: transferToWire(record) })
}

/** Throws MalformedMessage, or InvariantBroken on an unknown version. */
export function decodeTransferProgress(data: Uint8Array): TransferRecord {
  return transferFromWire(decodeMessage('transfer progress', progressMessage, data).record)
}
