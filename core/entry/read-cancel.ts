import type { Address, Hex } from '../action.js'
import { parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf, parseAddress, type JsonFields } from '../json.js'
import { MAX_CANCEL_REASON_LENGTH } from '../limits.js'
import {
  type Checked,
  fieldRequired,
  invalidAddress,
  invalidInteger,
  notAString,
  refusals,
  type Refusal,
} from './refusals.js'

/** A cancel signed by the owner or a session key: EIP-712 `Cancel` on the venue's signing domain (decision B12). */
export interface CancelProof {
  readonly signer: Address
  /** Unix seconds after which the proof is void. */
  readonly expirySec: bigint
  /** Any text; the verifier judges its form. */
  readonly signature: Hex
}

/** What a cancel asks for. */
export interface CancelRequest {
  readonly owner: Address
  readonly nonce: bigint
  /** Stored as the order's `cancel_reason`; `unspecified` when the caller gave none. */
  readonly reason: string
  /** A service tagged the cancel as its own; it may then not touch protected namespaces (decision B13). */
  readonly serviceTagged: boolean
  /** Absent from a bare cancel. */
  readonly proof?: CancelProof
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
  const proof = fieldOf(fields, 'signature') === undefined ? undefined : readProof(fields)
  if (proof !== undefined && 'refusal' in proof) return proof
  const serviceTagged = fieldOf(fields, 'service') !== undefined
  return { owner, nonce, reason, serviceTagged, ...(proof !== undefined && { proof }) }
}

/** A `signature` makes the other two fields of the proof required; without it they are fields like any unknown ones. */
function readProof(fields: JsonFields): Checked<CancelProof> {
  const missing = ['signer_address', 'expiry'].find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }
  const { signature, expiry } = fields
  if (typeof signature !== 'string') return { refusal: notAString('signature') }
  const signer = parseAddress(fields.signer_address)
  if (signer === undefined) return { refusal: invalidAddress('signer_address') }
  const expirySec = parseInteger(Number.isSafeInteger(expiry) ? String(expiry) : expiry)
  if (expirySec === undefined) return { refusal: refusals.expiryInteger }
  return { signer, expirySec, signature: signature as Hex }
}

/** Reads the `reason` that a cancel gives; `unspecified` by default. */
export function readReason(fields: JsonFields): string | Refusal {
  const reason = fieldOf(fields, 'reason') ?? 'unspecified'
  const valid =
    typeof reason === 'string' &&
    reason.length <= MAX_CANCEL_REASON_LENGTH &&
    !/[\p{Cc}\p{Cs}]/u.test(reason)
  return valid ? reason : refusals.cancelReasonForm
}
