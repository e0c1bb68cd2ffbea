import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import { createEntryLog, type EntryLog } from '../../../data/journal/append-entries.js'
import {
  JournalUnwritable,
  openFoldedFile,
  openJournalFile,
  type FoldedFile,
} from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import { AppendUnknown } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { blockOf, hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const STREAM = 'JOURNAL'
const SUBJECT = 'journal'
const TERM = 3

describe('the entries of a journal', () => {
  let dir: ReturnType<typeof tempDir>
  let db: Database
  let bus: MemoryBus
  let file: FoldedFile
  let log: EntryLog
  let journal: TransactionJournal
  let fatal: unknown[]
  let unknown: unknown[]

  const start = (append?: MemoryBus['append']): void => {
    log = createEntryLog({
      file,
      stream: STREAM,
      subject: SUBJECT,
      term: TERM,
      writer: 'w',
      bus: { ...bus, ...(append !== undefined && { append }) },
      onUnknown: (error) => unknown.push(error),
      onFatal: (error) => fatal.push(error),
    })
    journal = createTransactionJournal(db, () => 5, log)
  }
  beforeEach(async () => {
    dir = tempDir()
    const path = `${dir.path}/executor.db`
    db = openJournalFile(path)
    bus = createMemoryBus()
    await bus.declareStream({ stream: STREAM, subject: SUBJECT, description: 'test' })
    const messageAt = () => Promise.resolve(undefined)
    file = await openFoldedFile(db, { stream: STREAM, streamEnd: 0, messageAt })
    ;[fatal, unknown] = [[], []]
    start()
  })
  afterEach(async () => {
    await log.stop()
    db.close()
    dir.remove()
  })

  const refuse = (intentId: string, size = 1): void =>
    journal.recordRefusal(intentId, hashOf(1), 'x'.repeat(size))
  const messages = async () => {
    const { lastSeq } = await bus.streamState(STREAM)
    return (await bus.read(STREAM, 1, lastSeq + 1)).map(({ data }) => decodeJournal(data))
  }
  const idsOfMessages = async () =>
    (await messages()).map(({ entries }) =>
      entries.map((entry) => ('intentId' in entry ? entry.intentId : entry.kind)),
    )

  it('appends under its term and name, each message behind the one before', async () => {
    refuse('m:1')
    await journal.durable()
    refuse('m:2')
    await journal.durable()
    expect(await idsOfMessages()).to.deep.equal([['m:1'], ['m:2']])
    const [first] = await messages()
    expect(first).to.deep.include({ term: TERM, writer: 'w' })
    expect(log.lastSeq()).to.equal(2)
    expect([fatal, unknown]).to.deep.equal([[], []])
  })

  it('makes several messages of what is too much for one', async () => {
    refuse('m:1', 300 * 1024)
    refuse('m:2', 200 * 1024)
    refuse('m:3', 20 * 1024)
    refuse('m:4', 600 * 1024)
    await journal.durable()
    expect(await idsOfMessages()).to.deep.equal([['m:1', 'm:2'], ['m:3'], ['m:4']])
  })

  it('appends what comes while a message is on its way with the next one', async () => {
    const release = bus.holdAppendAcks()
    refuse('m:1')
    await eventually(async () => (await messages()).length === 1)
    refuse('m:2')
    await new Promise(setImmediate)
    refuse('m:3')
    release()
    await journal.durable()
    expect(await idsOfMessages()).to.deep.equal([['m:1'], ['m:2', 'm:3']])
  })

  it('counts a signed form as durable once the stream has it, the first and every later one', async () => {
    const release = bus.holdAppendAcks()
    sign(journal, 0, 'm:1')
    const attempt = { hash: hashOf(900), raw: '0x02', gasLimit: 5n, maxFeePerGas: 8n } as const
    journal.recordAttempt(SENDER, 0, attempt)
    refuse('m:2')
    const isDurable = () =>
      [hashOf(100), hashOf(900), hashOf(901)].map((hash) => journal.isDurable(hash))
    expect(isDurable()).to.deep.equal([false, false, true])
    release()
    await journal.durable()
    expect(isDurable()).to.deep.equal([true, true, true])
  })

  it('counts none as durable that was signed while the message before was on its way', async () => {
    const release = bus.holdAppendAcks()
    sign(journal, 0, 'm:1')
    const first = journal.durable()
    await eventually(async () => (await messages()).length === 1)
    const releaseSecond = bus.holdAppendAcks()
    sign(journal, 1, 'm:2')
    release()
    await first
    const isDurable = () => [hashOf(100), hashOf(101)].map((hash) => journal.isDurable(hash))
    expect(isDurable()).to.deep.equal([true, false])
    releaseSecond()
    await journal.durable()
    expect(isDurable()).to.deep.equal([true, true])
  })

  it('lets a caller wait for what it has recorded, and no longer', async () => {
    await journal.durable()
    refuse('m:1')
    let release = bus.holdAppendAcks()
    const first = journal.durable()
    await eventually(async () => (await messages()).length === 1)
    const releaseFirst = release
    release = bus.holdAppendAcks()
    refuse('m:2')
    let isSecond = false
    const second = journal.durable().then(() => (isSecond = true))
    releaseFirst()
    await first
    expect(isSecond).to.equal(false)
    release()
    await second
  })

  it('says that the bus does not take the journal, until it does', async () => {
    let isLost = true
    await log.stop()
    start((...message) => {
      if (isLost) return Promise.reject(new AppendUnknown('no acknowledgement'))
      return bus.append(...message)
    })
    expect(log.trouble()).to.equal(undefined)
    refuse('m:1')
    await eventually(() => unknown.length > 0)
    expect(log.trouble()).to.be.a('string').that.is.not.equal('')
    isLost = false
    await journal.durable()
    expect(log.trouble()).to.equal(undefined)
    expect(fatal).to.deep.equal([])
  })

  it('stops for good where another writer has appended, and commits nothing', async () => {
    await bus.append(SUBJECT, Buffer.from('of another'))
    refuse('m:1')
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(Fenced).with.property('cause').instanceOf(Error)
    refuse('m:2')
    await new Promise(setImmediate)
    expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    expect(fatal).to.have.length(1)
    await log.stop()
    expect(['m:1', 'm:2'].map((id) => journal.find(id))).to.deep.equal([undefined, undefined])
    expect(file.place().lastSeq).to.equal(0)
  })

  it('passes on why it cannot append any more', async () => {
    const failure = new Error('not allowed')
    await log.stop()
    start(() => Promise.reject(failure))
    refuse('m:1')
    await eventually(() => fatal.length > 0)
    expect(fatal).to.deep.equal([failure])
  })

  it('commits each message when the stream has it', async () => {
    refuse('m:1')
    await journal.durable()
    expect(file.place()).to.deep.equal({ lastSeq: 1, term: TERM, writer: 'w' })
    expect(db.inTransaction).to.equal(false)
    refuse('m:2')
    expect(db.inTransaction).to.equal(true)
    await journal.durable()
    expect(file.place().lastSeq).to.equal(2)
    expect(db.inTransaction).to.equal(false)
  })

  it('appends nothing once it has stopped', async () => {
    refuse('m:1')
    await journal.durable()
    await log.stop()
    refuse('m:2')
    await new Promise(setImmediate)
    expect(await idsOfMessages()).to.deep.equal([['m:1']])
  })

  it('stops within a moment while the bus does not answer, and forgets what may not be there', async () => {
    const release = bus.holdAppendAcks()
    refuse('m:1')
    await eventually(async () => (await messages()).length === 1)
    await log.stop()
    release()
    await new Promise(setImmediate)
    expect([file.place().lastSeq, journal.find('m:1')]).to.deep.equal([0, undefined])
    expect(fatal).to.deep.equal([])
  })

  it('takes nothing new behind thousands of entries that the bus does not take, and outcomes still', async () => {
    const release = bus.holdAppendAcks()
    sign(journal, 0, 'm:0')
    for (let n = 1; n < 4_096; n += 1) refuse(`m:${n}`)
    expect(() => refuse('m:4096')).to.throw(JournalUnwritable, 'the bus')
    expect(() => sign(journal, 1, 'm:4097')).to.throw(JournalUnwritable, 'the bus')
    journal.recordMined(SENDER, 0, { ...blockOf(0, 12), outcomes: [{ status: 'success' }] })
    release()
    await journal.durable()
    sign(journal, 1, 'm:4097')
    expect((await messages()).map(({ entries }) => entries.length)).to.satisfy(
      (lengths: number[]) => lengths.every((length) => length <= 512),
    )
  })
})
