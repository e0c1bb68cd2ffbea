import { bookRecordJson } from '../../core/records/book-record.js'
import { type Refusal, refusals } from '../../core/refusals.js'
import type { GatewayDeps, Handler } from '../context.js'
import { answerJson } from '../answer-json.js'
import { askedMarket } from '../asked-market.js'
import { createFullBook } from '../full-book.js'
import { refuse } from '../refuse.js'

const MAX_DEPTH = 1_000_000

/** `GET /v1/book`: the whole visible book of a market, or `depth` orders of each side. */
export function getBook(deps: GatewayDeps): Handler {
  const fullBook = createFullBook(deps.readModel)
  return async (ctx) => {
    const found = askedMarket(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    const depth = readDepth(ctx.query.depth)
    if (typeof depth === 'object') return refuse(ctx, depth)
    const { market } = found
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    if (depth === undefined) {
      ctx.type = 'json'
      ctx.body = fullBook(market)
      return
    }
    const lastTradeSec = deps.readModel.lastTradeSec(market.market)
    const orders = deps.readModel.openOrders(market.market, depth)
    answerJson(ctx, bookRecordJson(market, orders, { lastTradeSec, depth }))
  }
}

function readDepth(asked: string | string[] | undefined): number | undefined | Refusal {
  if (asked === undefined) return undefined
  const depth = typeof asked === 'string' && /^[0-9]{1,7}$/.test(asked) ? Number(asked) : 0
  if (depth >= 1 && depth <= MAX_DEPTH) return depth
  return refusals.depth
}
