import { z } from 'zod'
import { asyncApiDocument } from '../asyncapi.js'
import { broken, type Route } from '../route.js'
import { answerDocument } from './get-openapi.js'

/** `GET /v1/asyncapi.json`: the document of the WebSocket, serialised once. */
export const getAsyncapi: Route = {
  method: 'GET',
  path: '/v1/asyncapi.json',
  operation: {
    id: 'readFeedDocument',
    tag: 'Documentation',
    summary: 'The same for the WebSocket',
    responses: {
      200: {
        description: 'AsyncAPI 3.',
        body: z.looseObject({ asyncapi: z.string() }),
      },
      500: broken,
    },
  },
  handler: () => answerDocument(asyncApiDocument()),
}
