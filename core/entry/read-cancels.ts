import type { Address, Hex } from '../action.js'
import { parseInteger } from '../decimal.js'
import { asJsonObject, fieldOf, parseAddress, sentField, type JsonFields } from '../json.js'
import {
  LEASE_MAX_SEC,
  LEASE_MIN_SEC,
  MAX_CANCEL_PROOF_SEC,
  CANCEL_REASON_PATTERN,
  MAX_CANCELLED_IDS,
} from '../limits.js'
import type { Side } from '../model/order.js'
import { FRAME_CLOCK_SKEW_SEC } from './auth-frame.js'
import { isLeaseId, isOrderId } from './order-body.js'
import { cancelsRefusals, unknownField } from './order-refusals.js'
import {
  fieldRequired,
  invalidAddress,
  invalidInteger,
  notAString,
  refusals,
  type OrRefusal,
  type Refusal,
} from './refusals.js'
import { scopeOf, type ScopeTerms } from './signed-structs.js'

/** A cancel signed by the owner or a session key: EIP-712 `Cancel` on the venue's signing domain (CAN-011). */
interface CancelProof {
  readonly signer: Address
  /** Unix seconds after which the proof is void. */
  readonly expirySec: bigint
  /** Any text; the verifier judges its form. */
  readonly signature: Hex
}

/** How a request names an order of its owner. */
export type OrderName = { readonly nonce: bigint } | { readonly orderId: string }

/** What a cancel asks for. */
export type CancelRequest = CancelReasons & OrderName

interface CancelReasons {
  readonly owner: Address
  /** Stored as the order's `cancel_reason`; `unspecified` when the caller gave none. */
  readonly reason: string
  /** A service tagged the cancel as its own; it may then not touch protected namespaces (CAN-014). */
  readonly serviceTagged: boolean
  /** Absent from a bare cancel. */
  readonly proof?: CancelProof
}

/**
 * Reads the name of an order: its nonce, else its id in the field `idField`. Of a nonce and an id the nonce counts. Pure.
 */
export function readOrderName(
  fields: JsonFields,
  nonceField: string,
  idField: string,
): OrRefusal<OrderName> {
  const sent = fieldOf(fields, nonceField)
  const orderId = fieldOf(fields, idField)
  if (orderId !== undefined && typeof orderId !== 'string') return { refusal: notAString(idField) }
  if (sent === undefined) {
    return orderId === undefined ? { refusal: fieldRequired(nonceField) } : { orderId }
  }
  const nonce = parseInteger(sent)
  return nonce === undefined ? { refusal: invalidInteger(nonceField, sent) } : { nonce }
}

/** Reads the body of `POST /v1/orders/cancel`; unknown fields are ignored. Pure. */
export function readCancel(body: unknown): OrRefusal<CancelRequest> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  if (fieldOf(fields, 'owner_address') === undefined) {
    return { refusal: fieldRequired('owner_address') }
  }
  const name = readOrderName(fields, 'nonce', 'order_id')
  if ('refusal' in name && fieldOf(fields, 'nonce') === undefined) return name
  const owner = parseAddress(fields.owner_address)
  if (owner === undefined) return { refusal: invalidAddress('owner_address') }
  if ('refusal' in name) return name
  const reason = readReason(fields)
  if (typeof reason !== 'string') return { refusal: reason }
  const proof = fieldOf(fields, 'signature') === undefined ? undefined : readCancelProof(fields)
  if (proof !== undefined && 'refusal' in proof) return proof
  const serviceTagged = fieldOf(fields, 'service') !== undefined
  return { owner, ...name, reason, serviceTagged, ...(proof !== undefined && { proof }) }
}

/** A `signature` makes the other two fields of the proof required; without it they are fields like any unknown ones. */
function readCancelProof(fields: JsonFields): OrRefusal<CancelProof> {
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

const CANCEL_REASON = new RegExp(CANCEL_REASON_PATTERN, 'u')

/** Reads the `reason` that a cancel gives; `unspecified` by default. */
function readReason(fields: JsonFields): string | Refusal {
  const reason = fieldOf(fields, 'reason') ?? 'unspecified'
  const valid = typeof reason === 'string' && CANCEL_REASON.test(reason)
  return valid ? reason : refusals.cancelReasonForm
}

/** What proves a cancel of many orders when no frame does: EIP-712 `CancelAll` on the signing domain. */
export interface CancelAllProof {
  readonly signer: Address
  readonly issuedAtSec: bigint
  readonly expirySec: bigint
  /** Any text; the verifier judges its form. */
  readonly signature: Hex
}

/** What every request of this kind states. */
export interface CancelsBody<Terms> {
  readonly owner: Address
  readonly terms: Terms
  /** What a signature must name as `scope`. */
  readonly scope: string
  /** Absent with a frame. */
  readonly proof?: CancelAllProof
}

interface CancelAllBody {
  readonly side?: Side
  readonly subaccountId?: bigint
  readonly reason: string
}

export interface CancelOrdersTerms {
  readonly orderIds: readonly string[]
  readonly reason: string
}

interface CancelAllAfterRequest {
  /** 0 ends the lease. */
  readonly seconds: number
}

/** Where a request is carried out: a market that its body names, or one of all. */
interface AskedMarket {
  readonly market: string
}

/**
 * Reads the body of `POST /v1/orders/cancel-all`. An unknown field is refused: it may be a misspelt one that narrows. So is a
 * field that narrows and is null or empty: it would cancel more than was meant. Pure.
 */
export function readCancelAll(
  body: unknown,
  { market }: AskedMarket,
): OrRefusal<CancelsBody<CancelAllBody>> {
  return readCancels(body, (fields) => {
    const unknown = refuseUnknown(fields, CANCEL_ALL_FIELDS)
    if (unknown !== undefined) return { refusal: unknown }
    const side = sentField(fields, 'side')
    if (side !== undefined && side !== 'buy' && side !== 'sell') return { refusal: refusals.side }
    const sentId = sentField(fields, 'subaccount_id')
    const subaccountId = sentId === undefined ? undefined : parseInteger(sentId)
    if (sentId !== undefined && subaccountId === undefined) {
      return { refusal: invalidInteger('subaccount_id', sentId) }
    }
    const reason = readReason(fields)
    if (typeof reason !== 'string') return { refusal: reason }
    const narrowed: Omit<CancelAllBody, 'reason'> = {
      ...(side !== undefined && { side }),
      ...(subaccountId !== undefined && { subaccountId }),
    }
    const named = sentField(fields, 'market') === undefined ? {} : { market }
    return {
      terms: { ...narrowed, reason },
      scoped: { kind: 'cancel_all', ...named, ...narrowed },
    }
  })
}

const PROOF_FIELDS = [
  'owner_address',
  'signature',
  'signer_address',
  'issued_at',
  'expiry',
] as const
const CANCEL_ALL_FIELDS = new Set([...PROOF_FIELDS, 'market', 'side', 'subaccount_id', 'reason'])
const CANCEL_ALL_AFTER_FIELDS = new Set([...PROOF_FIELDS, 'market', 'seconds'])

function refuseUnknown(fields: JsonFields, known: ReadonlySet<string>): Refusal | undefined {
  const unknown = Object.keys(fields).find((name) => !known.has(name))
  return unknown === undefined ? undefined : unknownField(unknown)
}

/** Reads the body of `POST /v1/orders/cancel-list`; unknown fields are ignored. */
export function readCancelOrders(body: unknown): OrRefusal<CancelsBody<CancelOrdersTerms>> {
  return readCancels(body, (fields) => {
    const orderIds = fieldOf(fields, 'order_ids')
    if (orderIds === undefined) return { refusal: fieldRequired('order_ids') }
    if (!isListOfIds(orderIds)) return { refusal: cancelsRefusals.orderIds }
    const reason = readReason(fields)
    if (typeof reason !== 'string') return { refusal: reason }
    return { terms: { orderIds, reason }, scoped: { kind: 'cancel_orders', orderIds } }
  })
}

const isListOfIds = (value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= MAX_CANCELLED_IDS &&
  value.every((id) => typeof id === 'string' && isOrderId(id))

/** The same for `POST /v1/orders/cancel-all-after`, where an unknown field is refused too. */
export function readCancelAllAfter(
  body: unknown,
  { market }: AskedMarket,
): OrRefusal<CancelsBody<CancelAllAfterRequest>> {
  return readCancels(body, (fields) => {
    const unknown = refuseUnknown(fields, CANCEL_ALL_AFTER_FIELDS)
    if (unknown !== undefined) return { refusal: unknown }
    const seconds = fieldOf(fields, 'seconds')
    if (seconds === undefined) return { refusal: fieldRequired('seconds') }
    if (seconds !== 0 && !isLeaseSec(seconds)) return { refusal: cancelsRefusals.seconds }
    const named = sentField(fields, 'market') === undefined ? {} : { market }
    return { terms: { seconds }, scoped: { kind: 'cancel_all_after', seconds, ...named } }
  })
}

/** Whether a lease may last so long. */
export const isLeaseSec = (value: unknown): value is number =>
  typeof value === 'number' &&
  Number.isInteger(value) &&
  value >= LEASE_MIN_SEC &&
  value <= LEASE_MAX_SEC

type CancelsReader<Terms> = (
  fields: JsonFields,
) => OrRefusal<{ readonly terms: Terms; readonly scoped: ScopeTerms }>

function readCancels<Terms>(
  body: unknown,
  readTerms: CancelsReader<Terms>,
): OrRefusal<CancelsBody<Terms>> {
  const fields = asJsonObject(body)
  if (fields === undefined) return { refusal: refusals.invalidJsonBody }
  const sent = fieldOf(fields, 'owner_address')
  if (sent === undefined) return { refusal: fieldRequired('owner_address') }
  const owner = parseAddress(sent)
  if (owner === undefined) return { refusal: invalidAddress('owner_address') }
  const read = readTerms(fields)
  if ('refusal' in read) return read
  const { terms, scoped } = read
  const proof = fieldOf(fields, 'signature') === undefined ? undefined : readProof(fields)
  if (proof !== undefined && 'refusal' in proof) return proof
  return { owner, terms, scope: scopeOf(scoped), ...(proof !== undefined && { proof }) }
}

/** A `signature` makes the other fields of the proof required. */
function readProof(fields: JsonFields): OrRefusal<CancelAllProof> {
  const names = ['signer_address', 'issued_at', 'expiry']
  const missing = names.find((name) => fieldOf(fields, name) === undefined)
  if (missing !== undefined) return { refusal: fieldRequired(missing) }
  const { signature } = fields
  if (typeof signature !== 'string') return { refusal: notAString('signature') }
  const signer = parseAddress(fields.signer_address)
  if (signer === undefined) return { refusal: invalidAddress('signer_address') }
  const issuedAtSec = readSec(fields.issued_at)
  if (issuedAtSec === undefined) return { refusal: cancelsRefusals.issuedAtInteger }
  const expirySec = readSec(fields.expiry)
  if (expirySec === undefined) return { refusal: refusals.expiryInteger }
  if (expirySec <= issuedAtSec) return { refusal: cancelsRefusals.proofOrder }
  if (expirySec - issuedAtSec > BigInt(MAX_CANCEL_PROOF_SEC)) {
    return { refusal: cancelsRefusals.proofTooLong }
  }
  return { signer, issuedAtSec, expirySec, signature: signature as Hex }
}

const readSec = (value: unknown): bigint | undefined =>
  parseInteger(Number.isSafeInteger(value) ? String(value) : value)

/** Why a proof does not count at this time; undefined when it does. */
export function proofTimeFault(
  { issuedAtSec, expirySec }: CancelAllProof,
  nowMs: number,
): Refusal | undefined {
  if (issuedAtSec * 1_000n > BigInt(nowMs + FRAME_CLOCK_SKEW_SEC * 1_000)) {
    return cancelsRefusals.issuedAtFuture
  }
  return expirySec * 1_000n <= BigInt(nowMs) ? refusals.cancelProofExpired : undefined
}

/** What the fan-out asks for about a socket's lease. */
interface SocketLeaseRequest {
  readonly leaseId: string
  readonly seconds: number
}

/** Reads what the fan-out has written; anything else is malformed. */
export function readSocketLease(body: unknown): SocketLeaseRequest | undefined {
  const fields = asJsonObject(body)
  if (fields === undefined || !isLeaseId(fields.lease_id) || !isLeaseSec(fields.seconds)) {
    return undefined
  }
  return { leaseId: fields.lease_id, seconds: fields.seconds }
}
