import { CLOSE_OUTS_SQL } from '../../../data/history/close-outs.js'
import { liquidationsSql } from '../../../data/history/liquidations.js'
import { ENTRY_SQL } from '../../../data/history/entries.js'
import { expect } from 'chai'
import { LEAVING_SQL } from '../../../data/history/project.js'
import { LEVELS_SQL } from '../../../data/history/read-book.js'
import {
  CANDLE_PAGE_SQL,
  CANDLES_SQL,
  EDGE_TRADES_SQL,
} from '../../../data/history/read-candles.js'
import { ORDER_EVENTS_SQL, ORDER_LEGS_SQL } from '../../../data/history/read-life.js'
import {
  BEST_PRICE_SQL,
  LAST_TRADE_SQL,
  LIVE_ORDERS_SQL,
  OPEN_ORDERS_SQL,
  ORDER_HISTORY_SQL,
  ORDER_SQL,
  ORDERS_WITHIN_SQL,
} from '../../../data/history/read-orders.js'
import { MARKS_SQL, RATES_SQL } from '../../../data/history/read-prices.js'
import {
  FILLS_SQL,
  FIRST_SINCE_SQL,
  NEWEST_BELOW_SQL,
  TRADES_BETWEEN_SQL,
  TRADES_SQL,
  TRADES_WITHIN_SQL,
} from '../../../data/history/read-trades.js'
import { openHistory, type TestHistory } from '../../support/history.js'

describe('query plans of the read model', () => {
  let history: TestHistory
  before(() => (history = openHistory([])))
  after(() => history.remove())

  const planOf = (sql: string): string[] => {
    const parameters = Array.from(sql.matchAll(/\?/g), () => 0)
    return history.db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${sql}`)
      .all(...parameters)
      .map(({ detail }) => detail)
  }

  const queries: Record<string, { sql: string; first: RegExp }> = {
    'an order': { sql: ORDER_SQL, first: /^SEARCH orders USING INDEX .*\(order_id=\?\)/ },
    bids: {
      sql: OPEN_ORDERS_SQL.buy,
      first: /^SEARCH progress USING INDEX order_progress_bids \(market_id=\?\)/,
    },
    asks: {
      sql: OPEN_ORDERS_SQL.sell,
      first: /^SEARCH progress USING INDEX order_progress_asks \(market_id=\?\)/,
    },
    'bids at some prices': {
      sql: ORDERS_WITHIN_SQL.buy,
      first:
        /^SEARCH progress USING INDEX order_progress_bids \(market_id=\? AND <expr>=\? AND limit_price>\? AND limit_price<\?\)/,
    },
    'asks at some prices': {
      sql: ORDERS_WITHIN_SQL.sell,
      first:
        /^SEARCH progress USING INDEX order_progress_asks \(market_id=\? AND <expr>=\? AND limit_price>\? AND limit_price<\?\)/,
    },
    'the best bid': {
      sql: BEST_PRICE_SQL.buy,
      first: /^SEARCH progress USING INDEX order_progress_bids \(market_id=\?\)/,
    },
    'the best ask': {
      sql: BEST_PRICE_SQL.sell,
      first: /^SEARCH progress USING INDEX order_progress_asks \(market_id=\?\)/,
    },
    'a page of orders': {
      sql: ORDER_HISTORY_SQL,
      first:
        /^SEARCH orders USING INDEX orders_by_owner \(owner=\? AND created_at_ms>\? AND created_at_ms<\?\)/,
    },
    'a page of fills': {
      sql: FILLS_SQL,
      first:
        /^SEARCH fills USING PRIMARY KEY \(owner=\? AND at_ms>\? AND \(at_ms,fill_key\)<\(\?,\?\)\)/,
    },
    'a page of close-outs': {
      sql: CLOSE_OUTS_SQL,
      first:
        /^SEARCH close_outs USING INDEX close_outs_by_owner \(owner=\? AND at_ms>\? AND at_ms<\?\)/,
    },
    'a page of liquidations': {
      sql: liquidationsSql({}),
      first: /^SEARCH liquidations USING INDEX liquidations_by_time \(at_ms>\? AND at_ms<\?\)/,
    },
    'a page of liquidations of a market': {
      sql: liquidationsSql({ market: 'm' }),
      first:
        /^SEARCH liquidations USING INDEX liquidations_by_market \(market=\? AND at_ms>\? AND at_ms<\?\)/,
    },
    'a page of liquidations of an account': {
      sql: liquidationsSql({ subaccountId: 1n }),
      first:
        /^SEARCH liquidations USING INDEX liquidations_by_account \(subaccount_id=\? AND at_ms>\? AND at_ms<\?\)/,
    },
    'a page of liquidations of an account in a market': {
      sql: liquidationsSql({ market: 'm', subaccountId: 1n }),
      first:
        /^SEARCH liquidations USING INDEX liquidations_by_account \(subaccount_id=\? AND at_ms>\? AND at_ms<\?\)/,
    },
    'the events of an order': {
      sql: ORDER_EVENTS_SQL,
      first: /^SEARCH order_events USING PRIMARY KEY \(order_key=\?\)/,
    },
    'the fills of an order': {
      sql: ORDER_LEGS_SQL,
      first: /^SEARCH fills USING PRIMARY KEY \(owner=\? AND at_ms>\?\)/,
    },
    'the entry of a position': {
      sql: ENTRY_SQL,
      first: /^SEARCH position_entries USING PRIMARY KEY \(market_id=\? AND subaccount_id=\?\)/,
    },
    'orders that leave': {
      sql: LEAVING_SQL,
      first:
        /^SEARCH order_progress USING INDEX order_progress_leaving \(market_id=\? AND ended_at_ms>\? AND ended_at_ms<\?\)/,
    },
    'a page of candles': {
      sql: CANDLE_PAGE_SQL,
      first:
        /^SEARCH candles USING PRIMARY KEY \(market_id=\? AND width_sec=\? AND start_sec>\? AND start_sec<\?\)/,
    },
    'a page of marks': {
      sql: MARKS_SQL,
      first:
        /^SEARCH mark_prices USING PRIMARY KEY \(market_id=\? AND start_sec>\? AND start_sec<\?\)/,
    },
    'a page of funding rates': {
      sql: RATES_SQL,
      first:
        /^SEARCH funding_rates USING PRIMARY KEY \(market_id=\? AND start_sec>\? AND start_sec<\?\)/,
    },
    'the levels of bids': {
      sql: LEVELS_SQL.buy,
      first: /^SEARCH progress USING INDEX order_progress_bids/,
    },
    'the levels of asks': {
      sql: LEVELS_SQL.sell,
      first: /^SEARCH progress USING INDEX order_progress_asks/,
    },
    trades: {
      sql: TRADES_SQL,
      first: /^SEARCH trades USING INDEX trades_by_market \(market_id=\? AND rowid<\?\)/,
    },
    'the live orders of an owner': {
      sql: LIVE_ORDERS_SQL,
      first: /^SEARCH live USING PRIMARY KEY \(owner=\? AND created_at_ms/,
    },
    'the trades of one side in a range of time': {
      sql: TRADES_WITHIN_SQL,
      first:
        /^SEARCH trades USING INDEX trades_by_side \(market_id=\? AND taker_side=\? AND at_ms>\? AND at_ms<\?\)/,
    },
    'the newest trade below an id': {
      sql: NEWEST_BELOW_SQL,
      first: /^SEARCH trades USING INDEX trades_by_market \(market_id=\? AND rowid<\?\)/,
    },
    'trades between two ids': {
      sql: TRADES_BETWEEN_SQL,
      first:
        /^SEARCH trades USING INDEX trades_by_market \(market_id=\? AND rowid>\? AND rowid<\?\)/,
    },
    'the first trade of one side from a time on': {
      sql: FIRST_SINCE_SQL,
      first:
        /^SEARCH trades USING (COVERING )?INDEX trades_by_side \(market_id=\? AND taker_side=\? AND at_ms>\?\)/,
    },
    'the last trade': {
      sql: LAST_TRADE_SQL,
      first: /^SEARCH trades USING INDEX trades_by_market \(market_id=\?\)/,
    },
    candles: {
      sql: CANDLES_SQL,
      first:
        /^SEARCH candles USING PRIMARY KEY \(market_id=\? AND width_sec=\? AND start_sec>\? AND start_sec<\?\)/,
    },
    'the trades at the edge of a window': {
      sql: EDGE_TRADES_SQL,
      first: /^SEARCH candles USING PRIMARY KEY \(market_id=\? AND width_sec=\? AND start_sec=\?\)/,
    },
  }
  for (const [name, { sql, first }] of Object.entries(queries)) {
    it(`${name}: only searches, and sorts nothing`, () => {
      const plan = planOf(sql)
      expect(plan[0]).to.match(first)
      expect(plan.filter((step) => /SCAN|TEMP B-TREE/.test(step))).to.deep.equal([])
    })
  }
})
