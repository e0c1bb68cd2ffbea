import type { GatewayDeps, Handler } from './context.js'
import { asyncApiDocument } from './asyncapi.js'
import { type DocumentedRoute, openApiDocument } from './openapi.js'
import { getAsyncapi } from './routes/get-asyncapi.js'
import { getBook } from './routes/get-book.js'
import { getCandles } from './routes/get-candles.js'
import { getDeposit } from './routes/get-deposit.js'
import { getDocsAsset } from './routes/get-docs-asset.js'
import { getDocs } from './routes/get-docs.js'
import { getFills } from './routes/get-fills.js'
import { getHealth } from './routes/get-health.js'
import { getHealthz } from './routes/get-healthz.js'
import { getMarkets } from './routes/get-markets.js'
import { getOpenapi } from './routes/get-openapi.js'
import { getOrder } from './routes/get-order.js'
import { getOrders } from './routes/get-orders.js'
import { getReadyz } from './routes/get-readyz.js'
import { getTickers } from './routes/get-tickers.js'
import { getTime } from './routes/get-time.js'
import { getTrades } from './routes/get-trades.js'
import { getWithdrawal } from './routes/get-withdrawal.js'
import { postDeposits } from './routes/post-deposits.js'
import { postOrdersCancel } from './routes/post-orders-cancel.js'
import { postOrders } from './routes/post-orders.js'
import { postWithdrawals } from './routes/post-withdrawals.js'
import * as chart from './schemas/chart-operations.js'
import * as history from './schemas/history-operations.js'
import * as market from './schemas/market-operations.js'
import * as order from './schemas/order-operations.js'
import * as transfer from './schemas/transfer-operations.js'
import * as venue from './schemas/venue-operations.js'

/** One endpoint: what answers it, and what it takes and answers. */
export interface Route extends DocumentedRoute {
  readonly handler: (deps: GatewayDeps) => Handler
}

const openapi = (): Handler => getOpenapi(openApiDocument(routes))
const asyncapi = (): Handler => getAsyncapi(asyncApiDocument())

/** Everything the gateway answers, except the upgrade of `/v1/ws`. */
export const routes: readonly Route[] = [
  { method: 'POST', path: '/v1/orders', operation: order.placeOrder, handler: postOrders },
  {
    method: 'POST',
    path: '/v1/orders/cancel',
    operation: order.cancelOrder,
    handler: postOrdersCancel,
  },
  { method: 'GET', path: '/v1/orders', operation: history.listOrders, handler: getOrders },
  { method: 'GET', path: '/v1/orders/:order_id', operation: order.lookUpOrder, handler: getOrder },
  { method: 'POST', path: '/v1/deposits', operation: transfer.deposit, handler: postDeposits },
  {
    method: 'GET',
    path: '/v1/deposits/:action_hash',
    operation: transfer.lookUpDeposit,
    handler: getDeposit,
  },
  {
    method: 'POST',
    path: '/v1/withdrawals',
    operation: transfer.withdraw,
    handler: postWithdrawals,
  },
  {
    method: 'GET',
    path: '/v1/withdrawals/:action_hash',
    operation: transfer.lookUpWithdrawal,
    handler: getWithdrawal,
  },
  { method: 'GET', path: '/v1/fills', operation: history.listFills, handler: getFills },
  { method: 'GET', path: '/v1/markets', operation: market.listMarkets, handler: getMarkets },
  { method: 'GET', path: '/v1/book', operation: market.readBook, handler: getBook },
  { method: 'GET', path: '/v1/trades', operation: market.listTrades, handler: getTrades },
  { method: 'GET', path: '/v1/candles', operation: chart.listCandles, handler: getCandles },
  {
    method: 'GET',
    path: '/v1/integrations/tickers',
    operation: chart.listTickers,
    handler: getTickers,
  },
  { method: 'GET', path: '/v1/health', operation: venue.readHealth, handler: getHealth },
  { method: 'GET', path: '/v1/time', operation: venue.readTime, handler: getTime },
  { method: 'GET', path: '/v1/openapi.json', operation: venue.readDocument, handler: openapi },
  {
    method: 'GET',
    path: '/v1/asyncapi.json',
    operation: venue.readFeedDocument,
    handler: asyncapi,
  },
  { method: 'GET', path: '/docs', operation: venue.readDocsPage, handler: getDocs },
  { method: 'GET', path: '/docs/:asset', operation: venue.readDocsAsset, handler: getDocsAsset },
  { method: 'GET', path: '/healthz', operation: venue.readLiveness, handler: getHealthz },
  { method: 'GET', path: '/readyz', operation: venue.readReadiness, handler: getReadyz },
]
