import { expect } from 'chai'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openReadModel, ReadModelAbsent } from '../../../data/history/read-model.js'
import { UnknownSchemaVersion } from '../../../data/open.js'
import { anOrder } from '../../support/builders.js'
import { aBlock, aChange } from '../../support/changes.js'
import { openHistory, type TestHistory } from '../../support/history.js'

const MARKET = 'cNGN-USDC'

describe('opening the read model', () => {
  let history: TestHistory
  beforeEach(() => (history = openHistory([{ market: MARKET, ordinal: 0 }])))
  afterEach(() => history.remove())

  it('says that the projector has not made the file yet', () => {
    expect(() => openReadModel(`${history.path}.none`)).to.throw(ReadModelAbsent)
  })

  it('says the same of a file whose schema is only being made', () => {
    const path = join(history.path, '..', 'young.db')
    writeFileSync(path, '')
    expect(() => openReadModel(path)).to.throw(ReadModelAbsent)
  })

  it('says the same of a damaged file, which the projector sets aside when it starts', () => {
    const path = join(history.path, '..', 'damaged.db')
    writeFileSync(path, 'no database at all, and long enough to be looked at'.repeat(40))
    expect(() => openReadModel(path)).to.throw(ReadModelAbsent, 'the projector makes it anew')
  })

  it('says the same while the projector has not run its last migrations', () => {
    const version = Number(history.db.pragma('user_version', { simple: true }))
    history.db.pragma(`user_version = ${version - 1}`)
    expect(() => openReadModel(history.path)).to.throw(ReadModelAbsent)
  })

  it('refuses a schema that this build does not know', () => {
    history.db.pragma('user_version = 999')
    expect(() => openReadModel(history.path)).to.throw(UnknownSchemaVersion, /999/)
  })

  it('does not wait for a writer and does not see what it has not committed', () => {
    const reads = openReadModel(history.path)
    try {
      history.db.exec(`BEGIN IMMEDIATE; UPDATE markets SET feed_seq = 7`)
      expect(reads.projectedSeq(MARKET)).to.equal(0)
      history.db.exec('COMMIT')
      expect(reads.projectedSeq(MARKET)).to.equal(7)
    } finally {
      reads.close()
    }
  })

  it('knows nothing of markets and orders that were never projected', () => {
    const reads = openReadModel(history.path)
    try {
      expect(reads.projectedSeq('cNGN-PERP')).to.equal(0)
      expect(reads.order('none')).to.equal(undefined)
      expect(reads.openOrders('cNGN-PERP')).to.deep.equal([])
      expect(reads.trades('cNGN-PERP', 10)).to.deep.equal([])
      expect(reads.stats24h('cNGN-PERP', 0)).to.equal(undefined)
      expect(reads.lastTradeSec('cNGN-PERP')).to.equal(undefined)
    } finally {
      reads.close()
    }
  })

  it('keeps the markets apart', () => {
    const order = anOrder()
    const change = aChange(1, order, { kind: 'OrderPlaced', order, rank: 1 }, { open: 1n })
    history.projection.applyBatch([{ streamSeq: 1, block: aBlock(MARKET, [change]) }])
    const reads = openReadModel(history.path)
    try {
      expect(reads.openOrders(MARKET)).to.have.length(1)
      expect(reads.openOrders('cNGN-PERP')).to.deep.equal([])
    } finally {
      reads.close()
    }
  })
})
