import { createHash } from 'node:crypto'
import { z } from 'zod'
import { refusals } from '../../core/entry/refusals.js'
import type { Market } from '../../core/model/market.js'
import type { ShownOfMarket } from '../../core/records/market-entry.js'
import { bookHeadJson, bookRecordJson } from '../../core/records/order-record.js'
import { MarketQuery } from '../../interface/market.js'
import { BookQuery, BookRecord } from '../../interface/order.js'
import { answerBytes } from '../../runtime/http/answer-bytes.js'
import { bodyPart, gzipOf, type BodyPart } from '../../runtime/http/gzip-parts.js'
import { answerJson } from '../../runtime/http/server.js'
import { bookMembers } from '../books/book-body.js'
import type { RenderedBook } from '../books/render-book.js'
import { shownOnChain } from '../chain-markets.js'
import { refuse } from '../context.js'
import { asOf, sayProjected, saySeqs, untilShown } from '../feed-seqs.js'
import { askedMarket, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type ResponseHeader, type Route } from '../route.js'
import { namesTag } from '../tagged-answer.js'

const CACHED: readonly ResponseHeader[] = ['ETag', 'Content-Encoding']

/** So many orders of each side are read and rendered for each request; a longer book is shared by all who ask. */
const SHORT_DEPTH = 100

/** `GET /v1/book`: the whole visible book of a market, or `depth` orders of each side. */
export const getBook: Route = asOf({
  method: 'GET',
  path: '/v1/book',
  operation: {
    id: 'readBook',
    tag: 'Market data',
    summary: 'Read the book of a market',
    description:
      'A whole book carries an `ETag`: with `If-None-Match` an unchanged book is answered 304 without a body. It is compressed for clients that accept gzip.',
    query: z.object({ ...MarketQuery.shape, ...BookQuery.shape }),
    responses: {
      200: {
        description: 'The visible book.',
        body: BookRecord,
        headers: [...aliasHeaders, ...CACHED],
      },
      304: { description: 'The book has not changed.', headers: [...aliasHeaders, ...CACHED] },
      ...marketRefusals,
    },
  },
  isLarge: ({ query }) => !(Number(query.depth) <= SHORT_DEPTH),
  handler(deps) {
    return async (ctx) => {
      const found = askedMarket(ctx, deps)
      if ('refusal' in found) return refuse(ctx, found.refusal)
      const query = readQuery(ctx, BookQuery, { depth: refusals.depth })
      if ('refusal' in query) return refuse(ctx, query.refusal)
      const { market } = found
      const behind = await untilShown(ctx, deps, market.market)
      if (behind !== undefined) return refuse(ctx, behind)
      const { depth } = query
      const shown = await shownOnChain(deps, market)
      if (depth !== undefined && depth <= SHORT_DEPTH) {
        const { orders, lastTradeSec } = deps.readModel.atOnce(() => {
          sayProjected(ctx, deps, market.market)
          const open = deps.readModel.openOrders(market.market, depth)
          return { orders: open, lastTradeSec: deps.readModel.lastTradeSec(market.market) }
        })
        return answerJson(ctx, bookRecordJson(market, orders, { lastTradeSec, ...shown, depth }))
      }
      const book = await deps.books.book(market)
      saySeqs(ctx, [[market.market, book.seq]])
      const head = headOf(market, book, shown)
      const etag = etagOf(book, head, depth)
      ctx.set({ ETag: etag, 'Cache-Control': 'no-cache' })
      ctx.vary('Accept-Encoding')
      ctx.status = 200
      if (namesTag(ctx.get('If-None-Match'), etag)) return void (ctx.status = 304)
      ctx.type = 'json'
      const parts = [bodyPart(head), ...bookMembers(book, depth)]
      if (!isWorthGzip(parts) || ctx.acceptsEncodings('gzip', 'identity') !== 'gzip') {
        const plain = parts.map(({ bytes }) => bytes)
        return answerBytes(ctx, plain)
      }
      ctx.set('Content-Encoding', 'gzip')
      answerBytes(ctx, gzipOf(parts))
    }
  },
})

/** Smaller bodies are sent as they are: one packet more costs less than the client's work. */
const GZIP_BYTES = 16 * 1024

const isWorthGzip = (parts: readonly BodyPart[]): boolean =>
  parts.reduce((sum, { bytes }) => sum + bytes.length, 0) >= GZIP_BYTES

const headOf = (market: Market, { lastTradeSec }: RenderedBook, shown: ShownOfMarket): Buffer =>
  Buffer.from(bookHeadJson(market, { ...shown, lastTradeSec }))

/** The feed's position and the presentation: equal for equal bodies, of whatever encoding, hence weak. */
function etagOf({ seq }: RenderedBook, head: Buffer, depth: number | undefined): string {
  const presentation = createHash('sha256').update(head).digest('base64url').slice(0, 16)
  return `W/"${seq}-${depth ?? 'all'}-${presentation}"`
}
