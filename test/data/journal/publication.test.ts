import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import type { JournalEntry } from '../../../core/transaction-journal.js'
import {
  isPublishedIn,
  JournalDiverged,
  openPublication,
  type Publication,
} from '../../../data/journal/publication.js'
import {
  createTransactionJournal,
  JOURNAL_MIGRATIONS,
} from '../../../data/journal/transaction-journal.js'
import { openDatabase } from '../../../data/open.js'
import { allRows } from '../../support/history.js'
import { blockOf, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const STREAM = 'JOURNAL'

const refused = (intentId: string, revert = 'no'): JournalEntry => ({
  ...{ kind: 'refused', intentId, fingerprint: hashOf(1), revert, atMs: 5 },
})

describe('what a journal’s file holds about its stream', () => {
  let dir: ReturnType<typeof tempDir>
  let db: Database
  beforeEach(() => {
    dir = tempDir()
    const path = `${dir.path}/executor.db`
    db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
  })
  afterEach(() => {
    db.close()
    dir.remove()
  })

  const open = (streamEnd = 99, holdsEntries = false, stream = STREAM): Publication =>
    openPublication(db, { stream, streamEnd, holdsEntries })
  const journalOn = (publication: Publication) =>
    createTransactionJournal(db, () => 5, {
      add: (entry) => publication.add(entry),
      durable: () => Promise.resolve(),
      isDurable: () => true,
    })
  const refuse = (publication: Publication, ...intentIds: string[]): void => {
    const journal = journalOn(publication)
    for (const intentId of intentIds) journal.recordRefusal(intentId, hashOf(1), 'no')
  }
  const waitingIds = (publication: Publication, after = 0, maxSize = 10_000) =>
    publication
      .waiting(after, maxSize)
      .map(({ entry }) => ('intentId' in entry ? entry.intentId : entry.kind))
  const message = (seq: number, term: number, ...entries: JournalEntry[]) => ({
    ...{ seq, message: { term, writer: 'w', entries } },
  })
  const kindOf = (intentId: string) => createTransactionJournal(db).find(intentId)?.state.kind

  it('begins with nothing, and knows its stream from then on', () => {
    expect(isPublishedIn(db, STREAM)).to.equal(false)
    const publication = open()
    expect(publication.place()).to.deep.equal({ lastSeq: 0, term: 0 })
    expect([publication.newestNo(), publication.publishedNo()]).to.deep.equal([0, 0])
    expect(publication.waiting(0, 1)).to.deep.equal([])
    expect(isPublishedIn(db, STREAM)).to.equal(true)
    expect(isPublishedIn(db, 'another')).to.equal(false)
  })

  it('keeps entries in their order until they are published, across a restart', () => {
    const publication = open()
    refuse(publication, 'm:1', 'm:2', 'm:3')
    expect(waitingIds(publication)).to.deep.equal(['m:1', 'm:2', 'm:3'])
    expect(waitingIds(publication, 1)).to.deep.equal(['m:2', 'm:3'])
    expect([publication.newestNo(), publication.publishedNo()]).to.deep.equal([3, 0])
    publication.published(2, { lastSeq: 7, term: 4 })
    const again = open()
    expect(waitingIds(again)).to.deep.equal(['m:3'])
    expect([again.newestNo(), again.publishedNo()]).to.deep.equal([3, 2])
    expect(again.place()).to.deep.equal({ lastSeq: 7, term: 4 })
    again.published(3, { lastSeq: 8, term: 4 })
    expect([again.newestNo(), again.publishedNo()]).to.deep.equal([3, 3])
  })

  it('gives entries up to a size, and one at least', () => {
    const publication = open()
    refuse(publication, 'm:1', 'm:2', 'm:3')
    const [first, second] = publication.waiting(0, 10_000)
    if (first === undefined || second === undefined) throw new Error('nothing waits')
    expect(first).to.deep.include({ no: 1, entry: refused('m:1') })
    expect(waitingIds(publication, 0, 1)).to.deep.equal(['m:1'])
    const two = first.size + second.size
    expect(waitingIds(publication, 0, two - 1)).to.deep.equal(['m:1'])
    expect(waitingIds(publication, 0, two)).to.deep.equal(['m:1', 'm:2'])
  })

  it('refuses a stream that ends before it', () => {
    open().published(0, { lastSeq: 7, term: 4 })
    expect(() => open(6)).to.throw(JournalDiverged)
    expect(open(7).place().lastSeq).to.equal(7)
  })

  describe('of an earlier release', () => {
    beforeEach(() => sign(createTransactionJournal(db), 0, 'm:1'))

    it('lets all that it holds wait, once for each stream', () => {
      expect(
        open()
          .waiting(0, 10_000)
          .map(({ entry }) => entry.kind),
      ).to.deep.equal(['signed'])
      open().published(1, { lastSeq: 7, term: 4 })
      expect(open().waiting(0, 10_000)).to.deep.equal([])
      const moved = open(99, false, 'another')
      expect(moved.waiting(0, 10_000)).to.have.length(1)
      expect(moved.place()).to.deep.equal({ lastSeq: 0, term: 0 })
    })

    it('lets it wait once where it never was published in the stream before', () => {
      open()
      expect(open(99, false, 'another').waiting(0, 10_000)).to.have.length(1)
    })

    it('is refused by a stream that holds what another process has sent', () => {
      expect(() => open(99, true)).to.throw(JournalDiverged)
      expect(isPublishedIn(db, STREAM)).to.equal(false)
    })

    it('is not discarded for what another process has sent meanwhile', () => {
      const publication = open()
      expect(() => publication.fold([message(1, 1, refused('m:9'))])).to.throw(JournalDiverged)
      expect(kindOf('m:1')).to.equal('open')
      expect(publication.place().lastSeq).to.equal(0)
    })
  })

  it('is opened without entries beside a stream that holds some', () => {
    expect(open(99, true).place()).to.deep.equal({ lastSeq: 0, term: 0 })
  })

  describe('folding its stream', () => {
    it('writes what other processes sent, and moves behind it', () => {
      const publication = open()
      const messages = [message(1, 1), message(2, 1, refused('m:1'), refused('m:2'))]
      expect(publication.fold(messages)).to.equal('folded')
      expect(publication.fold([message(3, 2, refused('m:3'))])).to.equal('folded')
      expect(['m:1', 'm:2', 'm:3'].map(kindOf)).to.deep.equal(['refused', 'refused', 'refused'])
      expect(publication.place()).to.deep.equal({ lastSeq: 3, term: 2 })
      expect(publication.newestNo()).to.equal(0)
    })

    it('lets go of its own entries whose acknowledgement was lost, and keeps the rest waiting', () => {
      const publication = open()
      refuse(publication, 'm:1', 'm:2', 'm:3')
      const own = [refused('m:1'), refused('m:2')]
      expect(publication.fold([message(1, 1), message(2, 1, ...own)])).to.equal('folded')
      expect(waitingIds(publication)).to.deep.equal(['m:3'])
      expect(publication.publishedNo()).to.equal(2)
      expect(publication.place()).to.deep.equal({ lastSeq: 2, term: 1 })
    })

    it('discards the whole file for entries of another process before its own', () => {
      const publication = open()
      expect(publication.fold([message(1, 1, refused('m:1'))])).to.equal('folded')
      refuse(publication, 'm:2')
      const others = [message(2, 2), message(3, 2, refused('m:2', 'another')), message(4, 2)]
      expect(publication.fold(others)).to.equal('discarded')
      expect(publication.place()).to.deep.equal({ lastSeq: 0, term: 0 })
      expect(publication.waiting(0, 10_000)).to.deep.equal([])
      expect(allRows(db)['intents']).to.deep.equal([])
      const all = [message(1, 1, refused('m:1')), ...others]
      expect(publication.fold(all)).to.equal('folded')
      expect(publication.place()).to.deep.equal({ lastSeq: 4, term: 2 })
      expect(createTransactionJournal(db).find('m:2')?.state).to.deep.equal({
        ...{ kind: 'refused', revert: 'another' },
      })
    })

    it('discards it too where the message has more than what waits', () => {
      const publication = open()
      refuse(publication, 'm:1')
      const longer = message(1, 1, refused('m:1'), refused('m:2'))
      expect(publication.fold([longer])).to.equal('discarded')
    })

    it('numbers reversals from 1 again in a file that was discarded', () => {
      const publication = open()
      const journal = journalOn(publication)
      const mine = (status: 'success' | 'reverted', block: number) => {
        const outcome = status === 'success' ? { status } : { status, revert: 'late' }
        return journal.recordMined(SENDER, 0, { ...blockOf(0, block), outcomes: [outcome] })
      }
      const turn = () => {
        sign(journal, 0, 'm:1')
        mine('success', 12)
        journal.reopen(SENDER, [0])
        return mine('reverted', 13).map(({ no }) => no)
      }
      expect(turn()).to.deep.equal([1])
      expect(publication.fold([message(1, 1, refused('m:9'))])).to.equal('discarded')
      expect(allRows(db)['transactions']).to.deep.equal([])
      expect(turn()).to.deep.equal([1])
    })

    it('refuses a message of a lower term, and folds nothing of its read', () => {
      const publication = open()
      const messages = [message(1, 2, refused('m:1')), message(2, 1, refused('m:2'))]
      expect(() => publication.fold(messages)).to.throw(JournalDiverged)
      expect(publication.place()).to.deep.equal({ lastSeq: 0, term: 0 })
      expect(kindOf('m:1')).to.equal(undefined)
    })
  })
})
