import type { Answered } from '../http/server.js'
import type { Metrics } from './metrics.js'

/** Measures the requests of an HTTP service; returns what is to be called with each answer. */
export function measureHttp(metrics: Metrics): (answer: Answered) => void {
  const request = metrics.histogram('venue_http_request_seconds')
  const refused = metrics.counter('venue_http_refusals_total')
  return ({ method, route, status, code, seconds }) => {
    request(
      { method: KNOWN_METHODS.has(method) ? method : 'other', route, status: `${status}` },
      seconds,
    )
    if (code !== undefined) refused({ route, code })
  }
}

/** Others come from clients, and each would be a time series of its own. */
const KNOWN_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS'])
