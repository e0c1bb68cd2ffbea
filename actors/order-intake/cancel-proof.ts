import type { Answer } from '../../chain/expiring-cache.js'
import type { AccountReader } from '../../chain/read-account.js'
import type { FrameReading } from '../../chain/read-frame-header.js'
import type { SignatureVerifier } from '../../chain/verify-signature.js'
import type { CancelRequest } from '../../core/read-cancel.js'
import { type Refusal, refusals, wrongFrame } from '../../core/refusals.js'
import { NO_VERDICT, soon } from './soon.js'

export interface CancelProofDeps {
  /** `required` takes no bare cancel; `open` takes it at its word (decision B12). */
  readonly cancelAuth: 'open' | 'required'
  readonly verifier: SignatureVerifier
  readonly accounts: AccountReader
  readonly readFrame: (header: string) => FrameReading
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** `unreadable`: the chain could not be asked, and nothing that is known speaks against the proof. */
type Proven = 'proven' | 'unreadable' | { readonly refusal: Refusal }

/**
 * Why a cancel may not go on as far as its authority is concerned; undefined when it may. A proof that is there must
 * hold in every mode: whoever sends a wrong one does not mean what arrives. Nothing is said about the order itself.
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
    const doubted =
      required && serviceAuth === undefined ? refusals.cancelProofUnreadable : undefined
    return refuseProof(judgeProof(deps, request, request.proof), doubted)
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

function refuseFrame(
  { readFrame }: CancelProofDeps,
  { owner }: CancelRequest,
  header: string,
): Refusal | undefined {
  const read = readFrame(header)
  if ('reason' in read) return wrongFrame(read.reason)
  return read.owner === owner ? undefined : refusals.cancelProofOwner
}

async function judgeProof(
  { verifier, accounts, nowMs }: CancelProofDeps,
  { owner, nonce }: CancelRequest,
  { signer, expirySec, signature }: NonNullable<CancelRequest['proof']>,
): Promise<Proven> {
  const now = BigInt(nowMs())
  if (expirySec * 1_000n <= now) return { refusal: refusals.cancelProofExpired }
  const digest = verifier.cancelDigest({ owner, signer, nonce, expiry: expirySec })
  const [verdict, keyExpirySec] = await Promise.all([
    soon(verifier.verifyDigest(signer, digest, signature), NO_VERDICT),
    signer === owner ? undefined : soon(accounts.readSessionKeyExpiry(owner, signer), undefined),
  ])
  if (verdict.kind === 'invalid') return { refusal: refusals.cancelProofSignature }
  if (keyExpirySec !== undefined && keyExpirySec * 1_000n <= now) {
    return { refusal: refusals.cancelProofOwner }
  }
  const stranger = signer !== owner && keyExpirySec === undefined
  return verdict.kind === 'valid' && !stranger ? 'proven' : 'unreadable'
}
