import { readRefusals } from '../../core/entry/read-refusals.js'
import type { OrRefusal } from '../../core/entry/refusals.js'
import { MAX_CHART_BARS } from '../../core/limits.js'
import { candlesOfResolution, chartHistory } from '../../core/records/chart-record.js'
import type { CandleRange } from '../../data/history/read-candles.js'
import { ChartHistory, ChartHistoryQuery } from '../../interface/charts.js'
import { asChart, askedSymbol } from '../charts.js'
import { refuse, type GatewayContext } from '../context.js'
import { asOf, sayProjected, untilShown } from '../feed-seqs.js'
import { readQuery } from '../read-request.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

/** The newest bar changes with each trade. */
const MAX_AGE_SEC = 1

/** The market is read with its aliases. */
const RANGE = ChartHistoryQuery.omit({ symbol: true })

/** `GET /udf/history`: bars of a market that begin in [from, to), or the newest so many before `to`, oldest first. */
export const getUdfHistory: Route = asChart(
  asOf({
    method: 'GET',
    path: '/udf/history',
    operation: {
      id: 'listChartBars',
      tag: 'Charts',
      summary: 'List the bars of a market',
      description:
        'Spot: USDC priced in cNGN, the inverse of `/v1/candles`, volumes in USDC. Perpetual: cNGN priced in USDC, volumes in cNGN. Futures: USDC priced in cNGN, volumes in USDC. Of more bars than fit, the newest.',
      query: ChartHistoryQuery,
      responses: {
        ...taggedAnswers({
          description: 'Bars, oldest first, or where older ones are.',
          body: ChartHistory,
          headers: [...aliasHeaders],
        }),
        ...marketRefusals,
      },
    },
    isLarge: () => true,
    handler: (deps) => async (ctx) => {
      const found = askedSymbol(ctx, deps)
      if ('refusal' in found) return refuse(ctx, found.refusal)
      const range = readRange(ctx)
      if ('refusal' in range) return refuse(ctx, range.refusal)
      const { market } = found
      const behind = await untilShown(ctx, deps, market.market)
      if (behind !== undefined) return refuse(ctx, behind)
      const history = deps.readModel.atOnce(() => {
        sayProjected(ctx, deps, market.market)
        const read = (of: CandleRange) => deps.readModel.candles(market.market, of)
        const candles = read(range)
        const [next] = candles.length > 0 ? [] : read(before(range))
        return chartHistory(market, candles, next?.startSec)
      })
      answerTagged(ctx, history, MAX_AGE_SEC)
    },
  }),
)

/** The newest candle before a range. */
const before = (range: CandleRange): CandleRange => ({
  ...range,
  limit: 1,
  fromSec: Number.MIN_SAFE_INTEGER,
  beforeSec: Math.min(range.fromSec, range.beforeSec),
})

function readRange(ctx: GatewayContext): OrRefusal<CandleRange> {
  const query = readQuery(ctx, RANGE, {
    resolution: readRefusals.chartResolution,
    from: readRefusals.chartFrom,
    to: readRefusals.chartTo,
    countback: readRefusals.chartCountback,
  })
  if ('refusal' in query) return query
  const interval = candlesOfResolution(query.resolution)
  if (interval === undefined) return { refusal: readRefusals.chartResolution }
  const { countback, from, to = Number.MAX_SAFE_INTEGER } = query
  const fromSec = countback === undefined ? from : undefined
  return {
    interval,
    limit: Math.min(countback ?? MAX_CHART_BARS, MAX_CHART_BARS),
    fromSec: fromSec ?? Number.MIN_SAFE_INTEGER,
    beforeSec: to,
  }
}
