import { hash } from 'node:crypto'
import type { Answer } from '../../chain/expiring-cache.js'
import type { AccountReader } from '../../chain/read-account.js'
import type { FundsReader } from '../../chain/read-funds.js'
import type { SignatureVerdict, SignatureVerifier } from '../../chain/verify-signature.js'
import type { AccountObservation } from '../../core/account.js'
import type { Action } from '../../core/action.js'
import type { Checked } from '../../core/checked.js'
import { crash } from '../../core/crash-point.js'
import type { Market } from '../../core/market.js'
import type { Order } from '../../core/order.js'
import { type Refusal, refusals } from '../../core/refusals.js'
import {
  type ClaimedIdentity,
  type ValidOrder,
  judgeOrder,
  readSubmittedOrder,
} from '../../core/validate-order.js'
import type { Claim, IntakeRegistry, TakenOrder } from '../../data/intake-registry.js'
import { type CustodyVerdict, checkCustody } from './check-custody.js'
import { NO_VERDICT, both, soon } from './soon.js'

export interface PlaceOrderDeps {
  readonly markets: readonly Market[]
  readonly registry: Pick<IntakeRegistry, 'findOrder' | 'findNonce'>
  readonly accounts: AccountReader
  readonly funds: FundsReader
  readonly verifier: SignatureVerifier
  /** The signing domain as the detail of a refused signature shows it. */
  readonly domain: Readonly<Record<string, unknown>>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** An order that may enter the log once its claim is taken. */
export interface Placeable {
  readonly order: Order
  readonly claim: Claim
  /** A plain key's signature was recovered. */
  readonly recovered: boolean
  /** What its account has; absent when the chain could not be read in time. */
  readonly account?: AccountObservation
}

/**
 * Everything that is judged before uniqueness, in the order of decision C8: fields, the early answer to a repeat,
 * the body's checks, custody, signature. What the chain could not be asked about does not refuse the order; it
 * enters unchecked, which keeps it out of the book.
 */
export function checkPlacement(deps: PlaceOrderDeps, body: unknown): Answer<Checked<Placeable>> {
  const submitted = readSubmittedOrder(body)
  if ('refusal' in submitted) return submitted
  const fingerprint = fingerprintOf(submitted.identity)
  const repeated = findRepeated(deps.registry, submitted.identity, fingerprint)
  if (repeated !== undefined) return { refusal: repeated }

  const nowMs = deps.nowMs()
  const valid = judgeOrder(submitted, { markets: deps.markets, nowMs })
  if ('refusal' in valid) return valid
  const { order, action, signature } = valid
  const custody = soon(checkCustody(deps.accounts, action, nowMs), UNREADABLE)
  const verdict = soon<SignatureVerdict>(deps.verifier.verify(action, signature), NO_VERDICT)
  const account = soon(readFunds(deps, order), undefined)
  const judged = both(custody, verdict, (known, given) =>
    judgeOwner(deps, { valid, fingerprint }, known, given),
  )
  return both(judged, account, (placeable, seen) => {
    if (seen === undefined || 'refusal' in placeable) return placeable
    const { claim, recovered } = placeable
    return { order: placeable.order, claim, recovered, account: seen }
  })
}

const UNREADABLE: CustodyVerdict = { kind: 'unreadable' }

function judgeOwner(
  { domain }: PlaceOrderDeps,
  { valid, fingerprint }: { readonly valid: ValidOrder; readonly fingerprint: Uint8Array },
  custody: CustodyVerdict,
  verdict: SignatureVerdict,
): Checked<Placeable> {
  crash('intake.after_signature')
  const { order, action } = valid
  if (custody.kind === 'refused') return { refusal: custody.refusal }
  if (verdict.kind === 'invalid') return { refusal: invalidSignature(domain, action, verdict) }
  const { orderId, owner, nonce } = order
  order.signatureStatus = signatureStatus(action, custody, verdict)
  return {
    order,
    claim: { orderId, owner, nonce, fingerprint },
    recovered: verdict.kind === 'valid' && verdict.path === 'ecdsa',
  }
}

/** On a spot market an order is paid for with what its account holds; elsewhere margin decides. */
function readFunds(
  { markets, funds }: PlaceOrderDeps,
  { market, subaccountId }: Order,
): Answer<AccountObservation | undefined> {
  const spot = markets.find((each) => each.market === market && each.contractType === 'spot')
  return spot === undefined ? undefined : funds.readFunds(subaccountId, spot)
}

/** A signature is checked when it is valid and its signer is known to speak for the owner. */
function signatureStatus(
  { owner, signer }: Action,
  custody: CustodyVerdict,
  verdict: SignatureVerdict,
): Order['signatureStatus'] {
  const mayBeStranger = signer !== owner && custody.kind === 'unreadable'
  return verdict.kind === 'valid' && !mayBeStranger ? 'checked' : 'unchecked'
}

/** A digest of what was signed and the signature; of nothing when the action cannot be read. */
function fingerprintOf({ signedText }: ClaimedIdentity): Uint8Array {
  return hash('sha256', signedText ?? '', 'buffer')
}

/** The answer to a repeat of an order that was taken before; a different order with its id or nonce is judged last. */
function findRepeated(
  registry: PlaceOrderDeps['registry'],
  { orderId, owner, nonce, signedText }: ClaimedIdentity,
  fingerprint: Uint8Array,
): Refusal | undefined {
  if (signedText === undefined) return undefined
  const sameId = registry.findOrder(orderId)
  if (sameId !== undefined && isRepeat(fingerprint, sameId)) {
    return duplicate('order_id', sameId, fingerprint)
  }
  const sameNonce = registry.findNonce(owner, nonce)
  if (sameNonce !== undefined && isRepeat(fingerprint, sameNonce)) {
    return duplicate('nonce', sameNonce, fingerprint)
  }
  return undefined
}

const isRepeat = (fingerprint: Uint8Array, holder: TakenOrder): boolean =>
  Buffer.compare(fingerprint, holder.fingerprint) === 0

/** The refusal of an order whose id or nonce is taken; it names the stored order only to whoever repeats that one. */
export function duplicate(
  by: 'order_id' | 'nonce',
  holder: TakenOrder,
  fingerprint: Uint8Array,
): Refusal {
  const refusal = by === 'order_id' ? refusals.duplicateOrderId : refusals.duplicateNonce
  return isRepeat(fingerprint, holder) ? { ...refusal, existingOrderId: holder.orderId } : refusal
}

function invalidSignature(
  domain: PlaceOrderDeps['domain'],
  action: Action,
  { digest, recovered }: Extract<SignatureVerdict, { kind: 'invalid' }>,
): Refusal {
  const detail = { digest, domain, recovered: recovered ?? null, expected: action.signer }
  return { ...refusals.signature, detail }
}
