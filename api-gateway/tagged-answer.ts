import { createHash } from 'node:crypto'
import { answerJson } from '../runtime/http/server.js'
import type { GatewayContext } from './context.js'
import type { EndpointAnswer, ResponseHeader } from './route.js'

const TAGGED: readonly ResponseHeader[] = ['ETag']

/** The two answers of a read that is tagged, as its document has them. */
export const taggedAnswers = (
  answer: EndpointAnswer & { readonly body: NonNullable<EndpointAnswer['body']> },
): { readonly 200: EndpointAnswer; readonly 304: EndpointAnswer } => {
  const headers = [...(answer.headers ?? []), ...TAGGED]
  return { 200: { ...answer, headers }, 304: { description: 'It has not changed.', headers } }
}

/**
 * Answers JSON that caches may keep for so long, with a tag of its bytes: a client that names it in `If-None-Match` is answered 304
 * without a body.
 */
export function answerTagged(ctx: GatewayContext, body: unknown, maxAgeSec: number): void {
  const json = JSON.stringify(body)
  const etag = `"${createHash('sha256').update(json).digest('base64url').slice(0, 22)}"`
  ctx.set({ ETag: etag, 'Cache-Control': `public, max-age=${maxAgeSec}` })
  ctx.status = 200
  if (namesTag(ctx.get('If-None-Match'), etag)) return void (ctx.status = 304)
  answerJson(ctx, json)
}

/**
 * Whether an `If-None-Match` names the tag. Koa's own test is false for requests with `Cache-Control: no-cache`, which
 * `fetch` adds to each request with this header.
 */
export const namesTag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.split(',').some((each) => each.trim() === etag)
