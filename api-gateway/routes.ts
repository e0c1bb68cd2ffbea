import type { Route } from './route.js'
import { getAsyncapi } from './routes/get-asyncapi.js'
import { getAccounts } from './routes/get-accounts.js'
import { getBalances } from './routes/get-balances.js'
import { getBook } from './routes/get-book.js'
import { getCandles } from './routes/get-candles.js'
import { getCloseOuts } from './routes/get-close-outs.js'
import { getDeposit } from './routes/get-deposit.js'
import { getDocsAsset } from './routes/get-docs-asset.js'
import { getDocsExamples } from './routes/get-docs-examples.js'
import { getDocs } from './routes/get-docs.js'
import { getFills } from './routes/get-fills.js'
import { getFunding } from './routes/get-funding.js'
import { getHealth } from './routes/get-health.js'
import { getHealthz } from './routes/get-healthz.js'
import { getLevels } from './routes/get-levels.js'
import { getLiquidations } from './routes/get-liquidations.js'
import { getContractSpecs } from './routes/get-contract-specs.js'
import { getListedAssets } from './routes/get-listed-assets.js'
import { getListedBook } from './routes/get-listed-book.js'
import { getListedContracts } from './routes/get-listed-contracts.js'
import { getListedPairs } from './routes/get-listed-pairs.js'
import { getListedSummary } from './routes/get-listed-summary.js'
import { getListedTrades } from './routes/get-listed-trades.js'
import { getMarketTickers } from './routes/get-market-tickers.js'
import { getMarkets } from './routes/get-markets.js'
import { getMarks } from './routes/get-marks.js'
import { getOpenapi } from './routes/get-openapi.js'
import { getOrder } from './routes/get-order.js'
import { getOrderExplanation } from './routes/get-order-explanation.js'
import { getOrders } from './routes/get-orders.js'
import { getPageAsset } from './routes/get-page-asset.js'
import { getPairBook } from './routes/get-pair-book.js'
import { getPairTickers } from './routes/get-pair-tickers.js'
import { getPairTrades } from './routes/get-pair-trades.js'
import { getPage } from './routes/get-page.js'
import { getPermitNonce } from './routes/get-permit-nonce.js'
import { getPositions } from './routes/get-positions.js'
import { getReadyz } from './routes/get-readyz.js'
import { getTickers } from './routes/get-tickers.js'
import { getTime } from './routes/get-time.js'
import { getTrades } from './routes/get-trades.js'
import { getSigningVectors } from './routes/get-signing-vectors.js'
import { getUdfConfig } from './routes/get-udf-config.js'
import { getUdfHistory } from './routes/get-udf-history.js'
import { getUdfSearch } from './routes/get-udf-search.js'
import { getUdfSymbols } from './routes/get-udf-symbols.js'
import { getUdfTime } from './routes/get-udf-time.js'
import { getVenue } from './routes/get-venue.js'
import { getWithdrawal } from './routes/get-withdrawal.js'
import { getWs } from './routes/get-ws.js'
import { postDevnetDemo } from './routes/post-devnet-demo.js'
import { postDeposits } from './routes/post-deposits.js'
import { postOrdersBatch } from './routes/post-orders-batch.js'
import { postOrdersCancelAllAfter } from './routes/post-orders-cancel-all-after.js'
import { postOrdersCancelAll } from './routes/post-orders-cancel-all.js'
import { postOrdersCancelList } from './routes/post-orders-cancel-list.js'
import { postOrdersCancel } from './routes/post-orders-cancel.js'
import { postIndexStatus } from './routes/post-index-status.js'
import { postOrdersReduce } from './routes/post-orders-reduce.js'
import { postOrdersReplace } from './routes/post-orders-replace.js'
import { postOrdersValidate } from './routes/post-orders-validate.js'
import { postOrders } from './routes/post-orders.js'
import { postWithdrawals } from './routes/post-withdrawals.js'

/** Everything that the gateway answers, except upgrades of `/v1/ws`. */
export const routes: readonly Route[] = [
  postOrders,
  postOrdersCancel,
  postOrdersReplace,
  postOrdersReduce,
  postOrdersBatch,
  postOrdersCancelAll,
  postOrdersCancelList,
  postOrdersCancelAllAfter,
  postOrdersValidate,
  getOrders,
  getOrder,
  getOrderExplanation,
  getPermitNonce,
  postDeposits,
  getDeposit,
  postWithdrawals,
  getWithdrawal,
  getFills,
  getCloseOuts,
  getBalances,
  getAccounts,
  getMarkets,
  getBook,
  getTrades,
  getCandles,
  getMarks,
  getFunding,
  getLiquidations,
  getMarketTickers,
  getLevels,
  getTickers,
  getListedBook,
  getListedTrades,
  getListedPairs,
  getListedContracts,
  getContractSpecs,
  getListedSummary,
  getListedAssets,
  getPairTickers,
  getPairBook,
  getPairTrades,
  getUdfConfig,
  getUdfTime,
  getUdfSymbols,
  getUdfSearch,
  getUdfHistory,
  getPositions,
  getWs,
  postIndexStatus,
  postDevnetDemo,
  getHealth,
  getTime,
  getVenue,
  getSigningVectors,
  getOpenapi(() => routes),
  getAsyncapi,
  getPage,
  getPageAsset,
  getDocs,
  getDocsExamples,
  getDocsAsset,
  getHealthz,
  getReadyz,
]
