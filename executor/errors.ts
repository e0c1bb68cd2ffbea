import type Koa from 'koa'
import { InvariantBroken } from '../core/assert.js'
import { BadRequest, refuse } from './refuse.js'

export interface ErrorFunnelOptions {
  readonly requestFailed: (error: unknown) => void
  readonly onFatal: (error: unknown) => void
}

/** Turns whatever is thrown into `{error}`; after a broken invariant the process is told to end. */
export function errors({ requestFailed, onFatal }: ErrorFunnelOptions): Koa.Middleware {
  return async (ctx, next) => {
    try {
      await next()
    } catch (error) {
      if (error instanceof BadRequest) {
        refuse(ctx, error.status, error.message)
        return
      }
      requestFailed(error)
      refuse(ctx, 500, 'internal error')
      if (error instanceof InvariantBroken) onFatal(error)
    }
  }
}
