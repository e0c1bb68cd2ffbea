import { z } from 'zod'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { checksumOf } from '../../core/market-data/level-book.js'
import { levelsRecord } from '../../core/records/market-data.js'
import { isoTime } from '../../core/time.js'
import { MarketQuery } from '../../interface/market.js'
import { LevelsQuery, MarketLevels } from '../../interface/market-data.js'
import { refuse } from '../context.js'
import { asOf, saySeqs, untilShown } from '../feed-seqs.js'
import { askedMarket, readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'

/** `GET /v1/levels`: the best price levels of a market, as the channel `levels` begins with them. */
export const getLevels: Route = asOf({
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
    const behind = await untilShown(ctx, deps, market.market)
    if (behind !== undefined) return refuse(ctx, behind)
    const { seq, ...levels } = deps.readModel.levelsNow(market.market, query.depth)
    saySeqs(ctx, [[market.market, seq]])
    ctx.body = {
      market: market.market,
      seq,
      ts: isoTime(deps.nowMs()),
      ...levelsRecord(market, levels, checksumOf(levels)),
    } satisfies MarketLevels
  },
})
