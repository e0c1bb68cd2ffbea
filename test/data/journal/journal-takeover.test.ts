import type { Database } from 'better-sqlite3'
import { expect } from 'chai'
import { decodeJournal, encodeJournal, JOURNAL_VERSION } from '../../../bus-schemas/journal.js'
import { askLead, journalStream, journalSubject } from '../../../bus-schemas/subjects.js'
import {
  observeJournal,
  openPublishedJournal,
  type PublishedJournal,
} from '../../../data/journal/published-journal.js'
import { openJournalFile } from '../../../data/journal/journal-file.js'
import { AppendUnknown, BusUnavailable, NoAnswer, StreamMissing } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { Logger } from '../../../runtime/process/log.js'
import { eventually } from '../../support/eventually.js'
import { sign } from '../../support/journal-entries.js'
import { tempDir } from '../../support/temp-dir.js'

const OWNER = 'executor'
const STREAM = journalStream(OWNER)
const SUBJECT = journalSubject(OWNER)
const SILENCE_MS = 20

describe('the takeover of a journal on the bus', () => {
  let dir: ReturnType<typeof tempDir>
  let bus: MemoryBus
  let facts: unknown[][]
  let fatal: unknown[]
  const opened: { db: Database; published?: PublishedJournal }[] = []
  beforeEach(() => {
    dir = tempDir()
    bus = createMemoryBus()
    facts = []
    fatal = []
  })
  afterEach(async () => {
    for (const { db, published } of opened.splice(0)) {
      await published?.stop()
      db.close()
    }
    dir.remove()
  })

  const openFile = (name: string): Database => openJournalFile(`${dir.path}/${name}.db`)
  /** Opens it on a line of its own whose calls are replaced by these. */
  async function open(name: string, calls: Partial<MemoryBus> = {}): Promise<PublishedJournal> {
    const one: (typeof opened)[number] = { db: openFile(name) }
    opened.push(one)
    const note =
      (kind: string) =>
      (...args: unknown[]) =>
        void facts.push([kind, ...args])
    one.published = await openPublishedJournal({
      db: one.db,
      bus: Object.assign(bus.connect(), calls),
      owner: OWNER,
      silenceMs: SILENCE_MS,
      onFatal: (error: unknown) => fatal.push(error),
      facts: {
        standingBy: note('standing by'),
        leads: note('leads'),
        journalUnclear: note('unclear'),
        versionRaised: note('raised'),
        trimmed: note('trimmed'),
      },
    })
    return one.published
  }
  const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
    opening.then(
      () => undefined,
      (error: unknown) => error,
    )
  const ask = () => bus.ask(askLead(OWNER), new Uint8Array(), 100)
  const isUnanswered = async () => (await failureOf(ask())) instanceof NoAnswer
  const declare = () => bus.declareStream({ stream: STREAM, subject: SUBJECT, description: 'test' })
  async function messages() {
    const { lastSeq } = await bus.streamState(STREAM)
    return (await bus.read(STREAM, 1, lastSeq + 1)).map(({ data }) => decodeJournal(data))
  }

  it('names the process in the description of its stream', async () => {
    const descriptions: string[] = []
    await open('a', {
      declareStream: (spec) => {
        descriptions.push(spec.description)
        return bus.declareStream(spec)
      },
    })
    expect(descriptions).to.deep.equal([
      'Transactions of executor: what was signed, and what became of it',
    ])
  })

  it('refuses a stream of a version that it cannot read', async () => {
    await declare()
    await bus.raiseStreamVersion(STREAM, JOURNAL_VERSION + 1)
    expect(await failureOf(open('a'))).to.have.property('name', 'NewerStream')
    expect(facts).to.deep.equal([])
  })

  it('is repeated when another process took over in between, which the first one follows', async () => {
    const asked: boolean[] = []
    let appends = 0
    const append: MemoryBus['append'] = async (...args) => {
      appends += 1
      if (appends === 1)
        await bus.append(SUBJECT, encodeJournal({ term: 7, writer: 'w', entries: [] }))
      return bus.append(...args)
    }
    const read: MemoryBus['read'] = async (...args) => {
      if (appends === 1) asked.push(await isUnanswered())
      return bus.read(...args)
    }
    const { term } = await open('a', { append, read })
    expect(term).to.equal(8)
    expect((await messages()).map((message) => message.term)).to.deep.equal([7, 8])
    // It answered for a term that it did not get, but no longer once it knew.
    expect(asked).not.to.include(false)
    expect(asked).not.to.deep.equal([])
    expect(facts.map(([kind]) => kind)).to.deep.equal(['unclear', 'leads'])
  })

  it('fails with the bus, and leaves no process that answers', async () => {
    const append = () => Promise.reject(new Error('not allowed'))
    expect(await failureOf(open('a', { append }))).to.have.property('message', 'not allowed')
    expect(await isUnanswered()).to.equal(true)
    expect(facts).to.deep.equal([])
  })

  it('fails on a question that cannot be asked, and on a message that cannot be read', async () => {
    const lost = new BusUnavailable('the bus is closed')
    expect(await failureOf(open('a', { ask: () => Promise.reject(lost) }))).to.equal(lost)
    await open('b')
    await bus.append(SUBJECT, Buffer.from('no journal'))
    expect(await failureOf(open('b'))).to.have.property('name', 'MalformedMessage')
  })

  it('waits while the bus does not answer a process that knows nothing of the stream', async () => {
    const refused = new Set<string>()
    const once = (what: string): void => {
      if (refused.has(what)) return
      refused.add(what)
      throw new BusUnavailable('its stream has no leader')
    }
    const line: Partial<MemoryBus> = {
      async declareStream(spec) {
        once('declare')
        await bus.declareStream(spec)
      },
      async streamState(stream) {
        once('state')
        return bus.streamState(stream)
      },
      async read(...args) {
        once('read')
        return bus.read(...args)
      },
    }
    expect((await open('a', line)).term).to.equal(1)
    expect([...refused]).to.deep.equal(['declare', 'state', 'read'])
  })

  it('waits while the bus does not answer a process that stands by', async () => {
    const first = await open('a')
    let refused = 0
    const read: MemoryBus['read'] = (...args) => {
      if (facts.at(-1)?.[0] !== 'standing by' || refused === 2) return bus.read(...args)
      refused += 1
      return Promise.reject(new BusUnavailable('its stream has no leader'))
    }
    const becoming = open('b', { read })
    await eventually(() => refused === 2)
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    await first.stop()
    expect((await becoming).journal.find('m:1')?.state.kind).to.equal('open')
  })

  it('ends for a process that stands by when the stream is gone: a start alone compares its file with another one', async () => {
    await open('a')
    const gone = new StreamMissing('deleted')
    const read: MemoryBus['read'] = (...args) =>
      facts.at(-1)?.[0] === 'standing by' ? Promise.reject(gone) : bus.read(...args)
    expect(await failureOf(open('b', { read }))).to.equal(gone)
  })

  it('appends nothing before the stream could be read to its end', async () => {
    const first = await open('a')
    await first.stop()
    let [refused, appends] = [0, 0]
    const read: MemoryBus['read'] = (...args) => {
      if (refused === 2) return bus.read(...args)
      refused += 1
      return Promise.reject(new BusUnavailable('its stream has no leader'))
    }
    const append: MemoryBus['append'] = (...args) => {
      appends += 1
      return bus.append(...args)
    }
    const second = await open('a', { read, append })
    expect([refused, appends, second.term]).to.deep.equal([2, 1, 2])
  })

  it('does not read again what the file holds', async () => {
    const first = await open('a')
    sign(first.journal, 0, 'm:1')
    await first.journal.durable()
    await first.stop()
    const from: number[] = []
    await open('a', {
      read: (stream, fromSeq, limit) => {
        from.push(fromSeq)
        return bus.read(stream, fromSeq, limit)
      },
    })
    // The last that it holds is compared, and read no further.
    expect(new Set(from)).to.deep.equal(new Set([2, 3]))
  })

  it('is not watched for by a process that has stopped', async () => {
    const looks = { a: 0, b: 0 }
    const counted = (name: 'a' | 'b'): Partial<MemoryBus> => ({
      streamState: (stream) => {
        looks[name] += 1
        return bus.streamState(stream)
      },
    })
    const first = await open('a', counted('a'))
    await eventually(() => looks.a > 3)
    await first.stop()
    const looked = looks.a
    expect((await open('b', counted('b'))).term).to.equal(2)
    // It looks as often as the first one did.
    await eventually(() => looks.b > 4)
    expect([looks.a, fatal]).to.deep.equal([looked, []])
  })
})

describe('what is logged of a journal on the bus', () => {
  it('is a line for each fact', () => {
    const lines: unknown[] = []
    const at = (level: string) => (fields: unknown) => void lines.push([level, fields])
    const log: Partial<Record<string, unknown>> = { info: at('info'), warn: at('warn') }
    const facts = observeJournal(log as Partial<Logger> as Logger)
    const error = new AppendUnknown('no acknowledgement')
    facts.standingBy('w of term 1')
    facts.leads(2, 5)
    facts.journalUnclear(error)
    facts.versionRaised('a newer version')
    expect(lines).to.deep.equal([
      ['info', { writer: 'w of term 1' }],
      ['info', { term: 2, folded: 5 }],
      ['warn', { err: error }],
      ['warn', 'a newer version'],
    ])
  })
})
