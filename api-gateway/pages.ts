import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'
import { z } from 'zod'
import { refusals } from '../core/entry/refusals.js'
import { answerBytes } from '../runtime/http/answer-bytes.js'
import { refuse, type GatewayContext, type Handler } from './context.js'
import { broken, refused, tooManyReads, type EndpointOperation } from './route.js'

/** Pages for browsers: each loads only what this gateway serves next to it. */

/** Nothing from elsewhere, nothing inline; a style sheet may hold icons as data. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const ASSET_CACHE_SEC = 3_600

/** A file that a page loads. */
export interface Asset {
  readonly type: string
  readonly read: () => Promise<Buffer>
}

/** A file, read at its first use and kept. */
export function fileAsset(path: string, type: string): Asset {
  let content: Buffer | undefined
  return {
    type: type.startsWith('image/') ? type : `${type}; charset=utf-8`,
    read: async () => (content ??= await readFile(path)),
  }
}

/** A file of the market page, which the build puts next to this program. */
export const builtFile = (name: string): string =>
  fileURLToPath(new URL(`../../dist/web/${name}`, import.meta.url))

/** What the answer of a page says in the document. */
export const pageAnswer = (description: string) => ({
  description,
  contentType: 'text/html',
  headers: ['Content-Security-Policy'] as const,
})

/** Answers a page, which a browser asks for again each time. */
export function answerPage(ctx: GatewayContext, html: Buffer): void {
  ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
  ctx.set('X-Content-Type-Options', 'nosniff')
  ctx.set('Cache-Control', 'no-cache')
  ctx.type = 'text/html; charset=utf-8'
  ctx.body = html
}

const ASSET_HEADERS = ['Content-Encoding', 'Content-Security-Policy'] as const

/** What an endpoint that serves the files of a page takes and answers. */
export const assetOperation = (id: string, summary: string): EndpointOperation => ({
  id,
  tag: 'Documentation',
  summary,
  path: z.object({ asset: z.string() }),
  responses: {
    200: { description: 'Script, style or icon.', contentType: '*/*', headers: ASSET_HEADERS },
    404: refused('No such file.'),
    500: broken,
    503: tooManyReads,
  },
})

/** Serves the files of a table: what is not in it is not served, whatever its name looks like. */
export const serveAssets =
  (assets: ReadonlyMap<string, Asset>, cacheSec = ASSET_CACHE_SEC): Handler =>
  async (ctx) => {
    const asset = assets.get(ctx.params.asset ?? '')
    if (asset === undefined) return refuse(ctx, refusals.pathNotFound)
    ctx.set('Cache-Control', cacheSec === 0 ? 'no-cache' : `public, max-age=${cacheSec}`)
    ctx.set('X-Content-Type-Options', 'nosniff')
    if (asset.type.startsWith('text/html')) {
      ctx.set('Content-Security-Policy', CONTENT_SECURITY_POLICY)
    }
    const content = await asset.read()
    ctx.type = asset.type
    ctx.vary('Accept-Encoding')
    if (asset.type.startsWith('image/') || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
      return answerBytes(ctx, [content])
    }
    ctx.set('Content-Encoding', 'gzip')
    answerBytes(ctx, [await compressed(content)])
  }

const compress = promisify(gzip)
const kept = new WeakMap<Buffer, Promise<Buffer>>()

/** The file compressed, once: as far as it goes. */
function compressed(content: Buffer): Promise<Buffer> {
  const known = kept.get(content)
  if (known !== undefined) return known
  const made = compress(content, { level: constants.Z_BEST_COMPRESSION })
  kept.set(content, made)
  return made
}
