import { DocsExamples } from '../../interface/signing.js'
import { docsExamples } from '../docs/examples.js'
import { broken, type Route } from '../route.js'

/** `GET /docs/examples.json`: what `/docs` fills in. */
export const getDocsExamples: Route = {
  method: 'GET',
  path: '/docs/examples.json',
  operation: {
    id: 'readDocsExamples',
    tag: 'Documentation',
    summary: 'Read what this page fills in',
    responses: {
      200: {
        description: 'Parameters and bodies.',
        body: DocsExamples,
      },
      500: broken,
    },
  },
  handler: (deps) => async (ctx) => {
    ctx.body = await docsExamples(deps)
  },
}
