import type { AsyncApiDocument } from '../asyncapi.js'
import type { Handler } from '../context.js'

const CACHE_SEC = 60

/** `GET /v1/asyncapi.json`: the document of the WebSocket, written once. */
export function getAsyncapi(document: AsyncApiDocument): Handler {
  const text = Buffer.from(JSON.stringify(document))
  return (ctx) => {
    ctx.set('Cache-Control', `public, max-age=${CACHE_SEC}`)
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = text
  }
}
