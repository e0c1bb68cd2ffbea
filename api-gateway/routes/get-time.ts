import { Clock } from '../../interface/venue.js'
import { broken, type Route } from '../route.js'

/** `GET /v1/time`: the venue's clock, against which expiries are judged. */
export const getTime: Route = {
  method: 'GET',
  path: '/v1/time',
  operation: {
    id: 'readTime',
    tag: 'Venue',
    summary: 'Read the clock that judges expiries',
    responses: { 200: { description: 'Now.', body: Clock }, 500: broken },
  },
  handler: (deps) => (ctx) => {
    const nowMs = deps.nowMs()
    ctx.body = { now: new Date(nowMs).toISOString(), unix_ms: nowMs } satisfies Clock
  },
}
