import { expect } from 'chai'
import { encodeJournal } from '../../../bus-schemas/journal.js'
import { Deposed } from '../../../data/journal/append-entries.js'
import { watchTerm } from '../../../data/journal/watch-term.js'
import { createMemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'

const STREAM = 'JOURNAL'
const takeover = (term: number) => encodeJournal({ term, writer: `w${term}`, entries: [] })

describe('the watch of a journal by its writer', () => {
  it('ends a writer that was cut off and has nothing to append, once another one has a greater term', async () => {
    const bus = createMemoryBus()
    await bus.declareStream({ stream: STREAM, subject: 'journal', description: '' })
    await bus.append('journal', takeover(1))
    const line = bus.connect()
    const fatal: unknown[] = []
    let looks = 0
    const streamState = (stream: string) => {
      looks += 1
      return line.streamState(stream)
    }
    const watch = watchTerm({
      bus: { streamState, lastMessage: (stream) => line.lastMessage(stream) },
      ...{ stream: STREAM, term: 1, lastSeq: () => 1, everyMs: 5 },
      onFatal: (error) => fatal.push(error),
    })
    line.setConnected(false)
    await bus.append('journal', takeover(2))
    const before = looks
    await eventually(() => looks > before + 2)
    expect(fatal).to.deep.equal([])
    line.setConnected(true)
    await eventually(() => fatal.length === 1)
    expect(fatal[0]).to.be.instanceOf(Deposed)
    watch.stop()
  })

  it('lets a writer go on whose own message is not acknowledged yet', async () => {
    const bus = createMemoryBus()
    await bus.declareStream({ stream: STREAM, subject: 'journal', description: '' })
    await bus.append('journal', takeover(1))
    let looks = 0
    const fatal: unknown[] = []
    const watch = watchTerm({
      ...{ stream: STREAM, term: 1, lastSeq: () => 0, everyMs: 5 },
      bus: {
        streamState: (stream) => bus.streamState(stream),
        lastMessage: (stream) => {
          looks += 1
          return bus.lastMessage(stream)
        },
      },
      onFatal: (error) => fatal.push(error),
    })
    await eventually(() => looks > 2)
    watch.stop()
    expect(fatal).to.deep.equal([])
  })
})
