import { expect } from 'chai'
import {
  createCommandLog,
  type CommandLogWriter,
  type LogEntry,
} from '../../../actors/order-intake/command-log.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { createNumbering, termOf, type LoggedCommand } from '../../../core/model/command.js'
import { claimOf } from '../../../data/recent-claims.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { aMarket, anOrder } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, silentLog, type IntakeStage } from '../../support/intake-stage.js'
import { encodeCommands } from '../../support/spot-log.js'

const market = 'cNGN-USDC'
const stream = commandsStream(market)

function entryOf(number: number): LogEntry {
  const order = anOrder({ orderId: `order-${number}`, nonce: BigInt(number) })
  return { command: { kind: 'PlaceOrder', order }, claim: claimOf(aMarket(), order) }
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('expected a rejection'),
    (error: unknown) => error,
  )

describe('the terms of order intake', () => {
  let bus: MemoryBus
  let matcher: FakeMatcher
  const stages: IntakeStage[] = []

  beforeEach(async () => {
    bus = createMemoryBus()
    await bus.declareStream({ stream, subject: commandsSubjects(market), description: 'test' })
    matcher = await startFakeMatcher(bus, market)
  })
  afterEach(async () => {
    await matcher.stop()
    for (const stage of stages.splice(0)) stage.close()
  })

  const aStage = (): IntakeStage => {
    const stage = anIntakeStage()
    stages.push(stage)
    return stage
  }
  const createLog = (stage: IntakeStage, through: Bus = bus): CommandLogWriter =>
    createCommandLog({
      market,
      contractType: 'spot',
      bus: through,
      registry: stage.registry(),
      claimOf: (order) => claimOf(aMarket(), order),
      nowMs: () => 1_760_000_000_000,
      log: silentLog,
    })
  const begin = (commandLog: CommandLogWriter, term: number, id = `intake-${term}`) =>
    commandLog.begin({ numbers: createNumbering(term), id })
  const openLog = async (stage: IntakeStage, through?: Bus): Promise<CommandLogWriter> => {
    const commandLog = createLog(stage, through)
    await commandLog.recover()
    await begin(commandLog, termOf(stage.registry().lastNo()) + 1)
    return commandLog
  }
  const takenIds = (): string[] =>
    matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.orderId : command.kind,
    )
  const logged = (sourceNo: number, number: number): LoggedCommand => ({
    source: 'intake',
    sourceNo,
    atMs: 1,
    command: entryOf(number).command,
  })
  const write = (...commands: LoggedCommand[]) =>
    bus.append(commandsSubject(market), encodeCommands(commands))

  /** A connection that keeps what is appended until it is let through. */
  const slowBus = () => {
    const kept: (() => void)[] = []
    let isSlow = false
    const append = async (...args: Parameters<Bus['append']>): Promise<number> => {
      if (isSlow) await new Promise<void>((resolve) => kept.push(resolve))
      return bus.append(...args)
    }
    const letThrough = (): void => {
      for (const each of kept.splice(0)) each()
    }
    return { bus: { ...bus, append }, slow: () => (isSlow = true), kept, letThrough }
  }

  it('make the markets skip what an earlier intake appends late, and its claims are free', async () => {
    const line = slowBus()
    const old = await openLog(aStage(), line.bus)
    expect((await old.submit(entryOf(1))).kind).to.equal('logged')
    line.slow()
    void old.submit(entryOf(2))
    await eventually(() => line.kept.length === 1)

    const second = aStage()
    const fresh = await openLog(second)
    line.letThrough()
    await eventually(async () => (await bus.streamState(stream)).lastSeq === 4)
    expect((await fresh.submit(entryOf(1))).kind).to.equal('taken')
    expect((await fresh.submit(entryOf(2))).kind).to.equal('logged')
    await eventually(() => matcher.taken.length === 2)
    expect(takenIds()).to.deep.equal(['order-1', 'order-2'])

    // A third one reads the same from the log alone.
    await openLog(aStage())
    const third = stages.at(-1)?.registry()
    expect(third?.findOrder('order-2')?.market).to.equal(market)
    expect(third?.folded(market)).to.deep.include({ streamSeq: 6 })
  })

  it('include the orders that an earlier intake appends before the epoch marker', async () => {
    const stage = aStage()
    const commandLog = createLog(stage)
    await commandLog.recover()
    await write(logged(7, 1))
    await begin(commandLog, 1)
    expect((await commandLog.submit(entryOf(1))).kind).to.equal('taken')
  })

  it('end for an intake that meets a newer one while it retries', async () => {
    const stage = aStage()
    const old = await openLog(stage)
    await openLog(aStage())
    bus.loseNextAppend()
    expect(await rejection(old.submit(entryOf(1)))).to.be.instanceOf(Fenced)
    expect((await old.submit(entryOf(2))).kind).to.equal('busy')
  })

  it('end for an intake whose market came back with a later term, before it writes there', async () => {
    const commandLog = createLog(aStage())
    await write(logged(createNumbering(5).next(), 1))
    await commandLog.recover()
    expect(await rejection(begin(commandLog, 5))).to.be.instanceOf(Fenced)
    expect((await bus.streamState(stream)).lastSeq).to.equal(1)
  })

  it('are begun by one of two that start at once', async () => {
    const logs = [createLog(aStage()), createLog(aStage())] as const
    for (const each of logs) await each.recover()
    await begin(logs[0], 1, 'first')
    expect(await rejection(begin(logs[1], 1, 'second'))).to.be.instanceOf(Fenced)
    expect((await logs[0].submit(entryOf(1))).kind).to.equal('logged')
    await eventually(() => matcher.taken.length === 1)
  })

  it('begin once, also when the acknowledgement of the epoch marker is lost', async () => {
    for (const fault of ['failNextAppendAck', 'loseNextAppend'] as const) {
      const commandLog = createLog(aStage())
      await commandLog.recover()
      bus[fault]()
      const { lastSeq } = await bus.streamState(stream)
      await begin(commandLog, 1 + lastSeq)
      expect((await bus.streamState(stream)).lastSeq).to.equal(lastSeq + 1)
    }
  })

  it('take a repeated message of the log once, as the market does', async () => {
    await write(logged(1, 1), logged(2, 2))
    await write(logged(1, 1), logged(2, 2))
    await write(logged(2, 3), logged(3, 4))
    const stage = aStage()
    await openLog(stage)
    const isTaken = (number: number) => stage.registry().findOrder(`order-${number}`) !== undefined
    expect([1, 2, 3, 4].map(isTaken)).to.deep.equal([true, true, false, true])
  })

  it('count how far the market has come without a command of the intake', async () => {
    const stage = aStage()
    const commandLog = await openLog(stage)
    const { lastNo } = stage.registry().folded(market)
    commandLog.heard({ streamSeq: 50, lastNo: lastNo - 1, feedSeq: 0 })
    expect(stage.registry().folded(market)).to.deep.equal({ streamSeq: 1, lastNo })
    commandLog.heard({ streamSeq: 50, lastNo, feedSeq: 0 })
    expect(stage.registry().folded(market)).to.deep.equal({ streamSeq: 50, lastNo })
  })
})
