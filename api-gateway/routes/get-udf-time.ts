import { asChart } from '../charts.js'
import type { Route } from '../route.js'

/** `GET /udf/time`: the venue's clock, as text. */
export const getUdfTime: Route = asChart({
  method: 'GET',
  path: '/udf/time',
  operation: {
    id: 'readChartTime',
    tag: 'Charts',
    summary: 'Read the clock as a chart does',
    responses: { 200: { description: 'Unix seconds.', contentType: 'text/plain' } },
  },
  handler: (deps) => (ctx) => {
    ctx.type = 'text/plain; charset=utf-8'
    ctx.body = `${Math.floor(deps.nowMs() / 1_000)}`
  },
})
