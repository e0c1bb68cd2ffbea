import { EXACT, BROAD, SOCKET } from './exceptions.js'

/** What the class says of itself, in the words of CCXT's `describe()`. */

/** Methods by name. What is not true here throws NotSupported. */
const HAS = {
  CORS: undefined,
  spot: true,
  margin: false,
  swap: true,
  future: true,
  option: false,
  cancelOrder: true,
  cancelOrders: true,
  cancelAllOrders: true,
  cancelAllOrdersAfter: true,
  createOrder: true,
  createOrders: true,
  editOrder: true,
  createLimitOrder: true,
  createLimitBuyOrder: true,
  createLimitSellOrder: true,
  createMarketOrder: true,
  createMarketBuyOrder: true,
  createMarketSellOrder: true,
  createPostOnlyOrder: true,
  createReduceOnlyOrder: true,
  createMarketOrderWs: false,
  fetchAccounts: true,
  fetchBalance: true,
  fetchCurrencies: true,
  fetchMarkets: true,
  fetchFundingRate: true,
  fetchFundingRates: true,
  fetchFundingRateHistory: true,
  fetchLeverageTiers: true,
  fetchMarketLeverageTiers: true,
  fetchOpenInterest: true,
  fetchOrderBook: true,
  fetchL2OrderBook: true,
  fetchOHLCV: true,
  fetchTrades: true,
  fetchTicker: true,
  fetchTickers: true,
  fetchStatus: true,
  fetchTime: true,
  fetchTradingFee: true,
  fetchTradingFees: true,
  fetchOrder: true,
  fetchOrders: true,
  fetchOpenOrders: true,
  fetchClosedOrders: true,
  fetchCanceledOrders: true,
  fetchCanceledAndClosedOrders: true,
  fetchOrderStatus: true,
  fetchMyTrades: true,
  fetchOrderTrades: true,
  fetchPosition: true,
  fetchPositions: true,
  fetchPositionsForSymbol: true,
  // By the id that is both.
  cancelOrderWithClientOrderId: true,
  editOrderWithClientOrderId: true,
  fetchOrderWithClientOrderId: true,
}

const GET = [
  ...['accounts', 'candles', 'funding', 'health', 'levels', 'markets', 'orders/{order_id}'],
  ...['positions', 'tickers', 'time', 'trades', 'venue'],
]
const OWN_GET = ['balances', 'fills', 'orders']
const OWN_POST = [
  ...['orders', 'orders/batch', 'orders/replace'],
  ...['orders/cancel', 'orders/cancel-all', 'orders/cancel-all-after', 'orders/cancel-list'],
]

const OPTIONS = {
  /** How far from the best price a market order may fill, as a share of that price. */
  slippage: '0.05',
  /** Life of an order that names no `expiry`, in seconds: 30 days. */
  expirySeconds: 2_592_000,
  /** Signed bound of the fee in basis points of the worst price of execution. */
  worstFeeBps: 30,
  /** Life of the frame that opens the own reads, in seconds. */
  frameSeconds: 3_600,
  /** Milliseconds that the venue's clock is behind this one's; fetchTime shows its clock. */
  timeDifference: 0,
  /** The account of each market by the market's identifier; else the first that the chain shows for it. */
  subaccounts: {},
  /** How often an order whose outcome is unknown is sent again before createOrder throws. */
  resends: 3,
  /** Whether an order that waits because its account has too little is cancelled and InsufficientFunds thrown. */
  cancelWithoutFunds: true,
  /** Most requests of one read of a history. */
  historyRequests: 100,
  defaultType: 'spot',
}

export const DESCRIPTION = {
  id: 'venue',
  name: 'Venue',
  countries: [],
  version: 'v1',
  rateLimit: 20,
  certified: false,
  pro: false,
  dex: true,
  has: HAS,
  timeframes: { '1m': '1m', '5m': '5m', '15m': '15m', '1h': '1h', '4h': '4h', '1d': '1d' },
  urls: { api: { rest: 'http://127.0.0.1:8080' }, doc: 'http://127.0.0.1:8080/docs' },
  api: { public: { get: GET }, private: { get: OWN_GET, post: OWN_POST } },
  requiredCredentials: { apiKey: false, secret: false, privateKey: true, walletAddress: false },
  fees: { trading: { tierBased: false, percentage: true } },
  exceptions: { exact: EXACT, broad: BROAD, ws: { exact: SOCKET } },
  options: OPTIONS,
}
