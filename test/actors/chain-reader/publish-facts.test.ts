import { expect } from 'chai'
import { openFacts } from '../../../actors/chain-reader/publish-facts.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { anObservation } from '../../support/funded-acts.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'

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

  const open = async (signal = new AbortController().signal, onUnknown = () => undefined) => {
    const written = { bus, market, contractType: 'spot' as const }
    return (await openFacts({ ...written, nowMs: () => nowMs, signal, onUnknown })).accounts
  }
  const logged = async () => {
    const messages = await bus.read(commandsStream(market), 1, 1_000)
    return messages.map(({ data }) => decodeCommands(data))
  }
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

  it('is numbered above what an earlier life said, also when the clock has gone back', async () => {
    await (
      await open()
    )(many(3))
    const others = { source: 'matcher', sourceNo: 1, atMs: 1, command: { kind: 'Tick' } } as const
    await bus.append(commandsSubject(market), encodeCommands([others]))
    nowMs -= 3_600_000
    const say = await open()
    await say(many(1))
    const own = (await logged()).flat().filter(({ source }) => source === 'chain-reader')
    const numbers = own.map(({ sourceNo }) => sourceNo)
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b))
    expect(new Set(numbers).size).to.equal(4)
  })

  it('is given up when the process stops', async () => {
    const stopping = new AbortController()
    const say = await open(stopping.signal)
    stopping.abort(new Error('stopping'))
    const failure = await say(many(1)).catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error).with.property('message', 'stopping')
    expect(await logged()).to.deep.equal([])
  })
})
