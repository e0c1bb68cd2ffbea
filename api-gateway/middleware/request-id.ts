import { randomUUID } from 'node:crypto'
import type Koa from 'koa'
import type { GatewayState } from '../context.js'

/** A caller's own id is taken over when it can neither break a log line nor fill one. */
const ACCEPTED_REQUEST_ID = /^[A-Za-z0-9._:-]{1,64}$/

/** Names every request, in `ctx.state.requestId` and in the answer's `X-Request-Id`. */
export const requestId: Koa.Middleware<GatewayState> = (ctx, next) => {
  const sent = ctx.req.headers['x-request-id']
  const isAccepted = typeof sent === 'string' && ACCEPTED_REQUEST_ID.test(sent)
  const { state } = ctx
  state.requestId = isAccepted ? sent : randomUUID()
  state.logged = {}
  state.json = undefined
  state.bodyRead = false
  return next()
}
