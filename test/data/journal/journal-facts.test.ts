import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { encodeJournal, JOURNAL_VERSION } from '../../../bus-schemas/journal.js'
import { askLead, journalStream, journalSubject } from '../../../bus-schemas/subjects.js'
import type { JournalEntry } from '../../../core/transaction-journal.js'
import {
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import { openJournalFile } from '../../../data/journal/journal-file.js'
import { createTransactionJournal } from '../../../data/journal/transaction-journal.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { hashOf, sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const OWNER = 'executor'
const STREAM = journalStream(OWNER)
const SILENCE_MS = 40

const refused = (intentId: string): JournalEntry => ({
  kind: 'refused',
  intentId,
  fingerprint: hashOf(1),
  revert: 'no',
  atMs: 5,
})

describe('the opening of a journal on the bus', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  const opened: { db: Database; published?: PublishedJournal }[] = []
  beforeEach(() => {
    dir = tempDir()
    bus = createMemoryBus()
  })
  afterEach(async () => {
    for (const { db, published } of opened.splice(0)) {
      await published?.stop()
      db.close()
    }
    dir.remove()
  })

  const openFile = (name: string): Database => openJournalFile(`${dir.path}/${name}.db`)
  /** Opens it, with all that it reports. */
  async function open(
    name: string,
    line: MemoryBus = bus,
    facts: unknown[][] = [],
    silenceMs = SILENCE_MS,
  ) {
    const one: (typeof opened)[number] = { db: openFile(name) }
    opened.push(one)
    const note =
      (kind: string) =>
      (...args: unknown[]) =>
        void facts.push([kind, ...args])
    one.published = await openPublishedJournal({
      db: one.db,
      bus: line,
      owner: OWNER,
      silenceMs,
      onFatal: note('fatal'),
      facts: {
        standingBy: note('standing by'),
        leads: note('leads'),
        journalUnclear: note('unclear'),
        versionRaised: note('raised'),
        trimmed: note('trimmed'),
      },
    })
    return { ...one.published, db: one.db, facts }
  }
  const close = async (): Promise<void> => {
    for (const { db, published } of opened.splice(0)) {
      await published?.stop()
      db.close()
    }
  }
  const declare = () =>
    bus.declareStream({ stream: STREAM, subject: journalSubject(OWNER), description: 'test' })
  const append = (term: number, ...entries: JournalEntry[]) =>
    bus.append(journalSubject(OWNER), encodeJournal({ term, writer: 'w', entries }))

  it('says which term it leads, and how many messages its file lacked', async () => {
    const first = await open('a')
    expect(first.facts.filter(([kind]) => kind === 'leads')).to.deep.equal([['leads', 1, 0]])
    for (const n of [0, 1]) {
      sign(first.journal, n, `m:${n}`)
      await first.journal.durable()
    }
    await close()
    const second = await open('a')
    expect(second.facts).to.deep.equal([['leads', 2, 0]])
    await close()
    const third = await open('b')
    expect(third.facts).to.deep.equal([['leads', 3, 4]])
    expect(third.term).to.equal(3)
    expect(third.journal.nextNonce(`0x${'ab'.repeat(20)}`)).to.equal(2)
  })

  it('records the version of what it appends', async () => {
    await open('a')
    expect(await bus.streamVersion(STREAM)).to.equal(JOURNAL_VERSION)
  })

  it('folds a stream of any length', async () => {
    await declare()
    for (let n = 0; n < 300; n += 1) await append(1, refused(`m:${n}`))
    const { facts, db } = await open('a')
    expect(facts.at(-1)).to.deep.equal(['leads', 2, 300])
    expect(createTransactionJournal(db).find('m:299')?.state.kind).to.equal('refused')
  })

  it('answers with its name and term while it leads, and not once it has stopped', async () => {
    await open('a')
    const ask = () => bus.ask(askLead(OWNER), new Uint8Array(), 100)
    expect(Buffer.from(await ask()).toString()).to.match(/^[0-9a-f-]{36} of term 1$/)
    await close()
    expect(await ask().catch((error: unknown) => error)).to.be.instanceOf(NoAnswer)
  })

  it('says once for whom it stands by', async () => {
    const first = await open('a')
    const facts: unknown[][] = []
    const becoming = open('b', bus.connect(), facts)
    await eventually(() => facts.length > 0)
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    await first.stop()
    opened.splice(0, 1)
    first.db.close()
    const second = await becoming
    expect(facts.map(([kind]) => kind)).to.deep.equal(['standing by', 'leads'])
    expect(facts[0]?.[1]).to.match(/of term 1$/)
    expect(second.term).to.equal(2)
  })

  it('stands by on although one question gets no answer', async () => {
    await open('a')
    const facts: unknown[][] = []
    const line = bus.connect()
    let asked = 0
    const ask: MemoryBus['ask'] = (...question) => {
      asked += 1
      return asked === 2 ? Promise.reject(new NoAnswer(STREAM)) : bus.ask(...question)
    }
    const becoming = open('b', Object.assign(line, { ask }), facts, 10_000)
    await eventually(() => asked >= 4)
    expect(facts.map(([kind]) => kind)).to.deep.equal(['standing by'])
    expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    await opened[0]?.published?.stop()
    // From now on nothing is answered; the silence has to last.
    const unanswered = asked
    await eventually(() => asked > unanswered + 1)
    expect((await bus.streamState(STREAM)).lastSeq).to.equal(1)
    line.ask = () => Promise.reject(new Error('the test is over'))
    expect(String(await becoming.catch((error: unknown) => error))).to.include('test is over')
  })

  it('says that an append has to be looked up, and that it does not go on meanwhile', async () => {
    const { journal, trouble, facts } = await open('a')
    bus.loseNextAppend()
    sign(journal, 0, 'm:1')
    await eventually(() => facts.length > 1)
    expect(facts.at(-1)?.[0]).to.equal('unclear')
    expect(trouble()).to.be.a('string')
    await journal.durable()
    expect(trouble()).to.equal(undefined)
  })
})
