import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import { journalStream } from '../../../bus-schemas/subjects.js'
import { CannotStart } from '../../../core/cannot-start.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import { JournalDiverged } from '../../../data/journal/publication.js'
import {
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import { Deposed } from '../../../data/journal/publisher.js'
import {
  createTransactionJournal,
  JOURNAL_FILES,
  JOURNAL_MIGRATIONS,
} from '../../../data/journal/transaction-journal.js'
import { openRestoredJournals } from '../../../data/journal/restored-journal.js'
import { openDatabase } from '../../../data/open.js'
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
  function openFile(name: string): Database {
    const file = {
      path: pathOf(name),
      migrations: JOURNAL_MIGRATIONS,
      synchronous: 'FULL',
    } as const
    return openDatabase(file)
  }

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
      ...{ ...one, owner: OWNER, silenceMs: SILENCE_MS, nowMs: () => 1_760_000_000_000 },
      facts: {
        ...{ standingBy: onStandby, leads: ignore, journalDiscarded: ignore },
        ...{ journalUnclear: ignore, versionRaised: ignore },
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
  const waitingIn = (db: Database) => db.prepare('SELECT count(*) FROM outbox').pluck().get()

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

  it('publishes the file of an earlier release once, with the same rows', async () => {
    const db = openFile('old')
    fill(createTransactionJournal(db, () => 1_760_000_000_000))
    const before = rowsOf(db)
    db.close()
    await (await open('old')).stop()
    const count = (await messages()).length
    await (await open('old')).stop()
    expect(await messages()).to.have.length(count + 1)
    expect((await messages()).at(-1)?.entries).to.deep.equal([])
    const other = await open('other')
    const { intents, transaction_intents, ...rest } = rowsOf(other.db)
    const { intents: intentsBefore, transaction_intents: carriedBefore, ...restBefore } = before
    expect(rest).to.deep.equal(restBefore)
    expect(intents).to.have.deep.members(intentsBefore ?? [])
    // The outcome of the transaction that was displaced is in its reversal alone.
    const standing = (rows: unknown[] = []) =>
      rows.filter((row) => (row as { displaced: bigint }).displaced === 0n)
    expect(standing(transaction_intents)).to.deep.equal(standing(carriedBefore))
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

  it('finds what a crash left unmarked in the stream, and appends the rest', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    // As a crash leaves the file: the entry waits still, and another one was never sent.
    const saved = first.db.serialize()
    await first.stop()
    remove('a')
    writeFileSync(pathOf('a'), saved)
    const crashed = openFile('a')
    expect(waitingIn(crashed)).to.equal(1n)
    crashed.close()
    const again = await open('a')
    sign(again.journal, 1, 'm:2')
    await again.journal.durable()
    const entries = (await messages()).flatMap((message) => message.entries)
    expect(entries).to.have.length(2)
    expect(again.journal.nextNonce(SENDER)).to.equal(2)
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

    it('keeps the foreign nonce, also without its file, and beside a file copied in the middle of an append', async () => {
      const first = await open(NAME)
      sign(first.journal, 0, 'm:1')
      const copied = first.db.serialize()
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

    it('of 0.2.0 is published with it, and is published whole in another stream', async () => {
      const old = openFile(NAME)
      sign(createTransactionJournal(old), 0, 'm:1')
      old.close()
      await recordForeign()
      remove(NAME)
      const rebuilt = await open(NAME)
      expect(rebuilt.journal.nextNonce(SENDER)).to.equal(10)
      const before = rowsOf(rebuilt.db)
      await rebuilt.stop()
      bus = createMemoryBus()
      const file = openFile(NAME)
      file.exec(`UPDATE publication SET stream = 'of an earlier build', last_seq = 0, term = 0`)
      file.close()
      await (await open(NAME)).stop()
      remove(NAME)
      expect(rowsOf((await open(NAME)).db)).to.deep.equal(before)
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
      expect(first.fatal[0]).to.be.instanceOf(Deposed)
      sign(first.journal, 2, 'm:9')
      await eventually(() => first.fatal.length > 1)
      expect(first.fatal[1]).to.be.instanceOf(Deposed)
      expect(first.journal.isDurable(hashOf(102))).to.equal(false)

      // What it could not publish was never broadcast: its file follows the stream again.
      await first.stop()
      await second.stop()
      const again = await open('a')
      expect(again.journal.find('m:9')).to.equal(undefined)
      expect(again.journal.find('m:3')?.state.kind).to.equal('open')
      expect(waitingIn(again.db)).to.equal(0n)
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

  it('publishes a file of an earlier release behind takeovers of a process that had nothing', async () => {
    await (await open('a')).stop()
    const db = openFile('b')
    sign(createTransactionJournal(db), 0, 'm:9')
    db.close()
    await (await open('b')).stop()
    expect((await messages()).map(({ entries }) => entries.length)).to.deep.equal([0, 0, 1])
  })

  it('discards nothing of a file of an earlier release while it stands by, and stops instead', async () => {
    const first = await open('a')
    const db = openFile('b')
    sign(createTransactionJournal(db), 0, 'm:9')
    db.close()
    let standingBy = false
    const becoming = open('b', () => (standingBy = true)).catch((error: unknown) => error)
    await eventually(() => standingBy)
    sign(first.journal, 0, 'm:1')
    expect(await becoming).to.be.instanceOf(JournalDiverged)
    const kept = openFile('b')
    expect(createTransactionJournal(kept).find('m:9')?.state.kind).to.equal('open')
    kept.close()
  })

  it('refuses an unpublished file beside a stream that holds another journal', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    await first.stop()
    const db = openFile('b')
    sign(createTransactionJournal(db), 0, 'm:9')
    db.close()
    const failure: unknown = await open('b').catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(JournalDiverged)
  })
})
