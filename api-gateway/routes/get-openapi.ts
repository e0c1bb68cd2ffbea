import type { OpenApiDocument } from '../openapi.js'
import type { Handler } from '../context.js'

const CACHE_SEC = 60

/** `GET /v1/openapi.json`: the document of everything the gateway answers, written once. */
export function getOpenapi(document: OpenApiDocument): Handler {
  const text = Buffer.from(JSON.stringify(document))
  return (ctx) => {
    ctx.set('Cache-Control', `public, max-age=${CACHE_SEC}`)
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = text
  }
}
