import type { GatewayDeps, Handler } from './context.js'
import { getBook } from './routes/get-book.js'
import { getHealthz } from './routes/get-healthz.js'
import { getMarkets } from './routes/get-markets.js'
import { getOrder } from './routes/get-order.js'
import { getReadyz } from './routes/get-readyz.js'
import { getTime } from './routes/get-time.js'
import { getTrades } from './routes/get-trades.js'
import { postOrdersCancel } from './routes/post-orders-cancel.js'
import { postOrders } from './routes/post-orders.js'

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly handler: (deps: GatewayDeps) => Handler
}

/** Everything the gateway answers, except the upgrade of `/v1/ws`. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/orders', handler: postOrders },
  { method: 'POST', path: '/v1/orders/cancel', handler: postOrdersCancel },
  { method: 'GET', path: '/v1/orders/:order_id', handler: getOrder },
  { method: 'GET', path: '/v1/markets', handler: getMarkets },
  { method: 'GET', path: '/v1/book', handler: getBook },
  { method: 'GET', path: '/v1/trades', handler: getTrades },
  { method: 'GET', path: '/v1/time', handler: getTime },
  { method: 'GET', path: '/healthz', handler: getHealthz },
  { method: 'GET', path: '/readyz', handler: getReadyz },
]
