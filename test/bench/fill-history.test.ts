import Database from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import { benchMarket } from '../../bench/bench-market.js'
import { fillHistory } from '../../bench/fill-history.js'
import { createTraffic } from '../../bench/history-traffic.js'
import { compareTables } from '../../data/history/compare-histories.js'
import { openReadModel } from '../../data/history/read-model.js'
import { openHistory, type TestHistory } from '../support/history.js'
import { tempDir } from '../support/temp-dir.js'

const SIZE = { days: 4, pairsADay: 120 }
const { market } = benchMarket()

describe('a history filled for a bench', () => {
  const dir = tempDir()
  const filled = fillHistory(join(dir.path, 'filled.db'), SIZE)
  let projected: TestHistory
  before(() => {
    projected = openHistory([benchMarket()])
    const traffic = createTraffic(SIZE.pairsADay)
    for (let day = 0; day < SIZE.days; day += 1) projected.projection.applyBatch(traffic.day(day))
    projected.projection.applyBatch(traffic.lastDay(SIZE.days))
  })
  after(() => {
    projected.remove()
    dir.remove()
  })

  it('has the very rows that the projector writes of the same traffic', () => {
    const db = new Database(filled.path, { readonly: true }).defaultSafeIntegers(true)
    try {
      const tables = compareTables(projected.db, db)
      expect(tables.flatMap(({ parts }) => parts ?? [])).to.deep.equal([])
      const rows = Object.fromEntries(tables.map(({ table, rows }) => [table, rows]))
      expect(rows).to.include({ orders: 960 + 1_200, order_progress: 960 + 1_200, trades: 480 })
      expect(rows).to.include({ fills: 960, markets: 1 })
      expect(rows['candles']).to.be.greaterThan(480)
      expect(db.pragma('integrity_check', { simple: true })).to.equal('ok')
      expect(db.pragma('foreign_key_check')).to.deep.equal([])
    } finally {
      db.close()
    }
  })

  it('has orders that are open, that traded wholly and in part, and that were cancelled', () => {
    const kinds = projected.db
      .prepare<[], string>(
        `SELECT DISTINCT status || iif(filled_quote IS NULL, '', ', traded') FROM order_progress`,
      )
      .pluck()
      .all()
    expect(kinds).to.have.members(['active', 'cancelled', 'cancelled, traded', 'filled, traded'])
  })

  it('answers as the projector’s own', () => {
    const [ours, theirs] = [filled.path, projected.path].map(answersFrom)
    expect(ours).to.deep.equal(theirs)
    expect(ours?.book).to.have.length(1_000)
    expect(ours?.trades).to.have.length(480)
    for (const { orders, fills } of ours?.histories ?? []) {
      expect(orders.length).to.be.at.least(8)
      expect(fills.length).to.be.at.least(8)
    }
  })

  function answersFrom(path: string) {
    const model = openReadModel(path)
    try {
      return {
        book: model.openOrders(market),
        trades: model.trades(market, 1_000),
        histories: filled.owners.map((owner) => ({
          orders: model.orderHistory(owner, { limit: 1_000 }),
          fills: model.fills(owner, { limit: 1_000 }),
        })),
      }
    } finally {
      model.close()
    }
  }
})
