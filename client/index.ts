/** The venue's client: signs orders, deposits and withdrawals, calls REST, follows the WebSocket. Runs in Node and browsers; needs viem. */
export type { Explanation, LifeEvent } from '../interface/explanation.js'
export type { AccountsBody } from '../interface/accounts.js'
export type {
  AccountBalances,
  BalancesBody,
  MarginBalance,
  TokenBalance,
} from '../interface/balances.js'
export type { FillEvent } from '../interface/fill-event.js'
export type {
  CancelAll,
  CancelAllAfter,
  CancelledOrder,
  CancelList,
  CancelsAnswer,
  LeaseAnswer,
} from '../interface/cancels.js'
export type { CloseOutRecord, CloseOutsPage } from '../interface/close-out.js'
export type { LiquidationRecord, LiquidationsPage } from '../interface/liquidation.js'
export type { MarketEntry } from '../interface/market.js'
export type { VenueFacts } from '../interface/signing.js'
export type { OrderStatus } from '../interface/order.js'
export type {
  ActionJson,
  BookRecord,
  CancelOrder,
  NewOrder,
  OrderHistoryPage,
  OrderRecord,
  SpotContract,
} from '../interface/order.js'
export type {
  CandleState,
  LevelDepth,
  LevelRecord,
  LevelsSnapshot,
  LevelsUpdate,
  MarketLevels,
  MarketTicker,
  StatusState,
  TickerState,
} from '../interface/market-data.js'
export type {
  BatchAnswer,
  ReduceOrder,
  ReplaceAnswer,
  ReplaceOrder,
} from '../interface/order-changes.js'
export type { PerpState } from '../interface/perpetual.js'
export type { FundingPage, FundingRecord, MarkRecord, MarksPage } from '../interface/prices.js'
export type { MarginAccount, PositionRecord, PositionsBody } from '../interface/position.js'
export type { BookDelta, OrderDelta, TradeDelta } from '../interface/socket.js'
export type {
  CandleInterval,
  CandleRecord,
  CandlesPage,
  FillRecord,
  FillsPage,
  TickerRecord,
  TradeRecord,
  TradesPage,
} from '../interface/trade.js'
export type {
  DepositReceipt,
  DepositRecord,
  NewDeposit,
  NewWithdrawal,
  Permit,
  TransferStatus,
  WithdrawalReceipt,
  WithdrawalRecord,
} from '../interface/transfer.js'
export type { Side } from '../interface/values.js'
export type { Clock, Health } from '../interface/venue.js'
export { OutcomeUnknown, VenueError, VenueRefused, type Retry } from './request.js'
export * from './domain.js'
export * from './follow-levels.js'
export * from './future-position.js'
export * from './local-book.js'
export * from './local-fills.js'
export * from './local-levels.js'
export * from './margin-collateral.js'
export * from './nearest-series.js'
export * from './rest.js'
export * from './seen-seqs.js'
export * from './sign-cancel-all.js'
export * from './sign-cancel.js'
export * from './sign-frame.js'
export * from './sign-order.js'
export * from './sign-transfer.js'
export * from './socket-lease.js'
export * from './socket.js'
export type { DeadMan, DeadManOptions, LeaseOptions } from './socket-guards.js'
export type { BatchResult, CancelScope, SocketOrders } from './socket-orders.js'
export * from './transfers.js'
export * from './units.js'
