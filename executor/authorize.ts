import { createHash, timingSafeEqual } from 'node:crypto'
import type Koa from 'koa'
import { refuse } from './refuse.js'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

/** Lets through whoever shows the secret as `Authorization: Bearer …`; everybody when there is none. */
export function authorize(secret: string | undefined): Koa.Middleware {
  // Digests have one length, so that the comparison takes the same time whatever was sent.
  const expected = secret === undefined ? undefined : digest(`Bearer ${secret}`)
  return async (ctx, next) => {
    if (expected === undefined || timingSafeEqual(digest(ctx.get('authorization')), expected)) {
      await next()
      return
    }
    ctx.set('www-authenticate', 'Bearer')
    ctx.set('connection', 'close')
    refuse(ctx, 401, 'the shared secret is required')
  }
}
