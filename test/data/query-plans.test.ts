import { expect } from 'chai'
import { LEAVING_SQL } from '../../data/forget-orders.js'
import { CANDLE_PAGE_SQL } from '../../data/read-candles.js'
import { FILLS_SQL } from '../../data/read-fills.js'
import { LAST_TRADE_SQL } from '../../data/read-last-trade.js'
import { BEST_PRICE_SQL, OPEN_ORDERS_SQL } from '../../data/read-open-orders.js'
import { ORDER_HISTORY_SQL } from '../../data/read-order-history.js'
import { ORDER_SQL } from '../../data/read-order.js'
import { CANDLES_SQL, EDGE_TRADES_SQL } from '../../data/read-stats-24h.js'
import { TRADES_SQL } from '../../data/read-trades.js'
import { openHistory } from '../support/history.js'
import type { TestHistory } from '../support/history.js'

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
      first: /^SEARCH orders USING INDEX orders_by_owner \(owner=\? AND created_at_ms<\?\)/,
    },
    'a page of fills': {
      sql: FILLS_SQL,
      first: /^SEARCH fills USING PRIMARY KEY \(owner=\? AND \(at_ms,fill_key\)<\(\?,\?\)\)/,
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
    trades: {
      sql: TRADES_SQL,
      first: /^SEARCH trades USING INDEX trades_by_market \(market_id=\? AND rowid<\?\)/,
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
