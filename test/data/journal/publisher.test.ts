import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { decodeJournal } from '../../../bus-schemas/journal.js'
import type { TransactionJournal } from '../../../core/transaction-journal.js'
import { openPublication, type Publication } from '../../../data/journal/publication.js'
import { createPublisher, Deposed, type Publisher } from '../../../data/journal/publisher.js'
import {
  createTransactionJournal,
  JOURNAL_MIGRATIONS,
} from '../../../data/journal/transaction-journal.js'
import { openDatabase } from '../../../data/open.js'
import { AppendUnknown } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { hashOf, SENDER, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const STREAM = 'JOURNAL'
const SUBJECT = 'journal'
const TERM = 3

describe('the publisher of a journal', () => {
  let dir: ReturnType<typeof tempDir>
  let db: Database
  let bus: MemoryBus
  let publication: Publication
  let publisher: Publisher
  let journal: TransactionJournal
  let fatal: unknown[]
  let unknown: unknown[]

  const start = (append?: MemoryBus['append']): void => {
    publisher = createPublisher({
      ...{ publication, stream: STREAM, subject: SUBJECT, term: TERM, writer: 'w' },
      bus: { ...bus, ...(append !== undefined && { append }) },
      onUnknown: (error) => unknown.push(error),
      onFatal: (error) => fatal.push(error),
    })
    journal = createTransactionJournal(db, () => 5, publisher)
  }
  beforeEach(async () => {
    dir = tempDir()
    const path = `${dir.path}/executor.db`
    db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
    bus = createMemoryBus()
    await bus.declareStream({ stream: STREAM, subject: SUBJECT, description: 'test' })
    publication = openPublication(db, { stream: STREAM, streamEnd: 0, holdsEntries: false })
    ;[fatal, unknown] = [[], []]
    start()
  })
  afterEach(async () => {
    await publisher.stop()
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
    expect(publisher.lastSeq()).to.equal(2)
    expect([fatal, unknown]).to.deep.equal([[], []])
  })

  it('publishes what waited before it began, once it is woken', async () => {
    refuse('m:1')
    await publisher.stop()
    refuse('m:2')
    start()
    publisher.wake()
    publisher.wake()
    await journal.durable()
    expect((await idsOfMessages()).flat()).to.deep.equal(['m:1', 'm:2'])
    await journal.durable()
  })

  it('makes several messages of what is too much for one', async () => {
    refuse('m:1', 300 * 1024)
    refuse('m:2', 200 * 1024)
    refuse('m:3', 20 * 1024)
    refuse('m:4', 600 * 1024)
    await journal.durable()
    expect(await idsOfMessages()).to.deep.equal([['m:1', 'm:2'], ['m:3'], ['m:4']])
  })

  it('publishes what comes while a message is on its way with the next one', async () => {
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
    await publisher.stop()
    start((...message) => {
      if (isLost) return Promise.reject(new AppendUnknown('no acknowledgement'))
      return bus.append(...message)
    })
    expect(publisher.trouble()).to.equal(undefined)
    refuse('m:1')
    await eventually(() => unknown.length > 0)
    expect(publisher.trouble()).to.be.a('string').that.is.not.equal('')
    isLost = false
    await journal.durable()
    expect(publisher.trouble()).to.equal(undefined)
    expect(fatal).to.deep.equal([])
  })

  it('stops for good where another writer has appended, and keeps its entries in the file', async () => {
    await bus.append(SUBJECT, Buffer.from('of another'))
    refuse('m:1')
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(Deposed).with.property('cause').instanceOf(Error)
    refuse('m:2')
    await new Promise(setImmediate)
    expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    expect(fatal).to.have.length(1)
    expect(publication.waiting(0, 10_000)).to.have.length(2)
  })

  it('passes on why it cannot publish any more', async () => {
    const failure = new Error('not allowed')
    await publisher.stop()
    start(() => Promise.reject(failure))
    refuse('m:1')
    await eventually(() => fatal.length > 0)
    expect(fatal).to.deep.equal([failure])
  })

  it('marks what is published when it stops, and publishes nothing later', async () => {
    refuse('m:1')
    await journal.durable()
    expect(publication.publishedNo()).to.equal(0)
    await publisher.stop()
    expect(publication.publishedNo()).to.equal(1)
    expect(publication.place()).to.deep.equal({ lastSeq: 1, term: TERM })
    refuse('m:2')
    publisher.wake()
    await new Promise(setImmediate)
    expect(await idsOfMessages()).to.deep.equal([['m:1']])
    expect(publication.waiting(0, 10_000).map(({ no }) => no)).to.deep.equal([2])
  })

  it('marks what is published with the next entry', async () => {
    refuse('m:1')
    await journal.durable()
    refuse('m:2')
    expect(publication.publishedNo()).to.equal(1)
    expect(publication.place()).to.deep.equal({ lastSeq: 1, term: TERM })
  })

  it('stops within a moment while the bus does not answer, and leaves the entry unmarked', async () => {
    const release = bus.holdAppendAcks()
    refuse('m:1')
    await eventually(async () => (await messages()).length === 1)
    await publisher.stop()
    release()
    await new Promise(setImmediate)
    expect(publication.publishedNo()).to.equal(0)
    expect(fatal).to.deep.equal([])
  })
})
