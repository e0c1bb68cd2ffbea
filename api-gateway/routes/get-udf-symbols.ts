import { chartSymbol } from '../../core/records/chart-record.js'
import { ChartSymbol, ChartSymbolQuery } from '../../interface/charts.js'
import { asChart, askedSymbol } from '../charts.js'
import { refuse } from '../context.js'
import { aliasHeaders, marketRefusals, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

const MAX_AGE_SEC = 60

/** `GET /udf/symbols`: a market as a symbol of a chart. */
export const getUdfSymbols: Route = asChart({
  method: 'GET',
  path: '/udf/symbols',
  operation: {
    id: 'readChartSymbol',
    tag: 'Charts',
    summary: 'Read a market as a symbol of a chart',
    query: ChartSymbolQuery,
    responses: {
      ...taggedAnswers({
        description: 'A market that is listed, or was.',
        body: ChartSymbol,
        headers: [...aliasHeaders],
      }),
      ...marketRefusals,
    },
  },
  handler: (deps) => (ctx) => {
    const found = askedSymbol(ctx, deps)
    if ('refusal' in found) return refuse(ctx, found.refusal)
    answerTagged(ctx, chartSymbol(found.market, deps.nowMs()), MAX_AGE_SEC)
  },
})
