import type { Hex } from '../core/action.js'
import type { TransferRefusal } from '../core/entry/transfer-refusals.js'
import type { TransferKind, TransferRecord, TransferState } from '../core/transfer.js'
import {
  address,
  amountE18,
  hash,
  jsonObject,
  oneOf,
  text,
  tokenUnits6,
  uint,
  whole,
} from '../core/wire/codec.js'
import { optional, struct, union } from '../core/wire/compound.js'
import { message, since, storedText, WIRE_VERSION } from './envelope.js'

/** A submitter answers within this time of being asked: with the settled record, or with where it stands by then. */
export const SUBMITTER_ANSWERS_WITHIN_MS = 12_000
/** The gateway waits longer, so that silence means that the submitter is gone. */
export const TRANSFER_TIMEOUT_MS = SUBMITTER_ANSWERS_WITHIN_MS + 3_000

/** Asked on `askTransfer(kind)`: the client's own JSON text, judged by the submitter alone. */
export interface TransferRequest {
  readonly request_id: string
  /** The network address it came from: what requests without a valid signature are counted by. */
  readonly client_address: string
  /** May be anything. */
  readonly body: string
}

export const { encode: encodeTransferRequest, decode: decodeTransferRequest } = message(
  'transfer request',
  since(
    WIRE_VERSION,
    struct<TransferRequest>({ request_id: text, client_address: text, body: text }),
  ),
)

/** Asked on `askTransferRecord(kind)`. */
export interface TransferLookup {
  readonly request_id: string
  readonly action_hash: Hex
}

export const { encode: encodeTransferLookup, decode: decodeTransferLookup } = message(
  'transfer lookup',
  since(WIRE_VERSION, struct<TransferLookup>({ request_id: text, action_hash: hash })),
)

/** A deposit or withdrawal as messages and stored texts have it. */
export const transferForm = struct<TransferRecord>({
  kind: oneOf<TransferKind>({ deposit: true, withdrawal: true }),
  actionHash: hash,
  status: oneOf<TransferState>({
    pending: true,
    submitted: true,
    confirmed: true,
    reverted: true,
    rejected: true,
    unknown: true,
  }),
  owner: address,
  nonce: uint,
  subaccountIdRequested: uint,
  subaccountId: optional(uint),
  asset: address,
  amount: tokenUnits6,
  credited: optional(amountE18),
  txHash: optional(hash),
  permitTxHash: optional(hash),
  blockNumber: optional(uint),
  error: optional(text),
  revert: optional(text),
  createdAtMs: whole,
  updatedAtMs: whole,
})

/** A deposit or withdrawal as its submitter stores it; equal records are equal texts. */
export const transferText = storedText('stored transfer', since(WIRE_VERSION, transferForm))

/** One message of the stream of transfers: the record after a step. */
export const {
  version: TRANSFER_PROGRESS_VERSION,
  encode: encodeTransferProgress,
  decode: decodeTransferProgress,
} = message('transfer progress', since(WIRE_VERSION, transferForm))

/** What comes back for either question: the record as it stands, or why there is none. */
export type TransferAnswer =
  | { readonly kind: 'record'; readonly record: TransferRecord }
  | { readonly kind: 'refused'; readonly refusal: TransferRefusal }

export const { encode: encodeTransferAnswer, decode: decodeTransferAnswer } = message(
  'transfer answer',
  since(
    WIRE_VERSION,
    union<TransferAnswer>({
      record: { record: transferForm },
      refused: {
        refusal: struct<TransferRefusal>({
          code: text,
          status: whole,
          message: text,
          field: optional(text),
          detail: optional(jsonObject),
          extra: optional(jsonObject),
          existingOrderId: optional(text),
          revert: optional(text),
          retryAfterSec: optional(whole),
        }),
      },
    }),
  ),
)
