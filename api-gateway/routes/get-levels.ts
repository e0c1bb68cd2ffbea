import { z } from 'zod'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { refusals } from '../../core/entry/refusals.js'
import { checksumOf } from '../../core/market-data/level-book.js'
import { levelsRecord } from '../../core/records/market-data.js'
import { isoTime } from '../../core/time.js'
import { MarketQuery } from '../../interface/market.js'
import { LevelsQuery, MarketLevels } from '../../interface/market-data.js'
import { refuse } from '../context.js'
import { askedMarket, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/levels`: the best price levels of a market, as the channel `levels` begins with them. */
export const getLevels: Route = {
  method: 'GET',
  path: '/v1/levels',
  operation: {
    id: 'readLevels',
    tag: 'Market data',
    summary: 'Read the best price levels of a market',
    query: z.object({ ...MarketQuery.shape, ...LevelsQuery.shape }),
    responses: {
      200: { description: 'Both sides, best first.', body: MarketLevels, headers: aliasHeaders },
      ...marketRefusals,
    },
  },
  isLarge: () => true,
  handler: (deps) => async (ctx) => {
    const asked = askedMarket(ctx, deps)
    if ('refusal' in asked) return refuse(ctx, asked.refusal)
    const query = readQuery(ctx, LevelsQuery, { depth: readRefusals.levelsDepth })
    if ('refusal' in query) return refuse(ctx, query.refusal)
    const { market } = asked
    if (!(await deps.ownWrites.shown(market.market))) return refuse(ctx, refusals.readBehind)
    const { seq, ...levels } = deps.readModel.levelsNow(market.market, query.depth)
    ctx.body = {
      ...{ market: market.market, seq, ts: isoTime(deps.nowMs()) },
      ...levelsRecord(market, levels, checksumOf(levels)),
    } satisfies MarketLevels
  },
}
