import type { Address, Hex } from '../action.js'
import { parseInteger } from '../decimal.js'
import type { Side } from '../engine/order.js'
import { asJsonObject, fieldOf, parseAddress, type JsonFields } from '../json.js'
import { LEASE_MAX_SEC, LEASE_MIN_SEC, MAX_CANCELLED_IDS, MAX_CANCEL_PROOF_SEC } from '../limits.js'
import { FRAME_CLOCK_SKEW_SEC } from './auth-frame.js'
import { isOrderId } from './order-body.js'
import { isLeaseId } from './order-controls.js'
import { cancelsRefusals } from './order-refusals.js'
import { readReason } from './read-cancel.js'
import {
  fieldRequired,
  invalidAddress,
  invalidInteger,
  notAString,
  refusals,
  type Checked,
  type Refusal,
} from './refusals.js'
import { scopeOf, type ScopeTerms } from './signed-structs.js'

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
  /** Absent beside a frame. */
  readonly proof?: CancelAllProof
}

export interface CancelAllTerms {
  readonly side?: Side
  readonly subaccountId?: bigint
  readonly reason: string
}

export interface CancelOrdersTerms {
  readonly orderIds: readonly string[]
  readonly reason: string
}

export interface CancelAllAfterTerms {
  /** 0 ends the lease. */
  readonly seconds: number
}

/** Where a request is carried out: a market that its body names, or one of all. */
export interface AskedMarket {
  readonly market: string
}

/** Reads the body of `POST /v1/orders/cancel-all`; unknown fields are ignored. Pure. */
export function readCancelAll(
  body: unknown,
  { market }: AskedMarket,
): Checked<CancelsBody<CancelAllTerms>> {
  return readCancels(body, (fields) => {
    const side = fieldOf(fields, 'side')
    if (side !== undefined && side !== 'buy' && side !== 'sell') return { refusal: refusals.side }
    const sentId = fieldOf(fields, 'subaccount_id')
    const subaccountId = sentId === undefined ? undefined : parseInteger(sentId)
    if (sentId !== undefined && subaccountId === undefined) {
      return { refusal: invalidInteger('subaccount_id', sentId) }
    }
    const reason = readReason(fields)
    if (typeof reason !== 'string') return { refusal: reason }
    const narrowed: Omit<CancelAllTerms, 'reason'> = {
      ...(side !== undefined && { side }),
      ...(subaccountId !== undefined && { subaccountId }),
    }
    const named = fieldOf(fields, 'market') === undefined ? {} : { market }
    return {
      terms: { ...narrowed, reason },
      scoped: { kind: 'cancel_all', ...named, ...narrowed },
    }
  })
}

/** The same for `POST /v1/orders/cancel-list`. */
export function readCancelOrders(body: unknown): Checked<CancelsBody<CancelOrdersTerms>> {
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
  value.every((id) => typeof id === 'string' && id !== '' && isOrderId(id))

/** The same for `POST /v1/orders/cancel-all-after`. */
export function readCancelAllAfter(
  body: unknown,
  { market }: AskedMarket,
): Checked<CancelsBody<CancelAllAfterTerms>> {
  return readCancels(body, (fields) => {
    const seconds = fieldOf(fields, 'seconds')
    if (seconds === undefined) return { refusal: fieldRequired('seconds') }
    if (seconds !== 0 && !isLeaseSec(seconds)) return { refusal: cancelsRefusals.seconds }
    const named = fieldOf(fields, 'market') === undefined ? {} : { market }
    return { terms: { seconds }, scoped: { kind: 'cancel_all_after', seconds, ...named } }
  })
}

/** Whether a lease may last so long. */
export const isLeaseSec = (value: unknown): value is number =>
  typeof value === 'number' &&
  Number.isInteger(value) &&
  value >= LEASE_MIN_SEC &&
  value <= LEASE_MAX_SEC

type Read<Terms> = (
  fields: JsonFields,
) => Checked<{ readonly terms: Terms; readonly scoped: ScopeTerms }>

function readCancels<Terms>(body: unknown, readTerms: Read<Terms>): Checked<CancelsBody<Terms>> {
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
function readProof(fields: JsonFields): Checked<CancelAllProof> {
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
export interface SocketLease {
  readonly leaseId: string
  readonly seconds: number
}

/** Reads what the fan-out has written; anything else is malformed. */
export function readSocketLease(body: unknown): SocketLease | undefined {
  const fields = asJsonObject(body)
  if (fields === undefined || !isLeaseId(fields.lease_id) || !isLeaseSec(fields.seconds)) {
    return undefined
  }
  return { leaseId: fields.lease_id, seconds: fields.seconds }
}
