import { z } from 'zod'
import { readRefusals } from '../../core/entry/read-refusals.js'
import { searchSymbols } from '../../core/records/chart-record.js'
import { ChartSearchQuery, ChartSearchResult } from '../../interface/charts.js'
import { asChart } from '../charts.js'
import { refuse } from '../context.js'
import { readQuery } from '../read-request.js'
import { refused, type Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

const MAX_AGE_SEC = 60

/** `GET /udf/search`: the listed markets whose names have a text in them. */
export const getUdfSearch: Route = asChart({
  method: 'GET',
  path: '/udf/search',
  operation: {
    id: 'searchChartSymbols',
    tag: 'Charts',
    summary: 'Search the listed markets by a part of their names',
    query: ChartSearchQuery,
    responses: {
      ...taggedAnswers({ description: 'By identifier.', body: z.array(ChartSearchResult) }),
      400: refused('A bad parameter.'),
    },
  },
  handler: (deps) => (ctx) => {
    const query = readQuery(ctx, ChartSearchQuery, {
      query: readRefusals.chartSearch,
      type: readRefusals.chartSearch,
      exchange: readRefusals.chartSearch,
      limit: readRefusals.chartSearchLimit,
    })
    if ('refusal' in query) return refuse(ctx, query.refusal)
    answerTagged(ctx, searchSymbols(deps.markets, query), MAX_AGE_SEC)
  },
})
