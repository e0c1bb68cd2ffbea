import { createHash } from 'node:crypto'
import { AppendRefused, AppendUnknown, BusUnavailable, type Bus } from '../../bus-schemas/bus.js'
import { socketNonces } from '../../bus-schemas/subjects.js'
import { verifyFrame } from '../../chain/frame-message.js'
import type { FrameWords } from '../../core/frame-message.js'
import type { Address } from '../../core/action.js'
import { readAuthFrame } from '../../core/auth-frame.js'
import { KEEP_NONCES_MS } from './limits.js'

/** Whom an auth frame speaks for, lower-cased, or in words why for nobody. */
export type Authentication = { readonly owner: Address } | { readonly reason: string }

/**
 * Judges the fields of an auth frame and uses up its nonce, which opens one socket of the whole venue and no other.
 * A socket that already speaks for `bound` can only be opened for it again.
 */
export type Authenticate = (fields: unknown, bound: Address | undefined) => Promise<Authentication>

export interface AuthenticateDeps {
  readonly bus: Bus
  readonly words: FrameWords
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** Also prepares where used nonces are kept. Throws BusMisconfigured or BusUnavailable. */
export async function openAuthenticate(deps: AuthenticateDeps): Promise<Authenticate> {
  const { bus, words, nowMs } = deps
  await bus.declareClaims({
    bucket: socketNonces,
    keepMs: KEEP_NONCES_MS,
    description: 'Nonces of the auth frames that opened a socket',
  })
  return async (fields, bound) => {
    const read = readAuthFrame(fields)
    if ('reason' in read) return read
    const nowSec = Math.floor(nowMs() / 1_000)
    const verified = verifyFrame(read.frame, { purpose: 'socket', words, nowSec })
    if ('reason' in verified) return verified
    const { owner } = verified
    if (bound !== undefined && bound !== owner) {
      return { reason: 'this connection is authenticated for another address' }
    }
    const isFirst = await claimNonce(bus, owner, read.frame.nonce)
    if (isFirst === undefined) return { reason: 'the nonce could not be checked: sign a new frame' }
    return isFirst ? verified : { reason: 'nonce was used before' }
  }
}

/** Undefined when that cannot be known now; then the nonce may have been used up. */
async function claimNonce(bus: Bus, owner: Address, nonce: string): Promise<boolean | undefined> {
  // A digest, because what a client chose may not name anything on the bus.
  const key = createHash('sha256').update(`${owner} ${nonce}`).digest('hex')
  try {
    return await bus.claimOnce(socketNonces, key)
  } catch (error) {
    const unknown = [AppendUnknown, AppendRefused, BusUnavailable]
    if (unknown.some((kind) => error instanceof kind)) return undefined
    throw error
  }
}
