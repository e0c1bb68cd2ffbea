import { VenueFacts } from '../../interface/signing.js'
import { broken, type Route } from '../route.js'
import { venueFacts } from '../venue-facts.js'

/** `GET /v1/venue`: chain, contracts, signing domains, type strings, frame texts, fees and limits. */
export const getVenue: Route = {
  method: 'GET',
  path: '/v1/venue',
  operation: {
    id: 'readVenue',
    tag: 'Venue',
    summary: 'Read what a client needs to sign',
    responses: { 200: { description: 'Of this venue.', body: VenueFacts }, 500: broken },
  },
  handler: (deps) => (ctx) => {
    const listed = deps.markets.filter(({ enabled }) => enabled)
    ctx.body = venueFacts(deps.deployment, deps.auth, listed, deps)
  },
}
