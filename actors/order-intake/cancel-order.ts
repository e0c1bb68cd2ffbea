import type { CacheAnswer } from '../../chain/reads/expiring-cache.js'
import type { AccountReader } from '../../chain/reads/read-account.js'
import {
  proveFrame,
  type ProvenFrame,
  type ReadKeyEnd,
  type UnprovenKey,
} from '../../chain/signing/prove-frame.js'
import type { FrameReading } from '../../chain/signing/verify-frame.js'
import type { SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../core/action.js'
import { KEY_ENDED } from '../../core/entry/auth-frame.js'
import { isOrderId } from '../../core/entry/order-body.js'
import { cancelsRefusals } from '../../core/entry/order-refusals.js'
import { readCancel, type CancelRequest, type OrderName } from '../../core/entry/read-cancels.js'
import {
  type OrRefusal,
  protectedNamespace,
  refusals,
  wrongFrame,
  type Refusal,
} from '../../core/entry/refusals.js'
import type { Command } from '../../core/model/command.js'
import type { IntakeRegistry, TakenOrder } from '../../data/intake-registry.js'
import { VERDICT_TIMED_OUT, withDeadline } from './place-order.js'
import type { UnderWay } from './under-way.js'

export interface CancelOrderDeps extends CancelProofDeps {
  readonly registry: Pick<IntakeRegistry, 'findNonce' | 'findOrder'>
  /** Prefixes of order ids that a service-tagged cancel may not touch (CAN-014). */
  readonly protectedPrefixes: readonly string[]
  readonly underWay: Pick<UnderWay, 'waitForNonce' | 'waitForId'>
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
): CacheAnswer<OrRefusal<Cancellable>> {
  const read = readCancel(body)
  if ('refusal' in read) return read
  const unproven = refuseUnproven(deps, read, serviceAuth)
  const go = (refusal: Refusal | undefined): CacheAnswer<OrRefusal<Cancellable>> =>
    refusal === undefined ? checkFramed(deps, read, serviceAuth) : { refusal }
  return unproven instanceof Promise ? unproven.then(go) : go(unproven)
}

/** The same once a frame that came with it holds. */
function checkFramed(
  deps: CancelOrderDeps,
  read: CancelRequest,
  serviceAuth: string | undefined,
): CacheAnswer<OrRefusal<Cancellable>> {
  if ('nonce' in read || read.proof === undefined) return findProven(deps, read, serviceAuth)
  // What was signed names the nonce.
  const found = findTarget(deps, read)
  const prove = (target: OrRefusal<TakenOrder>): CacheAnswer<OrRefusal<Cancellable>> =>
    'refusal' in target ? target : findProven(deps, { ...read, nonce: target.nonce }, serviceAuth)
  return found instanceof Promise ? found.then(prove) : prove(found)
}

function findProven(
  deps: CancelOrderDeps,
  request: CancelRequest,
  serviceAuth: string | undefined,
): CacheAnswer<OrRefusal<Cancellable>> {
  const refusal = 'nonce' in request ? refuseSigned(deps, request, serviceAuth) : undefined
  const find = (known: Refusal | undefined): CacheAnswer<OrRefusal<Cancellable>> => {
    if (known !== undefined) return { refusal: known }
    const found = findTarget(deps, request)
    return found instanceof Promise
      ? found.then((target) => cancellable(deps, request, target))
      : cancellable(deps, request, found)
  }
  return refusal instanceof Promise ? refusal.then(find) : find(refusal)
}

export type TargetDeps = Pick<CancelOrderDeps, 'registry' | 'underWay'>

/**
 * The order that a request names, in a log by now. Waits for one that is still being placed: its caller may have given up and
 * believe that it does not exist.
 */
export function findTarget(
  deps: TargetDeps,
  request: OrderName & { readonly owner: Address },
): CacheAnswer<OrRefusal<TakenOrder>> {
  const { owner } = request
  const { registry, underWay } = deps
  // The registry keeps what it has not found: no order has such an id, of whatever length.
  if (!('nonce' in request) && !isOrderId(request.orderId))
    return { refusal: refusals.activeOrderNotFound }
  const find = (): TakenOrder | undefined =>
    'nonce' in request
      ? registry.findNonce(owner, request.nonce)
      : registry.findOrder(request.orderId)
  const found = find()
  if (found !== undefined) return ownTarget(owner, found)
  const placed =
    'nonce' in request
      ? underWay.waitForNonce(owner, request.nonce)
      : underWay.waitForId(owner, request.orderId, '')
  if (placed === undefined) return { refusal: refusals.activeOrderNotFound }
  if (placed === 'too_many') return { refusal: refusals.cancelTarget }
  return placed.then(() => ownTarget(owner, find()))
}

function ownTarget(owner: Address, found: TakenOrder | undefined): OrRefusal<TakenOrder> {
  if (found === undefined) return { refusal: refusals.activeOrderNotFound }
  return found.owner === owner ? found : { refusal: cancelsRefusals.otherOwner }
}

function cancellable(
  { protectedPrefixes }: Pick<CancelOrderDeps, 'protectedPrefixes'>,
  { reason, serviceTagged }: CancelRequest,
  target: OrRefusal<TakenOrder>,
): OrRefusal<Cancellable> {
  if ('refusal' in target) return target
  const { market, owner, nonce, orderId } = target
  const prefix = protectedPrefixes.find((each) => orderId.startsWith(each))
  if (prefix !== undefined && serviceTagged) return { refusal: protectedNamespace(prefix) }
  return { market, command: { kind: 'CancelOrder', owner, nonce, reason } }
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
 * The refusal of a cancel that comes without a proof where one is required, or with a frame of another owner; undefined
 * otherwise. A proof that is present must be valid in every mode, also in `open`. Looks at no order.
 */
function refuseUnproven(
  deps: CancelProofDeps,
  request: CancelRequest,
  serviceAuth: string | undefined,
): CacheAnswer<Refusal | undefined> {
  if (serviceAuth !== undefined) return refuseFrame(deps, request, serviceAuth)
  const isRequired = deps.cancelAuth === 'required' && request.proof === undefined
  return isRequired ? refusals.cancelProofRequired : undefined
}

/** The refusal of a signature that does not authorize the cancel of the nonce; undefined without one. */
function refuseSigned(
  deps: CancelProofDeps,
  request: CancelRequest & { readonly nonce: bigint },
  serviceAuth: string | undefined,
): CacheAnswer<Refusal | undefined> {
  if (request.proof === undefined) return undefined
  const isNeeded = deps.cancelAuth === 'required' && serviceAuth === undefined
  const unreadable = isNeeded ? refusals.cancelProofUnreadable : undefined
  return refuseProof(judgeProof(deps, request, request.proof), unreadable)
}

async function refuseProof(
  judging: Promise<Proven>,
  unreadable: Refusal | undefined,
): Promise<Refusal | undefined> {
  const proven = await judging
  if (typeof proven === 'object') return proven.refusal
  return proven === 'proven' ? undefined : unreadable
}

/** Why a frame does not prove the owner; a session key's is looked up each time (AUT-041). */
export function refuseFrame(
  { readFrame, accounts, nowMs }: Pick<CancelProofDeps, 'readFrame' | 'accounts' | 'nowMs'>,
  { owner }: Pick<CancelRequest, 'owner'>,
  header: string,
): CacheAnswer<Refusal | undefined> {
  const read = readFrame(header)
  if ('reason' in read) return wrongFrame(read.reason)
  if (('owner' in read ? read.owner : read.keyOf) !== owner) return refusals.cancelProofOwner
  const readEnd: ReadKeyEnd = (of, key) =>
    withDeadline(accounts.readSessionKeyExpiry(of, key), undefined)
  const judge = (proven: ProvenFrame | UnprovenKey): Refusal | undefined => {
    if (proven === 'ended') return wrongFrame(KEY_ENDED)
    return proven === 'unreadable' ? refusals.cancelProofUnreadable : undefined
  }
  const proven = proveFrame(read, readEnd, nowMs())
  return proven instanceof Promise ? proven.then(judge) : judge(proven)
}

async function judgeProof(
  deps: CancelProofDeps,
  { owner, nonce }: CancelRequest & { readonly nonce: bigint },
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
