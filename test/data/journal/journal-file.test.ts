import Sqlite, { type Database } from 'better-sqlite3'
import { expect } from 'chai'
import { copyFileSync, writeFileSync } from 'node:fs'
import type { JournalEntry, JournalMessage } from '../../../core/transaction-journal.js'
import {
  JournalDiverged,
  JournalTooOld,
  JournalUnwritable,
  openFoldedFile,
  openJournalFile,
  type FoldedFile,
} from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { DamagedDatabase, UnknownSchemaVersion } from '../../../data/open.js'
import { allRows } from '../../support/history.js'
import { blockOf, hashOf, SENDER } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const STREAM = 'JOURNAL'

const refused = (intentId: string, revert = 'no'): JournalEntry => ({
  kind: 'refused',
  intentId,
  fingerprint: hashOf(1),
  revert,
  atMs: 5,
})
const signed = (evmNonce: number, intentId: string): JournalEntry => ({
  kind: 'signed',
  from: SENDER,
  evmNonce,
  atMs: 5,
  intents: [{ intentId, fingerprint: hashOf(1) }],
  attempt: { hash: hashOf(evmNonce + 100), raw: '0x02', gasLimit: 5n, maxFeePerGas: 7n },
})
const mined = (evmNonce: number, status: 'success' | 'reverted', block: number): JournalEntry => {
  const outcome = status === 'success' ? { status } : { status, revert: 'late' }
  const result = { ...blockOf(evmNonce, block), outcomes: [outcome] }
  return { kind: 'mined', from: SENDER, evmNonce, result, atMs: 5 }
}
const message = (seq: number, term: number, ...entries: JournalEntry[]) => ({
  seq,
  message: { term, writer: 'w', entries },
})
const place = (lastSeq: number, term = 1, writer = 'w') => ({ lastSeq, term, writer })

describe('the file of a journal, as the fold of its stream', () => {
  let dir: ReturnType<typeof tempDir>
  let db: Database
  beforeEach(() => {
    dir = tempDir()
    db = openJournalFile(`${dir.path}/executor.db`)
  })
  afterEach(() => {
    db.close()
    dir.remove()
  })

  const open = (streamEnd = 99, found: Partial<JournalMessage> = {}, stream = STREAM) => {
    const messageAt = () => Promise.resolve({ term: 1, writer: 'w', entries: [], ...found })
    return openFoldedFile(db, { stream, streamEnd, messageAt })
  }
  const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
    opening.then(
      () => undefined,
      (error: unknown) => error,
    )
  const kindOf = (intentId: string, file = db) =>
    createTransactionJournal(file).find(intentId)?.state.kind
  /** What a process that starts now would find on the disk. */
  function onDisk<T>(read: (file: Database) => T): T {
    for (const end of ['', '-wal'])
      copyFileSync(`${dir.path}/executor.db${end}`, `${dir.path}/copy.db${end}`)
    const copy = openJournalFile(`${dir.path}/copy.db`)
    try {
      return read(copy)
    } finally {
      copy.close()
    }
  }

  it('begins at its stream’s beginning, and is refused by any other stream', async () => {
    expect((await open()).place()).to.deep.equal({ lastSeq: 0, term: 0, writer: '' })
    expect(await failureOf(open(99, {}, 'another'))).to.be.instanceOf(JournalDiverged)
  })

  it('refuses a stream that ends before it, or holds another message in its place', async () => {
    const file = await open()
    file.commit([], place(7, 4), [])
    expect(await failureOf(open(6))).to.be.instanceOf(JournalDiverged)
    expect(await failureOf(open(7, { term: 5 }))).to.be.instanceOf(JournalDiverged)
    expect(await failureOf(open(7, { term: 4, writer: 'x' }))).to.be.instanceOf(JournalDiverged)
    expect((await open(7, { term: 4 })).place()).to.deep.equal(place(7, 4))
    const trimmed = { stream: STREAM, streamEnd: 9, messageAt: () => Promise.resolve(undefined) }
    expect((await openFoldedFile(db, trimmed)).place()).to.deep.equal(place(7, 4))
  })

  it('folds what others sent, and moves behind it', async () => {
    const file = await open()
    file.fold([message(1, 1), message(2, 1, refused('m:1'), refused('m:2'))])
    file.fold([message(3, 2, refused('m:3'))])
    expect(['m:1', 'm:2', 'm:3'].map((id) => kindOf(id))).to.deep.equal(Array(3).fill('refused'))
    expect(file.place()).to.deep.equal(place(3, 2))
  })

  it('refuses a message of a lower term, and folds nothing of its read', async () => {
    const file = await open()
    const messages = [message(1, 2, refused('m:1')), message(2, 1, refused('m:2'))]
    expect(() => file.fold(messages)).to.throw(JournalDiverged)
    expect(file.place().lastSeq).to.equal(0)
    expect(kindOf('m:1')).to.equal(undefined)
  })

  describe('with entries that its stream may lack', () => {
    let file: FoldedFile
    beforeEach(async () => (file = await open()))

    it('lets its process read them at once, and no disk hold them before their message', () => {
      file.apply(refused('m:1'))
      expect(kindOf('m:1')).to.equal('refused')
      expect(onDisk((copy) => kindOf('m:1', copy))).to.equal(undefined)
      file.commit([refused('m:1')], place(1), [])
      expect(onDisk((copy) => kindOf('m:1', copy))).to.equal('refused')
      expect(file.place()).to.deep.equal(place(1))
    })

    it('commits those of a message alone, and reads those behind them on', () => {
      const first = signed(0, 'm:1')
      const second = mined(0, 'success', 12)
      const third = refused('m:3')
      for (const entry of [first, second, third]) file.apply(entry)
      file.commit([first], place(1), [second, third])
      const kinds = (from = db) => ['m:1', 'm:3'].map((id) => kindOf(id, from))
      expect(kinds()).to.deep.equal(['mined', 'refused'])
      expect(onDisk((copy) => kinds(copy))).to.deep.equal(['open', undefined])
      file.commit([second, third], place(2), [])
      expect(onDisk((copy) => kinds(copy))).to.deep.equal(['mined', 'refused'])
    })

    it('numbers a reversal alike when it is applied again behind a message', () => {
      const before = [signed(0, 'm:1'), mined(0, 'success', 12)]
      const reopened = { kind: 'reopened', from: SENDER, evmNonces: [0] } as const
      const turned = mined(0, 'reverted', 13)
      for (const entry of [...before, reopened]) file.apply(entry)
      expect(file.apply(turned).map(({ no }) => no)).to.deep.equal([1])
      file.commit(before, place(1), [reopened, turned])
      file.commit([reopened, turned], place(2), [])
      const reversals = createTransactionJournal(db).reversalsAfter(0, 9)
      expect(reversals.map(({ no, now }) => [no, now.status])).to.deep.equal([[1, 'reverted']])
    })

    it('has the same rows as one that only folded', async () => {
      const entries = [signed(0, 'm:1'), refused('m:2'), mined(0, 'success', 12)]
      entries.forEach((entry) => file.apply(entry))
      file.commit(entries.slice(0, 2), place(1), entries.slice(2))
      file.commit(entries.slice(2), place(2), [])
      const rows = allRows(db)
      db.close()
      db = openJournalFile(`${dir.path}/other.db`)
      const other = await open()
      other.fold([message(1, 1, ...entries.slice(0, 2)), message(2, 1, ...entries.slice(2))])
      expect(allRows(db)).to.deep.equal(rows)
    })

    it('forgets them, and holds nothing of an entry that breaks a rule', () => {
      file.apply(refused('m:1'))
      expect(() => file.apply(refused('m:1'))).to.throw('taken already')
      expect(kindOf('m:1')).to.equal('refused')
      file.forget()
      file.forget()
      expect(kindOf('m:1')).to.equal(undefined)
      file.apply(refused('m:1', 'another'))
      file.commit([refused('m:1', 'another')], place(1), [])
      expect(createTransactionJournal(db).find('m:1')?.state).to.deep.equal({
        kind: 'refused',
        revert: 'another',
      })
    })

    const fillDisk = (): void =>
      void db.pragma(`max_page_count = ${String(db.pragma('page_count', { simple: true }))}`)
    const long = refused('m:9', 'x'.repeat(100_000))

    it('says so when the disk refuses, and goes on with what there is room for', () => {
      fillDisk()
      expect(() => file.apply(long)).to.throw(JournalUnwritable)
      file.apply(refused('m:1'))
      file.commit([refused('m:1')], place(1), [])
      expect([kindOf('m:1'), kindOf('m:9')]).to.deep.equal(['refused', undefined])
    })

    it('goes on no more once the disk has taken back what was recorded before', () => {
      file.apply(refused('m:1'))
      fillDisk()
      expect(() => file.apply(long)).to.throw(JournalUnwritable)
      expect(() => file.apply(refused('m:3'))).to.throw(JournalUnwritable)
      expect(() => file.commit([refused('m:1')], place(1), [])).to.throw(JournalUnwritable)
      expect(file.place().lastSeq).to.equal(0)
    })
  })

  it('is set aside and begun anew where it is damaged and its process can fold it again', () => {
    const path = `${dir.path}/damaged.db`
    writeFileSync(path, 'no database, and long enough to be looked at by SQLite'.repeat(40))
    expect(() => openJournalFile(path)).to.throw(DamagedDatabase, path)
    const told: string[] = []
    openJournalFile(path, { onSetAside: (line) => told.push(line) }).close()
    expect(told).to.have.length(1)
    openJournalFile(path).close()
  })

  it('is refused in one sentence where release 0.2.0 wrote it', () => {
    const path = `${dir.path}/old.db`
    const old = new Sqlite(path)
    old.exec('CREATE TABLE intents (a); CREATE TABLE attempts (a); PRAGMA user_version = 2')
    old.close()
    expect(() => openJournalFile(path)).to.throw(JournalTooOld, 'release 0.2.0')
    expect(() => openJournalFile(path, { readonly: true })).to.throw(JournalTooOld)
    db.pragma('user_version = 99')
    expect(() => openJournalFile(`${dir.path}/executor.db`)).to.throw(UnknownSchemaVersion)
  })
})
