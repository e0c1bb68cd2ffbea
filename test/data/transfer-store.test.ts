import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import type { Address, Hex } from '../../core/action.js'
import { InvariantBroken } from '../../core/assert.js'
import type { TransferRecord } from '../../core/transfer.js'
import { createGasSpent } from '../../data/gas-spent.js'
import { openDatabase } from '../../data/open.js'
import {
  createRequestCounts,
  createTransferStore,
  TRANSFER_MIGRATIONS,
  type TransferStore,
} from '../../data/transfer-store.js'
import { tempDir } from '../support/temp-dir.js'
import { anUnsentTransfer } from '../support/transfer-bodies.js'

const NOW_MS = 1_800_000_000_000
const MINUTE_MS = 60_000
const hash = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const ANOTHER: Address = `0x${'99'.repeat(20)}`

describe('the store of transfers', () => {
  const directory = tempDir()
  const path = join(directory.path, 'transfers.db')
  let db: Database
  let store: TransferStore
  const open = (): void => {
    db = openDatabase({ path, migrations: TRANSFER_MIGRATIONS, synchronous: 'FULL' })
    store = createTransferStore(db)
  }
  beforeEach(() => {
    open()
    for (const table of ['transfers', 'outbox', 'requests', 'gas_spent']) {
      db.exec(`DELETE FROM ${table}`)
    }
    db.exec('UPDATE journal_term SET term = 0')
  })
  afterEach(() => db.close())
  after(() => directory.remove())

  const aRecord = (n: number, changes: Partial<TransferRecord> = {}): TransferRecord =>
    anUnsentTransfer({ actionHash: hash(n), ...changes })
  const claimed = (n: number, changes: Partial<TransferRecord> = {}): TransferRecord => {
    const record = aRecord(n, changes)
    expect(store.mayClaim(record)).to.equal(true)
    store.add(record, `request ${n}`)
    return record
  }
  const steps = () => store.outbox(100).map(({ record }) => [record.actionHash, record.status])

  it('gives an action away once, and an owner one place', () => {
    const record = claimed(1)
    expect(store.mayClaim(record)).to.equal(false)
    expect(() => store.add(record, 'again')).to.throw(InvariantBroken)
    expect(store.mayClaim(aRecord(2))).to.equal(false)
    expect(store.find(hash(1))).to.deep.equal({ record, request: 'request 1' })
    expect(store.find(hash(2))).to.equal(undefined)
    claimed(3, { owner: ANOTHER })
    expect(steps()).to.deep.equal([
      [hash(1), 'pending'],
      [hash(3), 'pending'],
    ])
  })

  it('frees the place when the transfer is over or its fate not known', () => {
    for (const [n, status] of (
      ['confirmed', 'reverted', 'rejected', 'unknown'] as const
    ).entries()) {
      const record = claimed(n)
      expect(store.othersInProgress(record.owner, hash(99))).to.equal(true)
      expect(store.othersInProgress(record.owner, hash(n))).to.equal(false)
      store.update({ ...record, status })
      expect(store.othersInProgress(record.owner, hash(99)), status).to.equal(false)
    }
  })

  it('gives a rejected action away again, with its new request', () => {
    const record = claimed(1)
    store.update({ ...record, status: 'rejected', error: 'no' })
    expect(store.mayClaim(record)).to.equal(true)
    store.add(record, 'with a permit')
    expect(store.find(hash(1))).to.deep.equal({ record, request: 'with a permit' })
  })

  it('leaves the place to its holder when the chain brings another transfer back', () => {
    const first = claimed(1)
    store.update({ ...first, status: 'unknown' })
    const second = claimed(2)
    store.update({ ...first, status: 'submitted' })
    expect(store.find(hash(1))?.record.status).to.equal('submitted')
    store.update({ ...second, status: 'confirmed' })
    expect(store.unsettled().map(({ record }) => record.actionHash)).to.deep.equal([hash(1)])
  })

  it('keeps when a transfer was first submitted', () => {
    const record = claimed(1)
    store.update({ ...record, status: 'submitted' }, { submittedAtMs: NOW_MS })
    store.update(
      { ...record, status: 'confirmed' },
      { submittedAtMs: NOW_MS + 5, blockHash: hash(7) },
    )
    expect(store.submittedAfter(record.owner, NOW_MS - 1, hash(9))).to.deep.equal([NOW_MS])
    expect(store.submittedAfter(record.owner, NOW_MS, hash(9))).to.deep.equal([])
    expect(store.submittedAfter(record.owner, NOW_MS - 1, hash(1))).to.deep.equal([])
    expect(store.find(hash(1))?.blockHash).to.equal(hash(7))
  })

  it('has each step in its outbox until it is published, across a restart', () => {
    const record = claimed(1)
    store.update(record)
    store.update({ ...record, status: 'submitted' })
    db.close()
    open()
    const [first, second, ...more] = store.outbox(100)
    expect([first?.record.status, second?.record.status]).to.deep.equal(['pending', 'submitted'])
    expect(more).to.deep.equal([])
    store.markPublished(first?.no ?? 0)
    expect(store.outbox(100)).to.deep.equal([second])
  })

  it('does not know a record that was never claimed', () => {
    expect(() => store.update(aRecord(5))).to.throw(InvariantBroken)
  })

  describe('a record that another file had', () => {
    it('is kept as it stands, with a step and the time of its first signature', () => {
      const record = aRecord(1, { status: 'confirmed' })
      store.add(record, 'request', NOW_MS)
      store.add(aRecord(2, { status: 'pending' }), 'request 2')
      expect(store.find(hash(1))).to.deep.equal({ record, request: 'request' })
      expect(store.submittedAfter(record.owner, 0, hash(9))).to.deep.equal([NOW_MS])
      expect(steps()).to.deep.equal([
        [hash(1), 'confirmed'],
        [hash(2), 'pending'],
      ])
    })

    it('takes its owner’s place while it is in progress, when that is free', () => {
      store.add(aRecord(1, { status: 'confirmed' }), 'over')
      expect(store.othersInProgress(aRecord(1).owner, hash(9))).to.equal(false)
      store.add(aRecord(2, { status: 'submitted' }), 'first')
      expect(store.othersInProgress(aRecord(1).owner, hash(9))).to.equal(true)
      store.add(aRecord(3, { status: 'pending' }), 'second')
      expect(store.othersInProgress(aRecord(1).owner, hash(2))).to.equal(false)
      store.add(aRecord(4, { status: 'pending', owner: ANOTHER }), 'of another')
      expect(store.othersInProgress(ANOTHER, hash(9))).to.equal(true)
    })
  })

  it('follows its journal up to a place, with all changes of that step or none', () => {
    expect(store.journalPlace()).to.deep.equal({ term: 0, claimNo: 0 })
    const place = { term: 3, claimNo: 2 }
    store.followJournal(place, () => store.add(aRecord(1, { status: 'confirmed' }), 'request'))
    expect(store.journalPlace()).to.deep.equal(place)
    expect(store.find(hash(1))?.record.status).to.equal('confirmed')
    const broken = (): void => {
      store.add(aRecord(2, { status: 'confirmed' }), 'request')
      throw new Error('no such luck')
    }
    expect(() => store.followJournal({ term: 4, claimNo: 3 }, broken)).to.throw('no such luck')
    expect(store.journalPlace()).to.deep.equal(place)
    expect(store.find(hash(2))).to.equal(undefined)
  })

  it('counts requests of the last minute, each sort by itself', () => {
    const owners = createRequestCounts(db, 'owner')
    const clients = createRequestCounts(db, 'client')
    owners.count('a', NOW_MS)
    owners.count('a', NOW_MS + 10)
    clients.count('a', NOW_MS + 20)
    expect(owners.within('a', NOW_MS + 30)).to.deep.equal([NOW_MS, NOW_MS + 10])
    expect(owners.within('b', NOW_MS + 30)).to.deep.equal([])
    expect(clients.within('a', NOW_MS + 30)).to.deep.equal([NOW_MS + 20])
    expect(owners.within('a', NOW_MS + MINUTE_MS)).to.deep.equal([NOW_MS + 10])
    owners.count('b', NOW_MS + 2 * MINUTE_MS)
    expect(db.prepare('SELECT count(*) FROM requests').pluck().get()).to.equal(1n)
  })

  it('adds up the gas of an hour, each transaction once', () => {
    const spent = createGasSpent(db)
    spent.record(hash(1), 10n ** 20n, NOW_MS)
    spent.record(hash(1), 10n ** 20n, NOW_MS + 1)
    spent.record(hash(2), 5n, NOW_MS + 30 * MINUTE_MS)
    expect(spent.withinHour(NOW_MS + 30 * MINUTE_MS)).to.equal(10n ** 20n + 5n)
    expect(spent.withinHour(NOW_MS + 60 * MINUTE_MS)).to.equal(5n)
  })
})
