import { expect } from 'chai'
import { commandsStream, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { createNumbering, termOf, type Command } from '../../../core/model/command.js'
import { createLogWriter, type LogWriterOptions } from '../../../runtime/actor/command-writer.js'
import { AppendRefused, NotPermitted, WrongLastSequence } from '../../../runtime/bus/bus.js'
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
      ...{ bus, market, contractType: 'spot', writer: 'matcher', numbers: createNumbering(3) },
      ...{ nowMs: () => NOW_MS, signal: new AbortController().signal },
      onUnknown: (error) => unknown.push(error),
      ...options,
    })
  const messages = async () => {
    const { lastSeq } = await bus.streamState(stream)
    return (await bus.read(stream, 1, lastSeq + 1)).map(({ subject, data }) => ({
      ...{ subject, commands: decodeCommands(data) },
    }))
  }
  const ticks = (count: number) =>
    Array.from({ length: count }, () => ({ source: 'matcher', command: tick }))

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

  it('fences each message by the one before where nothing else may write', async () => {
    await open({ endSeq: 0 }).append(ticks(300))
    const writer = open({ endSeq: 2 })
    await writer.append(ticks(1))
    await open().append(ticks(1))
    expect(await rejectionOf(writer.append(ticks(1)))).to.be.instanceOf(WrongLastSequence)
    expect(await messages()).to.have.length(4)
  })
})
