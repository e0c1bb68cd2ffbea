import type Koa from 'koa'

/** `GET /healthz`: the process is up and was able to start, which includes having reached the chain once. */
export const getHealthz: Koa.Middleware = (ctx) => {
  ctx.body = { status: 'ok' }
}
