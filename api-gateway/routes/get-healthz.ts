import { Alive } from '../../interface/venue.js'
import { broken, type Route } from '../route.js'

/** `GET /healthz`: this process runs. */
export const getHealthz: Route = {
  method: 'GET',
  path: '/healthz',
  operation: {
    id: 'readLiveness',
    tag: 'Venue',
    summary: 'Ask whether the gateway is alive',
    responses: { 200: { description: 'It is.', body: Alive }, 500: broken },
  },
  handler: () => (ctx) => {
    ctx.body = { status: 'ok' } satisfies Alive
  },
}
