import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { answerPage, assetOperation, fileAsset, pageAnswer, serveAssets } from '../pages.js'
import { broken, type Route } from '../route.js'

/** A file of the market page, which the build puts beside this program. */
const built = (name: string): string => fileURLToPath(new URL(`../../web/${name}`, import.meta.url))

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
    const page = readFileSync(built('index.html'))
    return (ctx) => answerPage(ctx, page)
  },
}

const assets = new Map([
  ['main.js', fileAsset(built('main.js'), 'text/javascript')],
  ['style.css', fileAsset(built('style.css'), 'text/css')],
])

/** `GET /web/{asset}`: a file of the market page. It is asked for again with each visit: a release changes it. */
export const getPageAsset: Route = {
  method: 'GET',
  path: '/web/:asset',
  operation: assetOperation('readPageAsset', 'A file of the market page'),
  isLarge: () => true,
  handler: () => serveAssets(assets, 0),
}
