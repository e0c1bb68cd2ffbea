import { chartConfig } from '../../core/records/chart-record.js'
import { ChartConfig } from '../../interface/charts.js'
import { asChart } from '../charts.js'
import type { Route } from '../route.js'
import { answerTagged, taggedAnswers } from '../tagged-answer.js'

const MAX_AGE_SEC = 300

/** `GET /udf/config`: what the datafeed of charts can do. */
export const getUdfConfig: Route = asChart({
  method: 'GET',
  path: '/udf/config',
  operation: {
    id: 'readChartConfig',
    tag: 'Charts',
    summary: 'Read what the datafeed of charts can do',
    responses: taggedAnswers({ description: 'The same for all.', body: ChartConfig }),
  },
  handler: () => (ctx) => answerTagged(ctx, chartConfig(), MAX_AGE_SEC),
})
