import { expect } from 'chai'
import {
  createCommandLog,
  LogMismatch,
  MAX_GROUP,
  MAX_QUEUE,
  type SubmitOutcome,
} from '../../../actors/order-intake/command-log.js'
import { commandsStream, commandsSubject } from '../../../bus-schemas/subjects.js'
import type { LogEntry } from '../../../data/intake-registry.js'
import { AppendUnknown, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { anOrder } from '../../support/builders.js'
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
    claim: {
      orderId: order.orderId,
      owner: order.owner,
      nonce: order.nonce,
      fingerprint: Buffer.from([1]),
    },
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
    await bus.declareStream({ stream, subject: commandsSubject(market), description: 'test' })
    matcher = await startFakeMatcher(bus, market)
  })

  afterEach(async () => {
    await matcher.stop()
    stage.close()
  })

  const openLog = (
    through: Pick<Bus, 'append' | 'read' | 'streamState'> = bus,
    elapsedMs?: () => number,
  ) =>
    createCommandLog({
      ...logMarket,
      bus: through,
      registry: stage.registry(),
      nowMs: () => 1_760_000_000_000,
      log: silentLog,
      ...(elapsedMs && { elapsedMs }),
    })

  const takenIds = (): string[] =>
    matcher.taken.map(({ command }) =>
      command.kind === 'PlaceOrder' ? command.order.orderId : command.kind,
    )
  const messageSizes = (): number[] => matcher.messages.map((commands) => commands.length)
  const tick = () =>
    bus.append(
      commandsSubject(market),
      encodeCommands([
        { source: 'matcher', sourceNo: 1_000_000, atMs: 1, command: { kind: 'Tick' } },
      ]),
    )

  it('appends one command at once and everything that waited as one message', async () => {
    const release = bus.holdAppendAcks()
    const commandLog = openLog()
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
    expect(matcher.taken.map(({ sourceNo }) => sourceNo)).to.deep.equal(
      Array.from({ length: 64 }, (_, index) => index + 1),
    )
  })

  it(`bounds a message to ${MAX_GROUP} commands`, async () => {
    const commandLog = openLog()
    await Promise.all(entries(300).map((entry) => commandLog.submit(entry)))
    await eventually(() => matcher.taken.length === 300)
    expect(Math.max(...messageSizes())).to.equal(MAX_GROUP)
    expect(messageSizes()).to.have.length(3)
  })

  it('refuses beyond its queue before anything is stored', async () => {
    const release = bus.holdAppendAcks()
    // On a clock that stands, so that a slow machine makes no entry stale.
    const commandLog = openLog(bus, () => 0)
    const first = commandLog.submit(entryOf(1))
    await eventually(() => stage.registry().lastNo() === 1)
    const waiting = Array.from({ length: MAX_QUEUE }, (_, index) =>
      commandLog.submit(entryOf(index + 2)),
    )
    const excess = await commandLog.submit(entryOf(MAX_QUEUE + 2))
    expect(excess).to.deep.equal({ kind: 'busy' })
    expect(stage.registry().findOrder(`order-${MAX_QUEUE + 2}`)).to.equal(undefined)
    release()
    const outcomes = await Promise.all([first, ...waiting])
    expect(outcomes.every(({ kind }) => kind === 'logged')).to.equal(true)
  })

  it('refuses what waited longer than its caller does, and keeps nothing of it', async () => {
    let now = 0
    const release = bus.holdAppendAcks()
    const commandLog = openLog(bus, () => now)
    const first = commandLog.submit(entryOf(1))
    await eventually(() => stage.registry().lastNo() === 1)
    const second = commandLog.submit(entryOf(2))
    now = 2_501
    const third = commandLog.submit(entryOf(3))
    release()
    expect(await Promise.all([first, second, third])).to.deep.equal([
      { kind: 'logged' },
      { kind: 'busy' },
      { kind: 'logged' },
    ])
    expect(stage.registry().findOrder('order-2')).to.equal(undefined)
    await eventually(() => matcher.taken.length === 2)
    expect(takenIds()).to.deep.equal(['order-1', 'order-3'])
  })

  it('stores an append whose acknowledgement is lost once, and repeats one that was lost', async () => {
    const commandLog = openLog()
    bus.failNextAppendAck()
    expect(await commandLog.submit(entryOf(1))).to.deep.equal({ kind: 'logged' })
    bus.loseNextAppend()
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 2)
    expect(messageSizes()).to.deep.equal([1, 1])
    expect(stage.registry().outbox(market)).to.deep.equal([])
  })

  it('keeps what it cannot publish and publishes it when the stream is back', async () => {
    const connection = bus.connect()
    const commandLog = openLog(connection)
    connection.setConnected(false)
    const first = commandLog.submit(entryOf(1))
    await eventually(() => stage.registry().outbox(market).length === 1)
    expect(matcher.taken).to.deep.equal([])
    connection.setConnected(true)
    expect(await first).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 1)
  })

  it('leaves unpublished what it cannot publish before it stops', async () => {
    const connection = bus.connect()
    connection.setConnected(false)
    const commandLog = openLog(connection)
    const submitted = rejection(commandLog.submit(entryOf(1)))
    await eventually(() => stage.registry().outbox(market).length === 1)
    await commandLog.stop()
    expect(await submitted).to.have.property('message', 'the command log is stopping')
    expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'busy' })
    await openLog().recover()
    await eventually(() => matcher.taken.length === 1)
  })

  it('lets nothing overtake what it leaves unpublished when it stops', async () => {
    let tries = 0
    let isBack = false
    const commandLog = openLog({
      ...bus,
      append: (...args) => {
        tries += 1
        return isBack ? bus.append(...args) : Promise.reject(new AppendUnknown('lost'))
      },
    })
    const first = rejection(commandLog.submit(entryOf(1)))
    await eventually(() => tries === 2)
    const second = commandLog.submit(entryOf(2))
    isBack = true
    await commandLog.stop()
    expect(await first).to.have.property('message', 'the command log is stopping')
    expect(await second).to.deep.equal({ kind: 'busy' })

    const successor = openLog()
    await successor.recover()
    expect(await successor.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
    await eventually(() => matcher.taken.length === 2)
    expect(takenIds()).to.deep.equal(['order-1', 'order-2'])
  })

  /** A bus of a process that dies at its first append: before the message goes out, or after it arrived. */
  const dyingBus = (when: 'before publish' | 'after publish') => {
    let appended = false
    return {
      ...bus,
      append: async (...args: Parameters<Bus['append']>): Promise<number> => {
        if (when === 'after publish') await bus.append(...args)
        appended = true
        return new Promise<number>(() => undefined)
      },
      hasDied: () => appended,
    }
  }

  for (const when of ['before publish', 'after publish'] as const) {
    for (const others of [0, 1, 600]) {
      it(`logs an order once when it dies ${when}, ${others} other commands behind`, async () => {
        const dying = dyingBus(when)
        const dead = openLog(dying)
        void dead.submit(entryOf(1))
        await eventually(dying.hasDied)
        for (let i = 0; i < others; i += 1) await tick()

        stage.reopen()
        const commandLog = openLog()
        await commandLog.recover()
        expect(await commandLog.submit(entryOf(1))).to.deep.include({
          kind: 'taken',
          by: 'order_id',
        })
        expect(await commandLog.submit(entryOf(2))).to.deep.equal({ kind: 'logged' })
        const { lastSeq } = await bus.streamState(stream)
        expect(lastSeq).to.equal(others + 2)
        expect(stage.registry().outbox(market)).to.deep.equal([])
      })
    }
  }

  it('publishes several unpublished messages in their order', async () => {
    const registry = stage.registry()
    for (const number of [1, 2, 3]) registry.commit(logMarket, [entryOf(number)], 1)
    await openLog().recover()
    await eventually(() => matcher.taken.length === 3)
    expect(takenIds()).to.deep.equal(['order-1', 'order-2', 'order-3'])
    expect(registry.published(market)).to.deep.equal({ streamSeq: 3, lastNo: 3 })
  })

  it('finds its own last command behind a trimmed start of the stream', async () => {
    stage.registry().commit(logMarket, [entryOf(1)], 1)
    for (let i = 0; i < 5; i += 1) await tick()
    await bus.trim(stream, 4)
    await openLog().recover()
    expect((await bus.streamState(stream)).lastSeq).to.equal(6)
  })

  it('will not go on when the stream was rolled back, or the registry was', async () => {
    stage.registry().markPublished(market, { streamSeq: 5, lastNo: 0 })
    expect(await rejection(openLog().recover())).to.be.instanceOf(LogMismatch)
    stage.registry().markPublished(market, { streamSeq: 0, lastNo: 0 })
    const { command } = entryOf(7)
    const foreign = { source: 'intake', sourceNo: 7, atMs: 1, command }
    await bus.append(commandsSubject(market), encodeCommands([foreign]))
    const error = await rejection(openLog().recover())
    expect(error).to.be.instanceOf(LogMismatch)
    expect(error).to.have.property('message').that.contains('older than the log')
  })

  it('judges claims in the order in which they came, inside one message too', async () => {
    const commandLog = openLog()
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
    expect(matcher.taken.map(({ sourceNo }) => sourceNo)).to.deep.equal([1, 2])
  })
})
