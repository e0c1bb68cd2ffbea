import type Koa from 'koa'
import getRawBody from 'raw-body'
import { BadRequest } from './refuse.js'

/** Room for the largest match that fits a transaction. */
const MAX_BODY_BYTES = 256 * 1024

/** The request's body as JSON; throws BadRequest when it is too long (413), broken off or not JSON (400). */
export async function readJsonBody(ctx: Koa.Context): Promise<unknown> {
  const text = await readText(ctx)
  try {
    return JSON.parse(text) as unknown
  } catch {
    throw new BadRequest(400, 'invalid JSON body')
  }
}

async function readText(ctx: Koa.Context): Promise<string> {
  try {
    const options = { length: ctx.get('content-length'), limit: MAX_BODY_BYTES, encoding: 'utf8' }
    return await getRawBody(ctx.req, options)
  } catch (error) {
    const tooLong = (error as { type?: string }).type === 'entity.too.large'
    // What was not read cannot be skipped cheaply, so the connection ends with the answer.
    ctx.set('connection', 'close')
    throw tooLong
      ? new BadRequest(413, `request body exceeds ${MAX_BODY_BYTES} bytes`)
      : new BadRequest(400, 'invalid JSON body')
  }
}
