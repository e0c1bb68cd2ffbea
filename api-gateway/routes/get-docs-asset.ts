import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import { refuse } from '../context.js'
import { answerBytes } from '../../runtime/http/answer-bytes.js'
import { broken, refused, tooManyReads, type Route } from '../route.js'

const CACHE_SEC = 3_600

/** Draws the page; without a validator URL it asks no other host for a badge. */
const START = `SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#page',
  validatorUrl: null,
  deepLinking: true,
  presets: [SwaggerUIBundle.presets.apis],
})
`

interface Asset {
  readonly type: string
  readonly read: () => Promise<Buffer>
}

/** Everything the page may load: what is not in this table is not served, whatever its name looks like. */
const assets: ReadonlyMap<string, Asset> = new Map([
  ['swagger-ui.css', packaged('swagger-ui.css', 'text/css')],
  ['swagger-ui-bundle.js', packaged('swagger-ui-bundle.js', 'text/javascript')],
  ['favicon-32x32.png', packaged('favicon-32x32.png', 'image/png')],
  [
    'start.js',
    { type: 'text/javascript; charset=utf-8', read: () => Promise.resolve(Buffer.from(START)) },
  ],
])

/** A file of the package, read at its first use and kept. */
function packaged(name: string, type: string): Asset {
  let content: Buffer | undefined
  const path = fileURLToPath(import.meta.resolve(`swagger-ui-dist/${name}`))
  return {
    type: type.startsWith('image/') ? type : `${type}; charset=utf-8`,
    read: async () => (content ??= await readFile(path)),
  }
}

/** `GET /docs/{asset}`: a file of the page. */
export const getDocsAsset: Route = {
  method: 'GET',
  path: '/docs/:asset',
  operation: {
    id: 'readDocsAsset',
    tag: 'Documentation',
    summary: 'A file of the page',
    path: z.object({ asset: z.string() }),
    responses: {
      200: {
        description: 'Script, style or icon.',
        contentType: '*/*',
        headers: ['Cache-Control'],
      },
      404: refused('No such file.'),
      500: broken,
      503: tooManyReads,
    },
  },
  isLarge: () => true,
  handler: () => async (ctx) => {
    const asset = assets.get(ctx.params.asset ?? '')
    if (asset === undefined) return refuse(ctx, refusals.pathNotFound)
    ctx.set('Cache-Control', `public, max-age=${CACHE_SEC}`)
    ctx.set('X-Content-Type-Options', 'nosniff')
    const content = await asset.read()
    ctx.type = asset.type
    answerBytes(ctx, [content])
  },
}
