import { expect } from 'chai'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { journalStream, journalSubject } from '../../../bus-schemas/subjects.js'
import type { Address } from '../../../core/action.js'
import { InvariantBroken } from '../../../core/assert.js'
import type { JournalOwner, TransactionJournal } from '../../../core/transaction-journal.js'
import {
  openPublishedJournal,
  type JournalObserver,
} from '../../../data/journal/published-journal.js'
import { countUnsettled, openJournalReader } from '../../../data/journal/read-journal.js'
import {
  journalFiles,
  journalSenders,
  marketIntents,
  openRestoredJournals,
} from '../../../data/journal/restored-journal.js'
import {
  JOURNAL_FILES,
  JournalDiverged,
  openJournalFile,
} from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { blockOf, fill, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const nothing = (): void => undefined
const NO_FACTS: JournalObserver = {
  standingBy: nothing,
  leads: nothing,
  journalUnclear: nothing,
  versionRaised: nothing,
  trimmed: nothing,
}
const OTHER: Address = `0x${'cd'.repeat(20)}`

describe('the journal files of a venue at rest', () => {
  let dir: ReturnType<typeof tempDir>
  beforeEach(() => (dir = tempDir()))
  afterEach(() => dir.remove())

  const pathOf = (owner: JournalOwner) => join(dir.path, JOURNAL_FILES[owner])
  const openFile = (owner: JournalOwner) => openJournalFile(pathOf(owner))
  const write = (owner: JournalOwner, record: (journal: TransactionJournal) => void): void => {
    const db = openFile(owner)
    record(createTransactionJournal(db))
    db.close()
  }

  it('are those of the venue’s processes that are there', () => {
    expect(journalFiles(dir.path)).to.deep.equal([])
    write('withdrawal-submitter', nothing)
    write('executor', nothing)
    expect(journalFiles(dir.path)).to.deep.equal(['executor.db', 'withdrawal-transactions.db'])
  })

  it('tell each key that has sent, with the nonce behind its last one', () => {
    write('executor', nothing)
    expect(journalSenders(pathOf('executor'))).to.deep.equal([])
    write('executor', (journal) => {
      fill(journal)
      journal.recordForeign(OTHER, 0, blockOf(1, 14))
    })
    expect(journalSenders(pathOf('executor'))).to.have.deep.members([
      { sender: SENDER, next: 8 },
      { sender: OTHER, next: 1 },
    ])
  })

  it('tell the intents of a market, and not those of one whose name begins alike', () => {
    expect(marketIntents(dir.path, 'm')).to.deep.equal([])
    write('executor', (journal) => {
      sign(journal, 0, 'm:1', 'm:2', 'm2:1', 'm')
      sign(journal, 1, 'm:1 life 2')
    })
    expect(marketIntents(dir.path, 'm')).to.have.members(['m:1', 'm:2', 'm:1 life 2'])
    expect(marketIntents(dir.path, 'm2')).to.deep.equal(['m2:1'])
  })

  it('tell how many transactions of a key are not final', () => {
    expect(countUnsettled(pathOf('executor'), SENDER)).to.equal(0)
    write('executor', fill)
    expect(countUnsettled(pathOf('executor'), SENDER)).to.equal(2)
    expect(countUnsettled(pathOf('executor'), OTHER)).to.equal(0)
  })

  it('tell a settlement that two nonces could execute', () => {
    write('executor', (journal) => sign(journal, 0, 'm:1', 'm:2'))
    const db = openFile('executor')
    sign(createTransactionJournal(db), 1, 'm:3')
    // The index keeps it from happening.
    db.exec('DROP INDEX transaction_intents_standing')
    db.exec(`INSERT INTO transaction_intents (sender, evm_nonce, position, intent_id)
      SELECT sender, 1, 1, 'm:1' FROM transactions WHERE evm_nonce = 1`)
    db.close()
    const reader = openJournalReader(dir.path)
    expect(reader?.doubled()).to.deep.equal(['m:1'])
    reader?.close()
  })

  describe('with their streams', () => {
    let bus: MemoryBus
    beforeEach(() => (bus = createMemoryBus()))
    afterEach(() => bus.close())

    const others: ReturnType<typeof tempDir>[] = []
    afterEach(() => others.splice(0).forEach((other) => other.remove()))

    /** Leaves entries in the stream of a process whose file is lost. */
    async function publish(owner: JournalOwner): Promise<void> {
      const other = tempDir()
      others.push(other)
      const path = join(other.path, JOURNAL_FILES[owner])
      const db = openJournalFile(path)
      const published = await openPublishedJournal({
        db,
        bus,
        owner,
        facts: NO_FACTS,
        onFatal: (error) => expect.fail(String(error)),
      })
      sign(published.journal, 0, 'm:1')
      await published.journal.durable()
      await published.stop()
      db.close()
    }

    const foreign = { sender: OTHER, evmNonce: 3, by: blockOf(3, 14) }

    it('are opened where either is there, and no other is made', async () => {
      write('deposit-submitter', nothing)
      const journals = await openRestoredJournals(dir.path, bus)
      await journals.recordForeign(JOURNAL_FILES['deposit-submitter'], foreign)
      const refused: unknown = await journals
        .recordForeign(JOURNAL_FILES.executor, foreign)
        .catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(InvariantBroken)
      await journals.close()
      expect(journalFiles(dir.path)).to.deep.equal([JOURNAL_FILES['deposit-submitter']])
      expect(existsSync(pathOf('executor'))).to.equal(false)
      expect(journalSenders(pathOf('deposit-submitter'))).to.deep.equal([
        { sender: OTHER, next: 4 },
      ])
    })

    it('are none where a stream has nothing, and are not guessed at without the bus', async () => {
      const subject = journalSubject('executor')
      await bus.declareStream({ stream: journalStream('executor'), subject, description: 'test' })
      await (await openRestoredJournals(dir.path, bus)).close()
      expect(journalFiles(dir.path)).to.deep.equal([])
      const line = bus.connect()
      line.setConnected(false)
      const refused: unknown = await openRestoredJournals(dir.path, line).catch(
        (error: unknown) => error,
      )
      expect(refused).to.be.instanceOf(BusUnavailable)
    })

    it('give a lost file back', async () => {
      await publish('executor')
      const journals = await openRestoredJournals(dir.path, bus)
      await journals.recordForeign(JOURNAL_FILES.executor, foreign)
      await journals.close()
      expect(journalFiles(dir.path)).to.deep.equal([JOURNAL_FILES.executor])
      expect(journalSenders(pathOf('executor'))).to.have.deep.members([
        { sender: SENDER, next: 1 },
        { sender: OTHER, next: 4 },
      ])
    })

    it('are all closed when one of them does not belong to its stream', async () => {
      await publish('executor')
      write('withdrawal-submitter', nothing)
      const file = openFile('withdrawal-submitter')
      const stream = journalStream('withdrawal-submitter')
      file.prepare(`INSERT INTO place VALUES (1, ?, 7, 1, 'w')`).run(stream)
      file.close()
      const refused: unknown = await openRestoredJournals(dir.path, bus).catch(
        (error: unknown) => error,
      )
      expect(refused).to.be.instanceOf(JournalDiverged)
      rmSync(pathOf('withdrawal-submitter'))
      // No process answers for the one that had been opened.
      await (await openRestoredJournals(dir.path, bus)).close()
    })

    it('fail with the bus on which a record cannot be published', async () => {
      write('executor', nothing)
      const line = bus.connect()
      const journals = await openRestoredJournals(dir.path, line)
      line.append = () => Promise.reject(new Error('not allowed'))
      const failed: unknown = await journals
        .recordForeign(JOURNAL_FILES.executor, foreign)
        .catch((error: unknown) => error)
      expect(failed).to.be.instanceOf(Error).with.property('message', 'not allowed')
      await journals.close()
    })
  })
})
