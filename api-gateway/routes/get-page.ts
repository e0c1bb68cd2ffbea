import { readFileSync } from 'node:fs'
import { answerPage, builtFile, pageAnswer } from '../pages.js'
import { broken, type Route } from '../route.js'

/** `GET /`: the market page. It uses the public endpoints and nothing else. */
export const getPage: Route = {
  method: 'GET',
  path: '/',
  operation: {
    id: 'readPage',
    tag: 'Documentation',
    summary: 'The market page',
    responses: { 200: pageAnswer('The page.'), 500: broken },
  },
  handler() {
    const page = readFileSync(builtFile('index.html'))
    return (ctx) => answerPage(ctx, page)
  },
}
