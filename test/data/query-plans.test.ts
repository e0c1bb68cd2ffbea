import { expect } from 'chai'
import { LAST_TRADE_SQL } from '../../data/read-last-trade.js'
import { OPEN_ORDERS_SQL } from '../../data/read-open-orders.js'
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
    'open orders': {
      sql: OPEN_ORDERS_SQL,
      first: /^SEARCH progress USING INDEX order_progress_open \(market_id=\?\)/,
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
