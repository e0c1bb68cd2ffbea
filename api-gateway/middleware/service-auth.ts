import { decodeFrameHeader, verifyFrame } from '../../chain/frame-message.js'
import type { Address } from '../../core/action.js'
import { readAuthFrame } from '../../core/auth-frame.js'
import { authFailed, authMalformed, authRequired } from '../../core/read-refusals.js'
import type { Refusal } from '../../core/refusals.js'
import type { GatewayContext, GatewayDeps } from '../context.js'

/**
 * The owner in whose name a private read is made, from the frame in its header, or why there is none. Whatever the
 * answer, no cache may keep it.
 */
export function serviceAuth(
  ctx: GatewayContext,
  { auth, nowMs }: Pick<GatewayDeps, 'auth' | 'nowMs'>,
): { readonly owner: Address } | { readonly refusal: Refusal } {
  ctx.set('Cache-Control', 'no-store')
  const header = ctx.get(auth.header)
  if (header === '') return { refusal: authRequired(auth.header) }
  const decoded = decodeFrameHeader(header)
  if (decoded === undefined) return { refusal: authMalformed(auth.header) }
  const read = readAuthFrame(decoded)
  if ('reason' in read) return { refusal: authFailed(read.reason) }
  const nowSec = Math.floor(nowMs() / 1000)
  const verified = verifyFrame(read.frame, { purpose: 'history', words: auth.words, nowSec })
  return 'reason' in verified ? { refusal: authFailed(verified.reason) } : verified
}
