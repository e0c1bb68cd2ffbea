import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  compareTables,
  isFromFeeds,
  openLiveHistory,
  openScratchHistory,
} from '../../../data/history/compare-histories.js'
import { UnknownSchemaVersion } from '../../../data/open.js'
import { anOrder } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { openHistory, projectedSpot, type TestHistory } from '../../support/history.js'
import { tempDir } from '../../support/temp-dir.js'

const MARKET = 'cNGN-USDC'
const SPOT = { market: MARKET, ordinal: 0 }
const orders = [1, 2, 3].map((n) => anOrder({ orderId: `order-${n}`, nonce: BigInt(n) }))

describe('two histories', () => {
  let ours: TestHistory
  let theirs: TestHistory
  beforeEach(() => {
    ours = openHistory([SPOT])
    theirs = openHistory([SPOT])
  })
  afterEach(() => {
    ours.remove()
    theirs.remove()
  })

  /** Places so many orders, one in each block. */
  const place = ({ projection }: Pick<TestHistory, 'projection'>, count: number): void => {
    for (const [index, order] of orders.slice(0, count).entries()) {
      const change = aChange(index + 1, order, { kind: 'OrderPlaced', order, rank: index + 1 })
      const block = aBlock(MARKET, [change])
      projection.applyBatch([{ streamSeq: index + 1, block }])
    }
  }
  const differing = () =>
    compareTables(ours.db, theirs.db).filter(({ parts }) => parts !== undefined)

  it('are equal table by table, with the rows of each', () => {
    place(ours, 2)
    place(theirs, 2)
    const tables = compareTables(ours.db, theirs.db)
    expect(differing()).to.deep.equal([])
    expect(tables).to.deep.include.members([
      { table: 'orders', rows: 2 },
      { table: 'markets', rows: 1 },
      { table: 'trades', rows: 0 },
    ])
    const names = tables.map(({ table }) => table)
    expect(names).to.deep.equal(names.toSorted())
    expect(names.filter((name) => !isFromFeeds(name) || name.startsWith('sqlite_'))).to.deep.equal(
      [],
    )
  })

  it('differ from the first row on that one of them lacks', () => {
    place(ours, 2)
    place(theirs, 3)
    for (const [left, right, side] of [
      [ours, theirs, 'ours'],
      [theirs, ours, 'theirs'],
    ] as const) {
      const found = compareTables(left.db, right.db).find(({ table }) => table === 'orders')
      expect(found?.rows).to.equal(2)
      expect(found?.parts?.[side]).to.equal('no row')
      expect(Object.values(found?.parts ?? {}).join()).to.include('order-3')
    }
  })

  it('differ from the first row on that has another value, in the order of the keys', () => {
    place(ours, 3)
    place(theirs, 3)
    theirs.db.exec('UPDATE order_progress SET updated_at_ms = 1 WHERE rank > 1')
    const [found, ...more] = differing()
    expect(more).to.deep.equal([])
    expect(found).to.deep.include({ table: 'order_progress', rows: 1 })
    expect(found?.parts?.ours).to.include('131072')
    expect(found?.parts?.theirs).to.include('131072')
  })

  it('may have other prices, which follow from command logs', () => {
    place(ours, 1)
    place(theirs, 1)
    ours.db.exec('INSERT INTO price_cursors (market_id, stream_seq) VALUES (0, 7)')
    expect(differing()).to.deep.equal([])
    const fromCommands = [
      ...['close_outs', 'funding_rates', 'liquidation_cursor', 'liquidations', 'mark_prices'],
      'price_cursors',
    ]
    expect(fromCommands.filter(isFromFeeds)).to.deep.equal([])
  })

  it('are compared as of the moment at which the live one was opened', () => {
    place(ours, 1)
    place(theirs, 1)
    const live = openLiveHistory(dirname(theirs.path))
    const second = aBlock(MARKET, [
      aChange(2, orders[1] ?? anOrder(), {
        kind: 'OrderPlaced',
        order: orders[1] ?? anOrder(),
        rank: 2,
      }),
    ])
    theirs.projection.applyBatch([{ streamSeq: 2, block: second }])
    expect(live?.streamSeq(MARKET)).to.equal(1)
    expect(live?.streamSeq('other')).to.equal(0)
    const differences = live?.compareWith(ours.db) ?? []
    expect(differences.filter(({ parts }) => parts !== undefined)).to.deep.equal([])
    expect(differences).to.deep.include({ table: 'orders', rows: 1 })
    live?.close()
  })

  it('have a live one only where there is a file of this release', () => {
    const dir = tempDir()
    expect(openLiveHistory(dir.path)).to.equal(undefined)
    dir.remove()
    theirs.db.pragma('user_version = 999')
    expect(() => openLiveHistory(dirname(theirs.path))).to.throw(UnknownSchemaVersion)
  })

  it('may be one that is folded in a directory that is removed with it', () => {
    const scratch = openScratchHistory([projectedSpot(SPOT)])
    place(scratch, 2)
    place(ours, 2)
    expect(compareTables(ours.db, scratch.db).every(({ parts }) => parts === undefined)).to.equal(
      true,
    )
    const directory = dirname(scratch.db.name)
    expect(existsSync(directory)).to.equal(true)
    scratch.remove()
    expect(existsSync(directory)).to.equal(false)
  })
})
