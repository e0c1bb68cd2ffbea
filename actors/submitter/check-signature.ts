import type { SignatureVerifier } from '../../chain/verify-signature.js'
import type { Action, Hex } from '../../core/action.js'
import { chainUnreadable, transferRefusals } from '../../core/transfer-refusals.js'
import type { TransferRefusal } from '../../core/transfer-refusals.js'
import type { TransferKind } from '../../core/transfer.js'

export interface SignatureDeps {
  readonly kind: TransferKind
  readonly verifier: Pick<SignatureVerifier, 'hasCode' | 'verify'>
  /** The signing domain as a refusal shows it. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** `wrong`: the signature does not authorize the action; `unreadable`: the chain could not be asked, so it does not count. */
export type SignatureFault = {
  readonly kind: 'wrong' | 'unreadable'
  readonly refusal: TransferRefusal
}

/** What speaks against the signature; undefined when it holds. Money fails closed: unknown is no yes. */
export async function checkSignature(
  { kind, verifier, domain }: SignatureDeps,
  action: Action,
  signature: Hex,
): Promise<SignatureFault | undefined> {
  const unreadable = { kind: 'unreadable', refusal: chainUnreadable(kind) } as const
  // A plain key's signature is good only while it is known that the signer has no code.
  if ((await verifier.hasCode(action.signer)) === undefined) return unreadable
  const verdict = await verifier.verify(action, signature)
  if (verdict.kind === 'valid') return undefined
  if (verdict.kind === 'unknown') return unreadable
  const { digest, recovered = null } = verdict
  const detail = { digest, domain, recovered, expected: action.signer }
  return { kind: 'wrong', refusal: { ...transferRefusals.signature, detail } }
}
