import { expect } from 'chai'
import { commandsStream, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { createNumbering, termOf, type Command } from '../../../core/model/command.js'
import {
  createLogWriter,
  type LogMessage,
  type LogWriterOptions,
} from '../../../runtime/actor/command-writer.js'
import {
  AppendRefused,
  NotPermitted,
  WrongLastSequence,
  type AppendOptions,
} from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { decodeCommands } from '../../support/spot-log.js'
import { rejectionOf } from '../bus/probes.js'

const market = 'cNGN-USDC'
const stream = commandsStream(market)
const NOW_MS = 1_790_000_000_000
const tick: Command = { kind: 'Tick' }

describe('the writer of a command log', () => {
  let bus: MemoryBus
  let unknown: unknown[]
  beforeEach(async () => {
    bus = createMemoryBus()
    unknown = []
    await bus.declareStream({ stream, subject: commandsSubjects(market), description: 'a log' })
  })

  const open = (options: Partial<LogWriterOptions> = {}) =>
    createLogWriter({
      bus,
      market,
      contractType: 'spot',
      writer: 'matcher',
      source: 'matcher',
      numbers: createNumbering(3),
      nowMs: () => NOW_MS,
      signal: new AbortController().signal,
      onUnknown: (error) => unknown.push(error),
      ...options,
    })
  const messages = async () => {
    const { lastSeq } = await bus.streamState(stream)
    return (await bus.read(stream, 1, lastSeq + 1)).map(({ subject, data }) => ({
      subject,
      commands: decodeCommands(data),
    }))
  }
  const ticks = (count: number) => Array.from({ length: count }, () => ({ command: tick }))

  it('numbers commands in the writer’s term, in few messages under the writer’s subject', async () => {
    const writer = open()
    await writer.append(ticks(300))
    await writer.append([{ source: 'operator', command: tick, requestId: 'r', replyTo: 'to' }])
    const found = await messages()
    expect(found.map(({ commands }) => commands.length)).to.deep.equal([256, 44, 1])
    expect(new Set(found.map(({ subject }) => subject))).to.deep.equal(
      new Set([`commands.${market}.matcher`]),
    )
    const logged = found.flatMap(({ commands }) => commands)
    const [first] = logged
    expect(logged.map(({ sourceNo }) => sourceNo - (first?.sourceNo ?? 0))).to.deep.equal(
      Array.from({ length: 301 }, (_, n) => n),
    )
    expect([termOf(first?.sourceNo ?? 0), first?.atMs]).to.deep.equal([3, NOW_MS])
    expect(logged.at(-1)).to.deep.include({ source: 'operator', requestId: 'r', replyTo: 'to' })
  })

  it('repeats what may not be stored with the same numbers, and says so meanwhile', async () => {
    const writer = open()
    bus.failNextAppendAck()
    const appending = writer.append(ticks(1))
    await eventually(() => writer.trouble() !== undefined)
    await appending
    expect([writer.trouble(), unknown.length]).to.deep.equal([undefined, 1])
    const [first, second] = (await messages()).map(({ commands }) => commands)
    expect(second).to.deep.equal(first)
  })

  it('waits while the server refuses, and gives up with that error when it is stopped', async () => {
    const refused = new AppendRefused('no room')
    const stopping = new AbortController()
    const append = () => Promise.reject(refused)
    const writer = open({ bus: { append }, signal: stopping.signal })
    const appending = rejectionOf(writer.append(ticks(1)))
    await eventually(() => unknown.length > 1)
    stopping.abort()
    expect(await appending).to.equal(refused)
  })

  it('fails at once with what does not clear up', async () => {
    const failure = new NotPermitted('not yours')
    const writer = open({ bus: { append: () => Promise.reject(failure) } })
    expect(await rejectionOf(writer.append(ticks(1)))).to.equal(failure)
    expect(unknown).to.deep.equal([])
  })

  it('looks a message up before it repeats it, and says under which number the log holds each', async () => {
    const looked: LogMessage[] = []
    const lookUp = (message: LogMessage) => {
      looked.push(message)
      return Promise.resolve(looked.length === 1 ? undefined : 7)
    }
    const writer = open({ lookUp })
    const [first, second] = [...writer.compose(ticks(1)), ...writer.compose(ticks(2))]
    if (first === undefined || second === undefined) throw new Error('no message')
    expect(second.lastNo - first.lastNo).to.equal(2)
    bus.loseNextAppend()
    expect(await writer.store(first)).to.equal(1)
    bus.failNextAppendAck()
    expect(await writer.store(second)).to.equal(7)
    expect(looked).to.deep.equal([first, second])
    expect([writer.trouble(), unknown.length]).to.deep.equal([undefined, 2])
    expect(await messages()).to.have.length(2)
  })

  it('fails with what looking up fails with', async () => {
    const failure = new Error('another leads')
    const writer = open({ lookUp: () => Promise.reject(failure) })
    bus.loseNextAppend()
    expect(await rejectionOf(writer.append(ticks(1)))).to.equal(failure)
  })

  it('gives each message an id where it has one of its own, and says when one was sent', async () => {
    const sent: unknown[] = []
    const append = (_subject: string, _data: Uint8Array, options?: AppendOptions) => {
      sent.push(options)
      return Promise.resolve(1)
    }
    const writer = open({ bus: { append }, id: 'a', onSent: () => sent.push('sent') })
    const [message] = writer.compose(ticks(2))
    if (message === undefined) throw new Error('no message')
    await writer.store(message)
    expect(sent).to.deep.equal([{ messageId: `matcher:a:${message.lastNo}` }, 'sent'])
  })

  it('fences each message by the one before where nothing else may write', async () => {
    await open({ endSeq: 0 }).append(ticks(300))
    const writer = open({ endSeq: 2 })
    await writer.append(ticks(1))
    await open().append(ticks(1))
    expect(await rejectionOf(writer.append(ticks(1)))).to.be.instanceOf(WrongLastSequence)
    expect(await messages()).to.have.length(4)
  })
})
