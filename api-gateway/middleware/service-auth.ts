import { readFrameHeader } from '../../chain/read-frame-header.js'
import type { Address } from '../../core/action.js'
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
  const read = readFrameHeader(header, { words: auth.words, nowMs })
  if ('owner' in read) return read
  return { refusal: read.isMalformed ? authMalformed(auth.header) : authFailed(read.reason) }
}
