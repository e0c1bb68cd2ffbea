import { expect } from 'chai'
import { createOwnCommands, type OwnCommands } from '../../../actors/matcher/own-commands.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { createNumbering, type Command, type LoggedCommand } from '../../../core/model/command.js'
import { PENDING_MATCHES_MAX } from '../../../core/model/limits.js'
import { AppendRefused, AppendUnknown, BusUnavailable, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { QueueFull } from '../../../runtime/process/group-commit.js'
import { eventually } from '../../support/eventually.js'
import { decodeCommands } from '../../support/spot-log.js'
import { rejectionOf } from '../../runtime/bus/probes.js'
import { stageMarket } from './stage.js'

const { market } = stageMarket
const TERM = 3
const NOW = 1_700_000_000_000
const proceed = (n: number): Command => ({ kind: 'ContinueOrder', orderId: `o${n}` })

describe('the commands of a matcher itself', () => {
  let bus: MemoryBus
  let unknown: unknown[]
  beforeEach(async () => {
    bus = createMemoryBus()
    unknown = []
    const subject = commandsSubjects(market)
    await bus.declareStream({ stream: commandsStream(market), subject, description: '' })
  })
  const open = (replaced: Partial<Bus> = {}): OwnCommands =>
    createOwnCommands({
      bus: { ...bus, ...replaced },
      market,
      contractType: 'spot',
      term: TERM,
      nowMs: () => NOW,
      onUnknown: (error) => unknown.push(error),
    })

  const messages = () => bus.read(commandsStream(market), 1, 1_000)
  const logged = async (): Promise<LoggedCommand[][]> =>
    (await messages()).map(({ data }) => [...decodeCommands(data)])
  const numbers = createNumbering(TERM)
  const first = numbers.next()
  const second = numbers.next()

  it('are durable in the log, under their own subject, when submitting resolves', async () => {
    const own = open()
    await own.submit({ kind: 'Tick' })
    const [message] = await messages()
    expect(message?.subject).to.equal(commandsSubject(market, 'matcher'))
    expect(await logged()).to.deep.equal([
      [{ source: 'matcher', sourceNo: first, atMs: NOW, command: { kind: 'Tick' } }],
    ])
  })

  it('of an operator name the caller who waits for the answer', async () => {
    const own = open()
    const command: Command = { kind: 'MarketPaused', by: 'ada', reason: 'test' }
    await own.submit(command, { replyTo: 'inbox', requestId: 'r1' })
    await own.submit({ kind: 'Tick' })
    expect(await logged()).to.deep.equal([
      [
        {
          source: 'operator',
          sourceNo: first,
          atMs: NOW,
          command,
          replyTo: 'inbox',
          requestId: 'r1',
        },
      ],
      [{ source: 'matcher', sourceNo: second, atMs: NOW, command: { kind: 'Tick' } }],
    ])
  })

  it('that wait while an append is under way travel together, at most 256 in a message', async () => {
    const own = open()
    const acknowledge = bus.holdAppendAcks()
    const submitted = [own.submit(proceed(0))]
    await eventually(async () => (await messages()).length === 1)
    for (let n = 1; n <= 300; n += 1) submitted.push(own.submit(proceed(n)))
    acknowledge()
    await Promise.all(submitted)
    const sent = await logged()
    expect(sent.map((commands) => commands.length)).to.deep.equal([1, 256, 44])
    const all = sent.flat()
    expect(all.map(({ command }) => command)).to.deep.equal(all.map((_, n) => proceed(n)))
    expect(all.map(({ sourceNo }) => sourceNo)).to.deep.equal(all.map((_, n) => first + n))
  })

  it('are repeated with the same numbers while it is unknown whether they are stored', async () => {
    const own = open()
    bus.failNextAppendAck()
    const submitted = own.submit({ kind: 'Tick' })
    await eventually(() => own.trouble() !== undefined)
    expect(own.trouble()).to.contain('no acknowledgement')
    await submitted
    expect(own.trouble()).to.equal(undefined)
    const [stored, repeated] = await logged()
    expect(repeated).to.deep.equal(stored)
    expect(unknown).to.have.length(1)
    expect(unknown[0]).to.be.instanceOf(AppendUnknown)
  })

  it('are repeated until a server that has no room takes them', async () => {
    let refusals = 2
    const own = open({
      append: (...given) => {
        refusals -= 1
        return refusals >= 0 ? Promise.reject(new AppendRefused('no room')) : bus.append(...given)
      },
    })
    await own.submit({ kind: 'Tick' })
    expect(unknown).to.have.length(2)
    expect(await logged()).to.have.length(1)
  })

  it('fail at once with an error that no repeat clears up', async () => {
    const own = open({ append: () => Promise.reject(new BusUnavailable('closed')) })
    expect(await rejectionOf(own.submit({ kind: 'Tick' }))).to.be.instanceOf(BusUnavailable)
    expect(unknown).to.deep.equal([])
  })

  it('are given up by a stop when they are not durable, and no further one is taken', async () => {
    const own = open()
    bus.setConnected(false)
    const submitted = rejectionOf(own.submit({ kind: 'Tick' }))
    await eventually(() => unknown.length > 0)
    await own.stop()
    expect(await submitted).to.be.instanceOf(AppendUnknown)
    expect(await rejectionOf(own.submit({ kind: 'Tick' }))).to.be.instanceOf(QueueFull)
    bus.setConnected(true)
    expect(await logged()).to.deep.equal([])
  })

  it('have room for two of each match that may be pending, and no more', async () => {
    const own = open({ append: () => new Promise(() => undefined) })
    const refused: unknown[] = []
    for (let n = 0; n <= 2 * PENDING_MATCHES_MAX; n += 1) {
      own.submit({ kind: 'Tick' }).catch((error: unknown) => refused.push(error))
    }
    await eventually(() => refused.length > 0)
    expect(refused).to.have.length(1)
    expect(refused[0]).to.be.instanceOf(QueueFull)
  })
})
