import type { Address } from './action.js'
import type { Checked } from './checked.js'
import { parseInteger } from './decimal.js'
import { asJsonObject, fieldOf, parseAddress } from './json-fields.js'
import type { JsonFields } from './json-fields.js'
import { MAX_CANCEL_REASON_LENGTH } from './limits.js'
import { fieldRequired, invalidAddress, invalidInteger, refusals } from './refusals.js'
import type { Refusal } from './refusals.js'

/** What a cancel asks for. */
export interface CancelRequest {
  readonly owner: Address
  readonly nonce: bigint
  /** Stored as the order's `cancel_reason`; `unspecified` when the caller gave none. */
  readonly reason: string
  /** A service tagged the cancel as its own; it may then not touch protected namespaces (decision B13). */
  readonly serviceTagged: boolean
}

/** Reads the body of `POST /v1/orders/cancel`; unknown fields are ignored. Pure. */
export function readCancel(body: unknown): Checked<CancelRequest> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const missing = ['owner_address', 'nonce'].find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }
  const owner = parseAddress(fields.owner_address)
  if (owner === undefined) return { refusal: invalidAddress('owner_address') }
  const nonce = parseInteger(fields.nonce)
  if (nonce === undefined) return { refusal: invalidInteger('nonce', fields.nonce) }
  const reason = readReason(fields)
  if (typeof reason !== 'string') return { refusal: reason }
  return { owner, nonce, reason, serviceTagged: fieldOf(fields, 'service') !== undefined }
}

function readReason(fields: JsonFields): string | Refusal {
  const reason = fieldOf(fields, 'reason') ?? 'unspecified'
  const valid =
    typeof reason === 'string' &&
    reason.length <= MAX_CANCEL_REASON_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(reason)
  return valid ? reason : refusals.cancelReasonForm
}
