import { expect } from 'chai'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import { commandsStream, commandsSubject } from '../../../bus-schemas/subjects.js'
import type { Market } from '../../../core/model/market.js'
import type { LoggedCommand } from '../../../core/model/command.js'
import { CANCELLED_MAX_PER_STEP, SWEEP_MAX_MATCHES } from '../../../core/model/limits.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import { AppendUnknown, BusUnavailable, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import type { ExecuteRequest } from '../../../interface/execute.js'
import { eventually } from '../../support/eventually.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'
import {
  aheadOfTicks,
  appendCommands,
  changesOf,
  neverDecides,
  placeOrder,
  stageMarket,
  startOn,
  type StartedMatcher,
} from './stage.js'

const { market } = stageMarket
/** Nothing happens by itself. */
const NO_TICKS = { tickMs: 3_600_000 }
const HOUR_MS = 3_600_000

describe('a matcher that is live', () => {
  let bus: MemoryBus
  const running: StartedMatcher[] = []
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    for (const { matcher, fatal } of running.splice(0)) {
      await matcher.stop()
      expect(fatal).to.deep.equal([])
    }
  })

  async function start(options: Partial<MatcherOptions> = {}, on: Bus = bus) {
    const started = await startOn(on, options)
    running.push(started)
    return started.matcher
  }
  /** A connection on which the matcher's own commands wait from a moment on, until they are let through or lost. */
  function gated() {
    let [pass, lose] = [(): void => undefined, (): void => undefined]
    let gate: Promise<void> | undefined
    const append: Bus['append'] = async (subject, ...rest) => {
      if (subject === commandsSubject(market, 'matcher')) await gate
      return bus.append(subject, ...rest)
    }
    const shut = (): void => {
      gate = new Promise((resolve, reject) => {
        pass = resolve
        lose = () => reject(new AppendUnknown('lost'))
      })
      gate.catch(() => undefined)
    }
    return { bus: { ...bus, append }, shut, pass: () => pass(), lose: () => lose() }
  }
  const logged = async () => {
    const messages = await bus.read(commandsStream(market), 1, 10_000)
    return messages.flatMap(({ data }) => decodeCommands(data))
  }
  const counted = async (kind: string) =>
    (await logged()).filter(({ command }) => command.kind === kind).length
  const matched = async () =>
    (await changesOf(bus)).filter(({ kind }) => kind === 'OrderMatched').length

  /** So many makers of 1, and a taker of them all. */
  async function sweep(makers: number): Promise<void> {
    const each = { side: 'sell', subaccountId: 2n, desiredAmount: amountE18(E18) } as const
    await appendCommands(
      bus,
      Array.from({ length: makers }, (_, n) => placeOrder({ ...each, orderId: `m${n}` })),
    )
    const desiredAmount = amountE18(BigInt(makers) * E18)
    await appendCommands(bus, [placeOrder({ orderId: 't', side: 'buy', desiredAmount })])
  }

  it('continues a sweep that one step cannot finish, at once (MAT-011)', async () => {
    await start(NO_TICKS)
    await sweep(SWEEP_MAX_MATCHES + 1)
    await eventually(async () => expect(await matched()).to.equal(SWEEP_MAX_MATCHES + 1))
    expect(await counted('ContinueOrder')).to.equal(1)
    expect(await counted('Tick')).to.equal(0)
  })

  it('continues a sweep that the leader before it left, and no other order', async () => {
    const own = gated()
    const first = await start(NO_TICKS, own.bus)
    own.shut()
    const resting = { side: 'buy', limitPrice: priceE18(1n) } as const
    await appendCommands(bus, [placeOrder({ ...resting, orderId: 'resting' })])
    await sweep(SWEEP_MAX_MATCHES + 1)
    await eventually(async () => expect(await matched()).to.equal(SWEEP_MAX_MATCHES))
    own.lose()
    await first.stop()
    expect(await counted('ContinueOrder')).to.equal(0)
    await start(NO_TICKS)
    await eventually(async () => expect(await matched()).to.equal(SWEEP_MAX_MATCHES + 1))
    expect(await counted('ContinueOrder')).to.equal(1)
  })

  it('sends the next tick at once while more is due', async () => {
    const matcher = await start(NO_TICKS)
    const orders = Array.from({ length: CANCELLED_MAX_PER_STEP + 1 }, (_, n) =>
      placeOrder({ orderId: `o${n}`, side: 'buy' }),
    )
    await appendCommands(bus, orders)
    await eventually(() => matcher.positions().feed_seq === orders.length)
    const command = { kind: 'MarketDisabled', by: 'ada', reason: 'end' } as const
    const envelope = { source: 'operator', sourceNo: 1, atMs: Date.now() }
    await bus.append(commandsSubject(market, 'matcher'), encodeCommands([{ ...envelope, command }]))
    await eventually(() => matcher.positions().feed_seq === 2 * orders.length)
    expect(await counted('Tick')).to.equal(1)
  })

  it('has one tick under way at a time', async () => {
    const own = gated()
    let asked = 0
    const ask = () => {
      asked += 1
      return Promise.resolve(undefined)
    }
    await start({ tickMs: 1, nowMs: aheadOfTicks, faults: { ask, everyMs: 1 } }, own.bus)
    await eventually(async () => (await counted('Tick')) > 2)
    own.shut()
    const askedBefore = asked
    const before = await counted('Tick')
    await eventually(() => asked > askedBefore + 20)
    own.pass()
    await eventually(async () => (await counted('Tick')) > before + 3)
    const messages = await bus.read(commandsStream(market), 1, 10_000)
    expect(Math.max(...messages.map(({ data }) => decodeCommands(data).length))).to.equal(1)
  })

  it('writes nothing while nothing is due, and a tick when something is (OPE-051)', async () => {
    let looks = 0
    let clockMs = Date.now()
    const nowMs = () => {
      looks += 1
      return clockMs
    }
    const matcher = await start({ tickMs: 1, nowMs })
    const goodUntilSec = Math.floor(clockMs / 1_000) + 60
    await appendCommands(bus, [placeOrder({ orderId: 'o', side: 'buy', goodUntilSec })])
    await eventually(() => matcher.positions().feed_seq === 1)
    const { lastSeq } = await bus.streamState(commandsStream(market))
    const after = looks + 100
    await eventually(() => looks > after)
    expect((await bus.streamState(commandsStream(market))).lastSeq).to.equal(lastSeq)
    // It enters its last seconds.
    clockMs = goodUntilSec * 1_000 - 10_000
    await eventually(async () => expect(await counted('Tick')).to.be.greaterThan(0))
  })

  it('is ready however long nothing is logged, and not once what is logged does not arrive for five seconds', async () => {
    let [elapsedMs, looks, isMute] = [0, 0, false]
    const stream = commandsStream(market)
    const held: (() => void)[] = []
    const follow: Bus['follow'] = ({ onMessage, ...options }) =>
      bus.follow({
        ...options,
        onMessage(message) {
          if (!isMute || options.stream !== stream) return onMessage(message)
          held.push(() => void onMessage(message))
        },
      })
    const streamState: Bus['streamState'] = (name) => {
      if (name === stream) looks += 1
      return bus.streamState(name)
    }
    const options = { tickMs: 1, elapsedMs: () => elapsedMs }
    const matcher = await start(options, { ...bus, follow, streamState })
    for (let hours = 1; hours <= 3; hours += 1) {
      const before = looks
      elapsedMs += HOUR_MS
      await eventually(() => looks > before)
      expect(matcher.standing()).to.include({ ready: true, detail: 'live' })
    }
    isMute = true
    await appendCommands(bus, [placeOrder({ orderId: 'o', side: 'buy' })])
    await eventually(() => {
      elapsedMs += 500
      expect(matcher.standing().ready).to.equal(false)
    })
    expect(matcher.standing().detail).to.match(
      /^no command was applied for \d{4} ms: the log ends with message 2$/,
    )
    isMute = false
    for (const deliver of held) deliver()
    await eventually(() => matcher.standing().ready)
  })

  it('is not ready once the end of its log cannot be read for five seconds, and says why', async () => {
    let [elapsedMs, isAway] = [0, false]
    const stream = commandsStream(market)
    const streamState: Bus['streamState'] = (name) =>
      isAway && name === stream
        ? Promise.reject(new BusUnavailable('no quorum'))
        : bus.streamState(name)
    const options = { tickMs: 1, elapsedMs: () => elapsedMs }
    const matcher = await start(options, { ...bus, streamState })
    isAway = true
    await eventually(() => {
      elapsedMs += 500
      expect(matcher.standing().ready).to.equal(false)
    })
    expect(matcher.standing().detail).to.match(/^no command was applied for \d{4} ms: no quorum$/)
    isAway = false
    await eventually(() => {
      elapsedMs += 500
      expect(matcher.standing().ready).to.equal(true)
    })
  })

  it('tells where it stands, and what awaits its outcome since when', async () => {
    let elapsedMs = 0
    const caughtUp: unknown[] = []
    const facts = {
      ...observeMatcher(createLog('matcher', 'silent')),
      caughtUp: (...given: unknown[]) => void caughtUp.push(given),
    }
    const options = { ...NO_TICKS, elapsedMs: () => elapsedMs, facts, lateAfterMs: 2_000 }
    const first = await start(options)
    expect(caughtUp).to.deep.equal([[{ command_seq: 1, feed_seq: 0 }, 0]])
    await appendCommands(bus, [
      placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      placeOrder({ orderId: 't', side: 'buy' }),
    ])
    await eventually(() => first.positions().feed_seq === 3)
    elapsedMs = 1_999
    expect(first.standing().positions).to.deep.include({
      feed_seq: 3,
      pending_settlements: 1,
      oldest_pending_settlement_s: 1,
      late_settlements: 0,
    })
    elapsedMs = 2_000
    await eventually(() => first.standing().positions.late_settlements === 1)
    await first.stop()
    await start(options)
    expect(caughtUp).to.deep.equal([
      [{ command_seq: 1, feed_seq: 0 }, 0],
      [{ command_seq: first.positions().command_seq, feed_seq: 3 }, 1],
    ])
  })

  it('tells of a command that its writer may not write, and of a clock that is ahead', async () => {
    const told: unknown[] = []
    const facts = {
      ...observeMatcher(createLog('matcher', 'silent')),
      commandForeign: ({ sourceNo }: LoggedCommand, subject: string) =>
        void told.push([sourceNo, subject]),
      clockAhead: ({ sourceNo }: LoggedCommand) => void told.push([sourceNo, 'ahead']),
    }
    const matcher = await start({ ...NO_TICKS, facts })
    const placement = (sourceNo: number, atMs: number): LoggedCommand => ({
      source: 'intake',
      sourceNo,
      atMs,
      command: placeOrder({ orderId: `o${sourceNo}`, side: 'buy' }),
    })
    const foreign = commandsSubject(market, 'matcher')
    await bus.append(foreign, encodeCommands([placement(1_000_001, Date.now())]))
    const ahead = placement(1_000_002, Date.now() + 365 * 86_400_000)
    await bus.append(commandsSubject(market), encodeCommands([ahead]))
    await eventually(() => matcher.positions().feed_seq === 1)
    expect(told).to.deep.equal([
      [1_000_001, foreign],
      [1_000_002, 'ahead'],
    ])
    expect((await changesOf(bus)).map(({ orderId }) => orderId)).to.deep.equal(['o1000002'])
  })

  it('settles by the addresses of its log, whatever the register says', async () => {
    await (await start(NO_TICKS)).stop()
    const other = { ...stageMarket, tradeModuleAddress: `0x${'99'.repeat(20)}` } as Market
    const payloads: ExecuteRequest[] = []
    const matcher = await start({
      ...NO_TICKS,
      market: other,
      ask: (id, payload, signal) => {
        payloads.push(payload)
        return neverDecides(id, payload, signal)
      },
    })
    expect(matcher.standing()).to.include({ ready: true, detail: 'live' })
    await appendCommands(bus, [
      placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      placeOrder({ orderId: 't', side: 'buy' }),
    ])
    await eventually(() => payloads.length === 1)
    expect(payloads[0]?.module_address).to.equal(stageMarket.tradeModuleAddress)
  })
})
