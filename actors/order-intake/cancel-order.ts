import type { Answer } from '../../chain/reads/expiring-cache.js'
import type { AccountReader } from '../../chain/reads/read-account.js'
import type { FrameReading } from '../../chain/signing/verify-frame.js'
import type { SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import type { Command } from '../../core/engine/command.js'
import { readCancel, type CancelRequest } from '../../core/entry/read-cancels.js'
import {
  type Checked,
  protectedNamespace,
  refusals,
  wrongFrame,
  type Refusal,
} from '../../core/entry/refusals.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { VERDICT_TIMED_OUT, withDeadline } from './place-order.js'
import type { UnderWay } from './under-way.js'

export interface CancelOrderDeps extends CancelProofDeps {
  readonly registry: Pick<IntakeRegistry, 'findNonce'>
  /** Prefixes of order ids that a service-tagged cancel may not touch (CAN-014). */
  readonly protectedPrefixes: readonly string[]
  readonly underWay: Pick<UnderWay, 'waitForNonce'>
}

/** A cancel that may enter the log of its market. */
export interface Cancellable {
  readonly market: string
  readonly command: Extract<Command, { kind: 'CancelOrder' }>
}

/**
 * Checks a cancel's body, then its authority, and only then looks up the market of its order. The matcher decides
 * whether the order is still active; an (owner, nonce) that was never claimed is in no log.
 */
export function checkCancel(
  deps: CancelOrderDeps,
  body: unknown,
  serviceAuth: string | undefined,
): Answer<Checked<Cancellable>> {
  const read = readCancel(body)
  if ('refusal' in read) return read
  const refusal = refuseAuthority(deps, read, serviceAuth)
  return refusal instanceof Promise
    ? refusal.then((known) => findTarget(deps, read, known))
    : findTarget(deps, read, refusal)
}

/** Waits for an order that is still being placed: its caller may have given up and believe that it does not exist. */
function findTarget(
  deps: CancelOrderDeps,
  request: CancelRequest,
  refusal: Refusal | undefined,
): Answer<Checked<Cancellable>> {
  if (refusal !== undefined) return { refusal }
  const { owner, nonce } = request
  const isKnown = deps.registry.findNonce(owner, nonce) !== undefined
  const placed = isKnown ? undefined : deps.underWay.waitForNonce(owner, nonce)
  if (placed === undefined) return findLogged(deps, request)
  if (placed === 'too_many') return { refusal: refusals.cancelTarget }
  return placed.then(() => findLogged(deps, request))
}

function findLogged(
  deps: CancelOrderDeps,
  { owner, nonce, reason, serviceTagged }: CancelRequest,
): Checked<Cancellable> {
  const target = deps.registry.findNonce(owner, nonce)
  if (target === undefined) return { refusal: refusals.activeOrderNotFound }
  const prefix = deps.protectedPrefixes.find((each) => target.orderId.startsWith(each))
  if (prefix !== undefined && serviceTagged) return { refusal: protectedNamespace(prefix) }
  return { market: target.market, command: { kind: 'CancelOrder', owner, nonce, reason } }
}

export interface CancelProofDeps {
  /** `required` refuses a cancel without a proof; `open` accepts it (CAN-009, CAN-010). */
  readonly cancelAuth: 'open' | 'required'
  readonly verifier: SignatureVerifier
  readonly accounts: AccountReader
  readonly readFrame: (header: string) => FrameReading
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** `unreadable`: the chain did not answer, and the known facts do not refuse the proof. */
export type Proven = 'proven' | 'unreadable' | { readonly refusal: Refusal }

/**
 * The refusal of a cancel without authority; undefined when it is authorized. A proof that is present must be valid in
 * every mode, also in `open`. Says nothing about the order itself.
 */
export function refuseAuthority(
  deps: CancelProofDeps,
  request: CancelRequest,
  serviceAuth: string | undefined,
): Answer<Refusal | undefined> {
  const required = deps.cancelAuth === 'required'
  if (serviceAuth !== undefined) {
    const refusal = refuseFrame(deps, request, serviceAuth)
    if (refusal !== undefined) return refusal
  }
  if (request.proof !== undefined) {
    const unreadable =
      required && serviceAuth === undefined ? refusals.cancelProofUnreadable : undefined
    return refuseProof(judgeProof(deps, request, request.proof), unreadable)
  }
  return required && serviceAuth === undefined ? refusals.cancelProofRequired : undefined
}

async function refuseProof(
  judging: Promise<Proven>,
  unreadable: Refusal | undefined,
): Promise<Refusal | undefined> {
  const proven = await judging
  if (typeof proven === 'object') return proven.refusal
  return proven === 'proven' ? undefined : unreadable
}

/** Why a frame does not prove the owner. */
export function refuseFrame(
  { readFrame }: Pick<CancelProofDeps, 'readFrame'>,
  { owner }: Pick<CancelRequest, 'owner'>,
  header: string,
): Refusal | undefined {
  const read = readFrame(header)
  if ('reason' in read) return wrongFrame(read.reason)
  return read.owner === owner ? undefined : refusals.cancelProofOwner
}

async function judgeProof(
  deps: CancelProofDeps,
  { owner, nonce }: CancelRequest,
  { signer, expirySec, signature }: NonNullable<CancelRequest['proof']>,
): Promise<Proven> {
  if (expirySec * 1_000n <= BigInt(deps.nowMs())) return { refusal: refusals.cancelProofExpired }
  const digest = deps.verifier.cancelDigest({ owner, signer, nonce, expiry: expirySec })
  return judgeSigned(deps, { owner, signer, digest, signature })
}

/** A digest that was signed to cancel, by whom and for whom. */
export interface SignedCancel {
  readonly owner: Address
  readonly signer: Address
  readonly digest: Hex
  readonly signature: Hex
}

/** Whether the owner or a session key of the owner has signed, a contract wallet by ERC-1271. */
export async function judgeSigned(
  { verifier, accounts, nowMs }: CancelProofDeps,
  { owner, signer, digest, signature }: SignedCancel,
): Promise<Proven> {
  const now = BigInt(nowMs())
  const [verdict, keyExpirySec] = await Promise.all([
    withDeadline(verifier.verifyDigest(signer, digest, signature), VERDICT_TIMED_OUT),
    signer === owner
      ? undefined
      : withDeadline(accounts.readSessionKeyExpiry(owner, signer), undefined),
  ])
  if (verdict.kind === 'invalid') {
    const { fault } = verdict
    const detail = fault === undefined ? undefined : { mistake: `the signature ${fault}` }
    return { refusal: { ...refusals.cancelProofSignature, ...(detail && { detail }) } }
  }
  if (keyExpirySec !== undefined && keyExpirySec * 1_000n <= now) {
    return { refusal: refusals.cancelProofOwner }
  }
  const isAuthorized = signer === owner || keyExpirySec !== undefined
  return verdict.kind === 'valid' && isAuthorized ? 'proven' : 'unreadable'
}
