import type Koa from 'koa'
import type { GatewayState } from './context.js'

type Answered = Koa.ParameterizedContext<GatewayState>

/**
 * Writes status, headers and body at once: JSON, except bytes, which were written out before and have a type of their
 * own. Koa would set header by header and then have each of them found again.
 */
export function writeAnswer(ctx: Answered): void {
  const { res, state } = ctx
  if (hasUnreadBody(ctx)) res.setHeader('Connection', 'close')
  if (state.json !== undefined) return writeJson(ctx, state.json)
  const { body } = ctx
  if (Buffer.isBuffer(body)) {
    res.setHeader('X-Request-Id', state.requestId)
    res.end(body)
    return
  }
  // What Koa took it for when the body was set.
  res.removeHeader('Content-Type')
  writeJson(ctx, JSON.stringify(body))
}

function writeJson({ res, state }: Answered, text: string): void {
  const length = Buffer.byteLength(text)
  res.writeHead(res.statusCode, [
    ...['X-Request-Id', state.requestId],
    ...['Content-Type', 'application/json; charset=utf-8'],
    ...['Content-Length', length.toString()],
  ])
  // Text of which each character is a byte need not be encoded, only copied.
  res.end(text, length === text.length ? 'latin1' : 'utf8')
}

/** What nobody read would have to be read to reuse the connection; a stranger's gigabyte is not worth it. */
function hasUnreadBody({ req, state }: Answered): boolean {
  if (state.bodyRead) return false
  const { 'transfer-encoding': encoding, 'content-length': length } = req.headers
  return (encoding !== undefined && encoding !== '') || Number(length ?? 0) > 0
}
