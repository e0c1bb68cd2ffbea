import { expect } from 'chai'
import {
  openCommandLog,
  openStreamReader,
  type CommandLog,
  type StreamReader,
} from '../../../actors/matcher/log.js'
import { commandsStream, commandsSubject } from '../../../bus-schemas/subjects.js'
import { type Command, type LoggedCommand } from '../../../core/model/command.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { bytes, rejectionOf, textOf } from '../../runtime/bus/probes.js'
import { openedState } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { encodeCommands } from '../../support/spot-log.js'
import { placeOrder, stageMarket } from './stage.js'

const { market } = stageMarket

describe('a reader of a stream', () => {
  let bus: MemoryBus
  let reader: StreamReader
  let errors: Error[]
  let arrived: number
  beforeEach(async () => {
    bus = createMemoryBus()
    await bus.declareStream({ stream: 'S', subject: 's', description: '' })
    errors = []
    arrived = 0
  })
  afterEach(() => reader.stop())

  async function open(fromSeq = 1) {
    reader = await openStreamReader({
      bus: {
        ...bus,
        follow: ({ onMessage, ...rest }) =>
          bus.follow({
            ...rest,
            onMessage: (message) => {
              arrived += 1
              return onMessage(message)
            },
          }),
      },
      stream: 'S',
      fromSeq,
      onError: (error) => errors.push(error),
    })
  }
  const peeked = async (withinMs = Infinity) => {
    const message = await reader.peek(withinMs)
    return message && textOf(message.data)
  }

  it('gives each message from a place on, the same one until it is taken', async () => {
    for (const text of ['a', 'b', 'c']) await bus.append('s', bytes(text))
    await open(2)
    expect([await peeked(), await peeked()]).to.deep.equal(['b', 'b'])
    reader.take()
    expect(await peeked()).to.equal('c')
    reader.take()
    expect(await peeked(1)).to.equal(undefined)
  })

  it('waits for the next one, for so long or for ever', async () => {
    await open()
    for (const withinMs of [60_000, Infinity]) {
      const waiting = peeked(withinMs)
      await bus.append('s', bytes(`${withinMs}`))
      expect(await waiting).to.equal(`${withinMs}`)
      reader.take()
    }
  })

  it('reads 64 messages ahead, and the next ones when these are taken', async () => {
    for (let n = 0; n < 100; n += 1) await bus.append('s', bytes(`${n}`))
    await open()
    await eventually(() => arrived === 64)
    await new Promise((resolve) => setImmediate(resolve))
    expect(arrived).to.equal(64)
    for (let n = 0; n < 100; n += 1) {
      expect(arrived).to.equal(n < 64 ? 64 : 100)
      expect(await peeked()).to.equal(`${n}`)
      reader.take()
      if (n === 63) await eventually(() => arrived === 100)
    }
  })

  it('gives what has arrived at once', async () => {
    await open()
    expect(reader.ahead()).to.equal(undefined)
    await bus.append('s', bytes('a'))
    await eventually(() => arrived === 1)
    expect(reader.ahead()).to.equal(await reader.peek(Infinity))
    expect(reader.ahead()).to.include({ seq: 1 })
  })

  it('gives nothing more once it is stopped, also where a message is awaited', async () => {
    await open()
    const waiting = rejectionOf(peeked())
    await reader.stop()
    expect(await waiting).to.have.property('name', 'ReaderStopped')
    await bus.append('s', bytes('a'))
    expect(await rejectionOf(peeked())).to.have.property('name', 'ReaderStopped')
    expect(() => reader.ahead()).to.throw('is stopped')
    expect(arrived).to.equal(0)
  })

  it('tells of a stream that does not hold its place any more', async () => {
    for (const text of ['a', 'b', 'c']) await bus.append('s', bytes(text))
    await bus.trim('S', 3)
    await open(1)
    await eventually(() => errors.length === 1)
    expect(errors[0]).to.have.property('name', 'MessagesGone')
  })
})

describe('the command log of a matcher', () => {
  let bus: MemoryBus
  let log: CommandLog
  let sourceNo: number
  beforeEach(async () => {
    bus = createMemoryBus()
    sourceNo = 0
    const stream = commandsStream(market)
    await bus.declareStream({ stream, subject: commandsSubject(market), description: '' })
    log = await openCommandLog({
      bus,
      market,
      state: openedState(),
      commandSeq: 0,
      onError: (error) => {
        throw error
      },
      onStep: () => undefined,
    })
  })
  afterEach(() => log.stop())

  const logged = (command: Command, source = 'intake', no?: number): LoggedCommand => {
    sourceNo += 1
    return { source, sourceNo: no ?? sourceNo, atMs: Date.now(), command }
  }
  const append = (...commands: readonly LoggedCommand[]) =>
    bus.append(commandsSubject(market), encodeCommands(commands))
  const place = (orderId: string) => logged(placeOrder({ orderId, side: 'buy' }))

  it('is where the last message is through, and knows where its stream ends', async () => {
    await append(place('a'))
    await append(place('b'))
    expect([log.commandSeq, await log.endSeq()]).to.deep.equal([0, 2])
    const first = await log.next()
    expect([first.seq, first.commands.length, log.commandSeq]).to.deep.equal([1, 1, 0])
    expect(await log.next()).to.equal(first)
    expect(log.ahead()).to.equal(first)
    expect(await log.nextWithin(0)).to.equal(first)
    expect(() => log.finish()).to.throw('not through')
    first.advance()
    expect(first.step).to.equal(undefined)
    log.finish()
    expect(log.commandSeq).to.equal(1)
    expect(() => log.finish()).to.throw('not through')
    expect((await log.next()).seq).to.equal(2)
    expect(log.state.seq).to.equal(2)
  })

  it('has nothing next when no message arrives in time', async () => {
    expect(await log.nextWithin(1)).to.equal(undefined)
    expect(log.ahead()).to.equal(undefined)
    await append(place('a'))
    expect((await log.nextWithin(60_000))?.seq).to.equal(1)
  })

  it('applies a message in the steps of its blocks, each when it is its turn', async () => {
    // What may change the rules begins a block.
    const pause: Command = { kind: 'MarketPaused', by: 'ada', reason: 'test' }
    await append(place('a'), place('b'), logged(pause), place('c'))
    const message = await log.next()
    const steps: [commands: number, seq: number][] = []
    for (; message.step !== undefined; message.advance()) {
      steps.push([message.step.results.length, log.state.seq])
    }
    expect(steps).to.deep.equal([
      [2, 2],
      [2, 3],
    ])
    expect(message.commands).to.have.length(4)
  })
})
