import { z } from 'zod'
import type { Handler } from '../context.js'
import { openApiDocument } from '../openapi.js'
import { broken, type Route } from '../route.js'

const CACHE_SEC = 60

/** `GET /v1/openapi.json`: the document of everything that the gateway answers, serialised once. */
export const getOpenapi = (routes: () => readonly Route[]): Route => ({
  method: 'GET',
  path: '/v1/openapi.json',
  operation: {
    id: 'readDocument',
    tag: 'Documentation',
    summary: 'This document',
    responses: {
      200: {
        description: 'OpenAPI 3.1.',
        body: z.looseObject({ openapi: z.string() }),
      },
      500: broken,
    },
  },
  handler: () => answerDocument(openApiDocument(routes())),
})

/** Answers each request with the same JSON document. */
export function answerDocument(document: object): Handler {
  const text = Buffer.from(JSON.stringify(document))
  return (ctx) => {
    ctx.set('Cache-Control', `public, max-age=${CACHE_SEC}`)
    ctx.type = 'application/json; charset=utf-8'
    ctx.body = text
  }
}
