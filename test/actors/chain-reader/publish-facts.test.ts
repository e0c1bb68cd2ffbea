import { expect } from 'chai'
import { openFacts } from '../../../actors/chain-reader/publish-facts.js'
import { commandsStream, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { applyCommand } from '../../../core/engine/apply-command.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { createNumbering, termOf } from '../../../core/model/command.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket } from '../../support/builders.js'
import { anObservation } from '../../support/funded-acts.js'
import { decodeCommands } from '../../support/spot-log.js'

const market = 'cNGN-USDC'

describe('publish facts', () => {
  let bus: MemoryBus
  let nowMs: number
  beforeEach(async () => {
    bus = createMemoryBus()
    nowMs = 1_790_000_000_000
    await bus.declareStream({
      stream: commandsStream(market),
      subject: commandsSubjects(market),
      description: 'a log',
    })
  })

  const open = async (signal = new AbortController().signal, term = 1) => {
    const written = { bus, market, contractType: 'spot' as const, numbers: createNumbering(term) }
    const opened = { ...written, nowMs: () => nowMs, signal, onUnknown: () => undefined }
    return (await openFacts(opened)).accounts
  }
  /** All messages, of which the first begins the term. */
  const all = async () => {
    const messages = await bus.read(commandsStream(market), 1, 1_000)
    return messages.map(({ data }) => decodeCommands(data))
  }
  const logged = async () => (await all()).slice(1)
  const many = (count: number) =>
    Array.from({ length: count }, (_, n) => anObservation(BigInt(n + 1), 5n))

  it('stands in the log in few messages, numbered without a gap', async () => {
    const say = await open()
    await say(many(600))
    await say(many(1))
    const messages = await logged()
    expect(messages.map(({ length }) => length)).to.deep.equal([256, 256, 88, 1])
    const numbers = messages.flat().map(({ sourceNo }) => sourceNo)
    const [first = 0] = numbers
    expect(numbers).to.deep.equal(numbers.map((_, n) => first + n))
  })

  it('is sent again with the same number when it is not known whether it arrived', async () => {
    const say = await open()
    bus.failNextAppendAck()
    await say(many(1))
    bus.loseNextAppend()
    await say(many(1))
    const numbers = (await logged()).flat().map(({ sourceNo }) => sourceNo)
    const [first = 0] = numbers
    expect(numbers).to.deep.equal([first, first, first + 1])
  })

  it('begins its term in the log, and is skipped behind the marker of a later one', async () => {
    const line = bus.connect()
    const old = await openFacts({
      bus: line,
      market,
      contractType: 'spot',
      numbers: createNumbering(1),
      nowMs: () => nowMs,
      signal: new AbortController().signal,
      onUnknown: () => undefined,
    })
    await (
      await open(undefined, 2)
    )(many(1))
    await old.accounts(many(1))
    const commands = (await all()).flat()
    expect(commands.map(({ command }) => command.kind)).to.deep.equal([
      ...['Tick', 'Tick', 'AccountObserved', 'AccountObserved'],
    ])
    expect(commands.map(({ sourceNo }) => termOf(sourceNo))).to.deep.equal([1, 2, 2, 1])
    const state = emptyMatcherState(openingOf(aMarket()))
    const taken = commands.map((each) => {
      const before = state.lastSourceNo.get('chain-reader')
      applyCommand(state, each)
      return state.lastSourceNo.get('chain-reader') !== before
    })
    expect(taken).to.deep.equal([true, true, true, false])
  })

  it('is given up when the process stops', async () => {
    const stopping = new AbortController()
    const say = await open(stopping.signal)
    const before = await logged()
    stopping.abort(new Error('stopping'))
    const failure = await say(many(1)).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error).with.property('message', 'stopping')
    expect(await logged()).to.deep.equal(before)
  })
})
