import type { Handler } from '../context.js'

/** `GET /healthz`: this process is alive. */
export function getHealthz(): Handler {
  return (ctx) => {
    ctx.body = { status: 'ok' }
  }
}
