import type { VenueFacts } from '../interface/signing.js'
import type { FrameOptions } from './sign-frame.js'
import type { SigningDomain } from './sign-order.js'

/** What everything that a client signs for one venue is signed for. */
export interface VenueDomain extends SigningDomain {
  /** Of the frames: `signFrame(key, { purpose: 'socket', ...domain.frames })`. */
  readonly frames: Required<Pick<FrameOptions, 'domain' | 'product'>>
}

/** What `GET /v1/venue` says of signatures, as signOrder, signCancel, signFrame and the others take it. */
export function domainOf({ domains, frames }: VenueFacts): VenueDomain {
  const { chainId, verifyingContract } = domains.actions
  return {
    chainId,
    matching: verifyingContract as `0x${string}`,
    frames: { domain: frames.domain, product: frames.product },
  }
}
