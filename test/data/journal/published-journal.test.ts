import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import { journalStream } from '../../../bus-schemas/subjects.js'
import { CannotStart } from '../../../core/cannot-start.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import {
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import {
  JOURNAL_FILES,
  JournalDiverged,
  openJournalFile,
} from '../../../data/journal/journal-file.js'
import { openRestoredJournals } from '../../../data/journal/restored-journal.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import { BusUnavailable } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { blockOf, fill, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const OWNER = 'deposit-submitter'
const STREAM = journalStream(OWNER)
const TABLES = ['intents', 'transactions', 'transaction_intents', 'attempts', 'reversals']
const SILENCE_MS = 60

describe('a journal on the bus', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  const opened: { db: Database; published?: PublishedJournal; bus: MemoryBus }[] = []

  beforeEach(() => {
    dir = tempDir()
    bus = createMemoryBus()
  })
  afterEach(async () => {
    for (const { db, published, bus: line } of opened.splice(0)) {
      await published?.stop()
      await line.close()
      db.close()
    }
    dir.remove()
  })

  const pathOf = (name: string) => join(dir.path, `${name}.db`)
  const openFile = (name: string): Database => openJournalFile(pathOf(name))

  interface Process {
    readonly db: Database
    readonly published: PublishedJournal
    readonly journal: TransactionJournal
    readonly fatal: unknown[]
    readonly stop: () => Promise<void>
  }

  async function open(
    name: string,
    onStandby: () => void = () => undefined,
    line: MemoryBus = bus.connect(),
  ): Promise<Process> {
    const fatal: unknown[] = []
    const one = { db: openFile(name), bus: line }
    opened.push(one)
    const ignore = (): void => undefined
    const published = await openPublishedJournal({
      ...one,
      owner: OWNER,
      silenceMs: SILENCE_MS,
      nowMs: () => 1_760_000_000_000,
      facts: {
        standingBy: onStandby,
        leads: ignore,
        journalUnclear: ignore,
        versionRaised: ignore,
        trimmed: ignore,
      },
      onFatal: (error) => fatal.push(error),
    })
    Object.assign(one, { published })
    const stop = async (): Promise<void> => {
      opened.splice(opened.indexOf(one), 1)
      await published.stop()
      await one.bus.close()
      one.db.close()
    }
    return { db: one.db, published, journal: published.journal, fatal, stop }
  }

  const remove = (name: string): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${pathOf(name)}${end}`, { force: true })
  }
  const rowsOf = (db: Database) =>
    Object.fromEntries(TABLES.map((table) => [table, db.prepare(`SELECT * FROM ${table}`).all()]))

  async function messages() {
    const { lastSeq } = await bus.streamState(STREAM)
    return (await bus.read(STREAM, 1, lastSeq + 1)).map(({ data }) => decodeJournal(data))
  }

  it('gives a deleted file back, row for row', async () => {
    const first = await open('a')
    fill(first.journal)
    await first.journal.durable()
    const before = rowsOf(first.db)
    await first.stop()
    remove('a')
    const again = await open('a')
    expect(rowsOf(again.db)).to.deep.equal(before)
    expect(again.journal.reversalsAfter(0, 10)).to.have.length(2)
    expect(again.journal.nextNonce(SENDER)).to.equal(8)
    expect(again.published.term).to.equal(first.published.term + 1)
  })

  it('appends what one turn records as one message', async () => {
    const { journal } = await open('a')
    fill(journal)
    await journal.durable()
    const sizes = (await messages()).map(({ entries }) => entries.length)
    expect(sizes).to.deep.equal([0, 14])
  })

  it('holds a transaction back while the bus does not answer', async () => {
    const { journal, published } = await open('a')
    const release = bus.holdAppendAcks()
    sign(journal, 0, 'm:1')
    expect(journal.isDurable(hashOf(100))).to.equal(false)
    let durable = false
    void journal.durable().then(() => (durable = true))
    await eventually(async () => (await bus.streamState(STREAM)).lastSeq === 2)
    expect(durable).to.equal(false)
    release()
    await eventually(() => durable)
    expect(journal.isDurable(hashOf(100))).to.equal(true)
    expect(published.trouble()).to.equal(undefined)
  })

  it('appends nothing twice when an acknowledgement is lost', async () => {
    const { journal } = await open('a')
    bus.failNextAppendAck()
    sign(journal, 0, 'm:1')
    await journal.durable()
    sign(journal, 1, 'm:2')
    await journal.durable()
    const entries = (await messages()).flatMap((message) => message.entries)
    expect(entries.map(({ kind }) => kind)).to.deep.equal(['signed', 'signed'])
  })

  it('goes on from an older copy of its file, row for row', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:0')
    await first.journal.durable()
    const older = first.db.serialize()
    fill(first.journal)
    await first.journal.durable()
    const before = rowsOf(first.db)
    await first.stop()
    remove('a')
    writeFileSync(pathOf('a'), older)
    expect(rowsOf((await open('a')).db)).to.deep.equal(before)
  })

  describe('that a restore has put back', () => {
    const FILE = JOURNAL_FILES[OWNER]
    const NAME = FILE.slice(0, -'.db'.length)
    const foreign = { sender: SENDER, evmNonce: 9, by: blockOf(9, 14) }

    async function recordForeign(): Promise<void> {
      const restoring = bus.connect()
      const journals = await openRestoredJournals(dir.path, restoring)
      await journals.recordForeign(FILE, foreign)
      await journals.close()
      await restoring.close()
    }

    it('keeps the foreign nonce, also without its file, and beside a file copied before an append', async () => {
      const first = await open(NAME)
      const copied = first.db.serialize()
      sign(first.journal, 0, 'm:1')
      sign(first.journal, 1, 'm:2')
      await first.journal.durable()
      await first.stop()
      expect((await messages()).at(-1)?.entries).to.have.length(2)
      remove(NAME)
      writeFileSync(pathOf(NAME), copied)
      await recordForeign()
      const { journal, stop } = await open(NAME)
      expect(journal.nextNonce(SENDER)).to.equal(10)
      expect(journal.find('m:2')?.state.kind).to.equal('open')
      await stop()
      remove(NAME)
      const rebuilt = await open(NAME)
      expect(rebuilt.journal.nextNonce(SENDER)).to.equal(10)
      expect(rebuilt.journal.find('m:2')?.state.kind).to.equal('open')
    })

    it('is refused while its process runs', async () => {
      await open(NAME)
      const failure: unknown = await recordForeign().catch((error: unknown) => error)
      expect(failure).to.be.instanceOf(CannotStart)
    })
  })

  describe('with a second process of the same key', () => {
    it('lets it stand by and take over, and deposes the first', async () => {
      const first = await open('a')
      sign(first.journal, 0, 'm:1')
      await first.journal.durable()
      let standingBy = false
      const becoming = open('b', () => (standingBy = true))
      await eventually(() => standingBy)
      sign(first.journal, 1, 'm:2')
      await first.journal.durable()
      // The first is cut off, and goes on as if nothing had happened.
      opened[0]?.bus.setConnected(false)
      const second = await becoming
      expect(second.published.term).to.equal(2)
      expect(second.journal.nextNonce(SENDER)).to.equal(2)
      sign(second.journal, 2, 'm:3')
      await second.journal.durable()

      opened[0]?.bus.setConnected(true)
      await eventually(() => first.fatal.length > 0)
      expect(first.fatal[0]).to.be.instanceOf(Fenced)
      sign(first.journal, 2, 'm:9')
      await eventually(() => first.fatal.length > 1)
      expect(first.fatal[1]).to.be.instanceOf(Fenced)
      expect(first.journal.isDurable(hashOf(102))).to.equal(false)

      // What it could not append was never broadcast, and is in no file.
      await first.stop()
      await second.stop()
      const again = await open('a')
      expect(again.journal.find('m:9')).to.equal(undefined)
      expect(again.journal.find('m:3')?.state.kind).to.equal('open')
    })

    it('lets it take over once the bus, which lost its leader with the first, answers', async () => {
      const first = await open('a')
      sign(first.journal, 0, 'm:1')
      await first.journal.durable()
      await first.stop()
      const line = bus.connect()
      let refusals = 3
      const read: MemoryBus['read'] = async (...range) => {
        refusals -= 1
        if (refusals >= 0) throw new BusUnavailable('its stream has no leader')
        return bus.read(...range)
      }
      const second = await open('a', undefined, Object.assign(line, { read }))
      expect(second.published.term).to.equal(2)
      expect(second.journal.nextNonce(SENDER)).to.equal(1)
    })

    it('keeps it standing by while the first answers', async () => {
      const first = await open('a')
      let led = false
      const becoming = open('b').then((process) => {
        led = true
        return process
      })
      for (let evmNonce = 0; evmNonce < 3; evmNonce += 1) {
        sign(first.journal, evmNonce, `m:${evmNonce}`)
        await first.journal.durable()
        await new Promise((resolve) => setTimeout(resolve, 2 * SILENCE_MS))
      }
      expect(led).to.equal(false)
      await first.stop()
      expect((await becoming).journal.nextNonce(SENDER)).to.equal(3)
    })
  })

  it('refuses a stream that ends before the file', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    sign(first.journal, 1, 'm:2')
    await first.journal.durable()
    await first.stop()
    bus = createMemoryBus()
    const failure: unknown = await open('a').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
  })

  it('refuses a stream that was taken back and went on differently', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    await first.stop()
    bus = createMemoryBus()
    const other = await open('b')
    sign(other.journal, 0, 'm:2')
    await other.journal.durable()
    await other.stop()
    const failure: unknown = await open('a').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
  })

  it('refuses the file of another process', async () => {
    await (await open('a')).stop()
    const db = openFile('a')
    const opening = openPublishedJournal({
      db,
      bus,
      owner: 'executor',
      silenceMs: SILENCE_MS,
      facts: {
        standingBy: () => undefined,
        leads: () => undefined,
        journalUnclear: () => undefined,
        versionRaised: () => undefined,
        trimmed: () => undefined,
      },
      onFatal: (error) => expect.fail(String(error)),
    })
    const failure: unknown = await opening.catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
    db.close()
  })
})
