import { measureHttp, type Metrics } from '../runtime/metrics/metrics.js'
import type { GatewayDeps } from './context.js'

/** Measures the gateway's requests, and how long orders take behind it. */
export function measureGateway(metrics: Metrics): Pick<GatewayDeps, 'onAnswer' | 'onOrder'> {
  const durable = metrics.histogram('venue_order_durable_seconds')
  return { onAnswer: measureHttp(metrics), onOrder: (seconds) => durable({}, seconds) }
}
