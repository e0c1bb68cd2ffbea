import type { Address } from '../../core/action.js'
import type { CacheAnswer } from '../reads/expiring-cache.js'
import type { FrameProof } from './verify-frame.js'

/**
 * Unix seconds at which a session key of the owner ends, 0 when it was never registered or its deregistration has begun; undefined
 * when that cannot be read.
 */
export type ReadKeyEnd = (owner: Address, key: Address) => CacheAnswer<bigint | undefined>

/** The owner that a frame proves, and the session key by which it does; without one the owner has signed. */
export interface ProvenFrame {
  readonly owner: Address
  readonly key?: Address
}

/** `ended`: the key is no session key of the owner, or not any more; `unreadable`: that is not known now. */
export type UnprovenKey = 'ended' | 'unreadable'

/** Looks the key of a verified frame up, at each use of the frame (AUT-041); one that the owner has signed needs no look. */
export function proveFrame(
  proof: FrameProof,
  readKeyEnd: ReadKeyEnd,
  nowMs: number,
): CacheAnswer<ProvenFrame | UnprovenKey> {
  if ('owner' in proof) return { owner: proof.owner }
  const { keyOf: owner, key } = proof
  const judge = (endSec: bigint | undefined): ProvenFrame | UnprovenKey => {
    if (endSec === undefined) return 'unreadable'
    return hasEnded(endSec, nowMs) ? 'ended' : { owner, key }
  }
  const end = readKeyEnd(owner, key)
  return end instanceof Promise ? end.then(judge) : judge(end)
}

/** Whether a session key with this end signs no more; `endSec` in unix seconds. */
export const hasEnded = (endSec: bigint, nowMs: number): boolean => endSec * 1_000n <= BigInt(nowMs)
