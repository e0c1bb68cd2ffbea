import { expect } from 'chai'
import { createNumbering, termOf } from '../../../core/model/command.js'
import {
  CommandUnderivable,
  createCommandLog,
  isFinal,
  MAX_GROUP,
  MAX_QUEUE,
  type CommandLogWriter,
  type LogEntry,
  type SubmitOutcome,
} from '../../../actors/order-intake/command-log.js'
import { LogMismatch } from '../../../actors/order-intake/fold-log.js'
import { MAX_MESSAGE_BYTES } from '../../../bus-schemas/envelope.js'
import { commandsStream, commandsSubject, commandsSubjects } from '../../../bus-schemas/subjects.js'
import { InvariantBroken } from '../../../core/assert.js'
import { amountE18 } from '../../../core/money.js'
import { DiskTrouble } from '../../../data/disk-trouble.js'
import type { IntakeRegistry } from '../../../data/intake-registry.js'
import { claimOf } from '../../../data/recent-claims.js'
import { AppendUnknown, type Bus } from '../../../runtime/bus/bus.js'
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
  return {
    command: { kind: 'PlaceOrder', order },
    claim: claimOf(aMarket(), order),
    replyTo: 'no-inbox',
    requestId: `request-${number}`,
  }
}

const entries = (count: number): LogEntry[] =>
  Array.from({ length: count }, (_, index) => entryOf(index + 1))

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('expected a rejection'),
    (error: unknown) => error,
  )

const logMarket = { market, contractType: 'spot' } as const

describe('the command log of order intake', () => {
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    await bus.declareStream({ stream, subject: commandsSubjects(market), description: 'test' })
    matcher = await startFakeMatcher(bus, market)
  })

  afterEach(async () => {
    await matcher.stop()
    stage.close()
  })

  /** Not yet in a term. */
  const createLog = (
    through: Bus = bus,
    elapsedMs?: () => number,
    registry: IntakeRegistry = stage.registry(),
  ) =>
    createCommandLog({
      ...logMarket,
      bus: through,
      registry,
      claimOf: (order) => claimOf(aMarket(), order),
      nowMs: () => 1_760_000_000_000,
      log: silentLog,
      ...(elapsedMs && { elapsedMs }),
    })
  const nextTerm = () => termOf(stage.registry().lastNo()) + 1
  const begin = (commandLog: CommandLogWriter, term = nextTerm(), id = `intake-${term}`) =>
    commandLog.begin({ numbers: createNumbering(term), id })
  const openLog = async (
    through: Bus = bus,
    elapsedMs?: () => number,
  ): Promise<CommandLogWriter> => {
    const commandLog = createLog(through, elapsedMs)
    await commandLog.recover()
    await begin(commandLog)
    return commandLog
  }
  const isTaken = (number: number): boolean =>
    stage.registry().findOrder(`order-${number}`) !== undefined

  const takenIds = (): string[] =>
    matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.orderId : command.kind,
    )
  const messageSizes = (): number[] =>
    matcher.messages
      .filter((commands) => commands.some(({ command }) => command.kind === 'PlaceOrder'))
      .map((commands) => commands.length)
  const tick = () =>
    bus.append(
      commandsSubject(market),
      encodeCommands([
        { source: 'matcher', sourceNo: 1_000_000, atMs: 1, command: { kind: 'Tick' } },
      ]),
    )

  it('appends one command at once and everything that waited as one message', async () => {
    const commandLog = await openLog()
    const release = bus.holdAppendAcks()
    const submitted = entries(64).map((entry, index) =>
      // The first is under way before the others come.
      index === 0
        ? commandLog.submit(entry)
        : Promise.resolve().then(() => commandLog.submit(entry)),
    )
    release()
    expect(await Promise.all(submitted)).to.deep.equal(Array(64).fill({ kind: 'logged' }))
    await eventually(() => matcher.taken.length === 64)
    expect(messageSizes().length).to.be.at.most(3)
    const numbers = matcher.taken.map(({ sourceNo }) => sourceNo)
    expect(numbers).to.deep.equal(numbers.map((_, index) => (numbers[0] ?? 0) + index))
  })

  it('appends nothing that the step could not derive, and goes on with the others (OPE-022)', async () => {
    const commandLog = await openLog()
    const { command, claim } = entryOf(1)
    if (command.kind !== 'PlaceOrder' || claim === undefined) throw new Error(command.kind)
    const { order } = command
    const initialFilled = amountE18(order.desiredAmount + 1n)
    const bad = { ...entryOf(1), command: { ...command, order: { ...order, initialFilled } } }
    expect(await rejection(commandLog.submit(bad))).to.be.instanceOf(CommandUnderivable)
    expect(isTaken(1)).to.equal(false)
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
    await eventually(() => expect(takenIds()).to.deep.equal(['order-2']))
  })

  it('takes no order while too many claims wait to be stored, and goes on with cancels', async () => {
    let isFull = true
    const registry = { ...stage.registry(), isFull: () => isFull }
    const commandLog = createLog(bus, undefined, registry)
    await commandLog.recover()
    await begin(commandLog)
    expect(await commandLog.submit(entryOf(1))).to.deep.equal({ kind: 'busy' })
    const { owner, nonce } = anOrder()
    const cancel = { kind: 'CancelOrder', owner, nonce, reason: 'unspecified' } as const
    expect(await commandLog.submit({ command: cancel })).to.deep.equal({ kind: 'logged' })
    isFull = false
    expect(isTaken(1)).to.equal(false)
    expect(await commandLog.submit(entryOf(1))).to.deep.equal({ kind: 'logged' })
  })

  it(`bounds a message to ${MAX_GROUP} commands`, async () => {
    const commandLog = await openLog()
    await Promise.all(entries(300).map((entry) => commandLog.submit(entry)))
    await eventually(() => matcher.taken.length === 300)
    expect(Math.max(...messageSizes())).to.equal(MAX_GROUP)
    expect(messageSizes()).to.have.length(3)
  })

  it('refuses beyond its queue before anything is stored', async () => {
    // On a clock that stands, so that a slow machine makes no entry stale.
    const commandLog = await openLog(bus, () => 0)
    const release = bus.holdAppendAcks()
    const first = commandLog.submit(entryOf(1))
    await eventually(() => isTaken(1))
    const waiting = Array.from({ length: MAX_QUEUE }, (_, index) =>
      commandLog.submit(entryOf(index + 2)),
    )
    const excess = await commandLog.submit(entryOf(MAX_QUEUE + 2))
    expect(excess).to.deep.equal({ kind: 'busy' })
    expect(isTaken(MAX_QUEUE + 2)).to.equal(false)
    release()
    const outcomes = await Promise.all([first, ...waiting])
    expect(outcomes.every(({ kind }) => kind === 'logged')).to.equal(true)
  })

  it('refuses what waited longer than its caller does, and keeps nothing of it', async () => {
    let now = 0
    const commandLog = await openLog(bus, () => now)
    const release = bus.holdAppendAcks()
    const first = commandLog.submit(entryOf(1))
    await eventually(() => isTaken(1))
    const second = commandLog.submit(entryOf(2))
    now = 2_501
    const third = commandLog.submit(entryOf(3))
    release()
    expect(await Promise.all([first, second, third])).to.deep.equal([
      { kind: 'logged' },
      { kind: 'busy' },
      { kind: 'logged' },
    ])
    expect(isTaken(2)).to.equal(false)
    await eventually(() => matcher.taken.length === 2)
    expect(takenIds()).to.deep.equal(['order-1', 'order-3'])
  })

  it('stores an append whose acknowledgement is lost once, and repeats one that was lost', async () => {
    const commandLog = await openLog()
    bus.failNextAppendAck()
    expect(await commandLog.submit(entryOf(1))).to.deep.equal({ kind: 'logged' })
    bus.loseNextAppend()
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 2)
    expect(messageSizes()).to.deep.equal([1, 1])
    expect(stage.registry().folded(market).streamSeq).to.equal(3)
  })

  it('keeps what it cannot append and appends it when the stream is back', async () => {
    const connection = bus.connect()
    const commandLog = await openLog(connection)
    connection.setConnected(false)
    const first = commandLog.submit(entryOf(1))
    await eventually(() => isTaken(1))
    expect(matcher.taken).to.deep.equal([])
    connection.setConnected(true)
    expect(await first).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 1)
  })

  it('blocks an order on its way in every market, and says when it is settled', async () => {
    const commandLog = await openLog()
    const release = bus.holdAppendAcks()
    const first = commandLog.submit(entryOf(1))
    await eventually(() => isTaken(1))
    const { claim } = entryOf(1)
    expect(stage.registry().take('other-market', claim!)).to.have.property('kind', 'taken')
    let isSettled = false
    const settled = commandLog.settled().then(() => (isSettled = true))
    await new Promise(setImmediate)
    expect(isSettled).to.equal(false)
    release()
    await Promise.all([first, settled])
  })

  it('gives up what it cannot append before it stops, and the order may be sent again', async () => {
    const connection = bus.connect()
    const commandLog = await openLog(connection)
    connection.setConnected(false)
    const submitted = rejection(commandLog.submit(entryOf(1)))
    await eventually(() => isTaken(1))
    await commandLog.stop()
    expect(await submitted).to.be.instanceOf(AppendUnknown)
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'busy' })
    stage.reopen()
    const successor = await openLog()
    expect(await successor.submit(entryOf(1))).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 1)
  })

  it('lets nothing follow what it is not sure of when it stops', async () => {
    let tries = 0
    let isBack = false
    const commandLog = await openLog()
    const line = { ...bus }
    bus.append = (...args) => {
      tries += 1
      return isBack ? line.append(...args) : Promise.reject(new AppendUnknown('lost'))
    }
    const first = rejection(commandLog.submit(entryOf(1)))
    await eventually(() => tries === 2)
    const second = commandLog.submit(entryOf(2))
    isBack = true
    await commandLog.stop()
    expect(await first)
      .to.be.instanceOf(AppendUnknown)
      .with.property('message', 'lost')
    expect(await second).to.deep.equal({ kind: 'busy' })
    expect((await bus.streamState(stream)).lastSeq).to.equal(1)
  })

  it('waits while its disk takes no claims, names it, and goes on when it does', async () => {
    const trouble = new DiskTrouble('disk full')
    let isFull = false
    const registry = stage.registry()
    const fold: typeof registry.fold = (...args) => {
      if (isFull) throw trouble
      return registry.fold(...args)
    }
    const commandLog = createLog(bus, undefined, { ...registry, fold })
    await commandLog.recover()
    await begin(commandLog)
    isFull = true
    // What the matcher tells is no reason to end.
    commandLog.heard({ ...registry.folded(stage.market.market), streamSeq: 1_000, feedSeq: 1 })
    const first = commandLog.submit(entryOf(1))
    await eventually(() => commandLog.trouble() === 'disk full')
    isFull = false
    expect(await first).to.deep.equal({ kind: 'logged' })
    expect(commandLog.trouble()).to.equal(undefined)
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
  })

  it('ends with an error that it cannot account for, which is final', async () => {
    const commandLog = await openLog()
    const cause = new TypeError('a fault of the program')
    const line = { ...bus }
    bus.append = () => Promise.reject(cause)
    const error = await rejection(commandLog.submit(entryOf(1)))
    expect(isFinal(error)).to.equal(true)
    expect(error).to.be.instanceOf(InvariantBroken).with.property('cause', cause)
    bus.append = (...args) => line.append(...args)
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'busy' })
  })

  /** A process dies at its first order: before the message goes out, or after it arrived. */
  const dyingBus = (when: 'before append' | 'after append') => {
    const state = { isArmed: false, hasDied: false }
    const append = async (...args: Parameters<Bus['append']>): Promise<number> => {
      if (!state.isArmed) return bus.append(...args)
      if (when === 'after append') await bus.append(...args)
      state.hasDied = true
      return new Promise<number>(() => undefined)
    }
    return { bus: { ...bus, append }, state }
  }

  for (const when of ['before append', 'after append'] as const) {
    for (const others of [0, 1, 600]) {
      it(`logs an order once when it dies ${when}, ${others} other commands behind`, async () => {
        const dying = dyingBus(when)
        const dead = await openLog(dying.bus)
        dying.state.isArmed = true
        void dead.submit(entryOf(1))
        await eventually(() => dying.state.hasDied)
        for (let i = 0; i < others; i += 1) await tick()

        stage.reopen()
        const commandLog = await openLog()
        const again = await commandLog.submit(entryOf(1))
        // Its caller had no answer, and sends it again.
        expect(again.kind).to.equal(when === 'after append' ? 'taken' : 'logged')
        expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
        await eventually(() => matcher.taken.length === 2)
        expect(takenIds()).to.deep.equal(['order-1', 'order-2'])
        // Two epoch markers and two orders.
        expect((await bus.streamState(stream)).lastSeq).to.equal(others + 4)
      })
    }
  }

  it('will not go on when the stream was rolled back', async () => {
    stage.registry().fold(market, [], { streamSeq: 5, lastNo: 0 })
    const error = await rejection(createLog().recover())
    expect(error).to.be.instanceOf(LogMismatch)
    expect(error).to.have.property('market', market)
    expect(error).to.have.property('message').that.contains('rolled back')
  })

  it('judges claims in the order in which they came, inside one message too', async () => {
    const commandLog = await openLog()
    const clash: LogEntry = { ...entryOf(2), claim: { ...entryOf(1).claim!, orderId: 'another' } }
    const outcomes: SubmitOutcome[] = await Promise.all(
      [entryOf(1), entryOf(1), clash, entryOf(3)].map((entry) => commandLog.submit(entry)),
    )
    expect(outcomes.map((o) => (o.kind === 'taken' ? o.by : o.kind))).to.deep.equal([
      'logged',
      'order_id',
      'nonce',
      'logged',
    ])
    await eventually(() => matcher.taken.length === 2)
    expect(takenIds()).to.deep.equal(['order-1', 'order-3'])
  })

  it('takes no claim when the message cannot be encoded', async () => {
    const commandLog = await openLog()
    const signature = `0x${'5a'.repeat(MAX_MESSAGE_BYTES / 2)}` as const
    const { command, ...entry } = entryOf(2)
    if (command.kind !== 'PlaceOrder') throw new Error('expected an order')
    const tooLong = { ...entry, command: { ...command, order: { ...command.order, signature } } }
    expect(await rejection(commandLog.submit(tooLong))).to.have.property('message')
    expect(isTaken(2)).to.equal(false)
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
  })
})
