import { expect } from 'chai'
import { startMatcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { askLead, commandsSubject, feedStream, matcherOf } from '../../../bus-schemas/subjects.js'
import { INTAKE_SOURCE } from '../../../core/model/command.js'
import { BusUnavailable, NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { rejectionOf } from '../../runtime/bus/probes.js'
import { eventually } from '../../support/eventually.js'
import { encodeCommands } from '../../support/spot-log.js'
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
const silent = observeMatcher(createLog('matcher', 'silent'))
const PAIR = [
  placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n }),
  placeOrder({ orderId: 't', side: 'buy' }),
]

describe('the phases of a matcher', () => {
  let bus: MemoryBus
  const running: Pick<StartedMatcher, 'matcher'>[] = []
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ matcher }) => matcher.stop()))
  })

  async function start(on: Bus = bus, options: Partial<MatcherOptions> = {}) {
    const started = await startOn(on, options)
    running.push(started)
    return started
  }
  /** Starts one and does not wait until it leads. */
  async function begin(on: Bus, fatal: unknown[], options: Partial<MatcherOptions> = {}) {
    const matcher = await startMatcher({
      bus: on,
      market: stageMarket,
      ask: neverDecides,
      facts: silent,
      nowMs: Date.now,
      tickMs: 50,
      onFatal: (error) => fatal.push(error),
      ...options,
    })
    running.push({ matcher })
    return matcher
  }
  /** A connection that delivers no message of the feed until it is told to. */
  function withoutFeed() {
    let deliver = (): void => undefined
    const delivering = new Promise<void>((resolve) => (deliver = resolve))
    const follow: Bus['follow'] = ({ onMessage, ...rest }) =>
      bus.follow({
        ...rest,
        onMessage: async (message) => {
          if (rest.stream === feedStream(market)) await delivering
          return onMessage(message)
        },
      })
    return { bus: { ...bus, follow }, deliver }
  }
  async function traded(): Promise<void> {
    const { matcher } = await start()
    await appendCommands(bus, PAIR)
    await eventually(async () => expect(await changesOf(bus)).to.have.length(3))
    await matcher.stop()
  }

  it('begin with replaying the log, in which the matcher is not ready and does not lead', async () => {
    await traded()
    const own = withoutFeed()
    const fatal: unknown[] = []
    const asked: string[] = []
    let leads = false
    const matcher = await begin(own.bus, fatal, {
      ask: (id, ...rest) => {
        asked.push(id)
        return neverDecides(id, ...rest)
      },
    })
    void matcher.whenLeading.then(() => (leads = true))
    await new Promise((resolve) => setImmediate(resolve))
    expect(matcher.standing()).to.deep.include({ ready: false, detail: 'replaying its log' })
    expect(matcher.standing().positions).to.include({ feed_seq: 0, pending_settlements: 0 })
    expect([matcher.isLive(), leads, asked]).to.deep.equal([false, false, []])
    own.deliver()
    await eventually(() => matcher.isLive())
    expect([leads, asked]).to.deep.equal([true, [`${market}:2`]])
    expect(matcher.standing()).to.deep.include({ ready: true, detail: 'live' })
    expect(matcher.positions().feed_seq).to.equal(3)
    expect(fatal).to.deep.equal([])
  })

  it('end with a stop at any time, without a failure and without a leader left', async () => {
    await traded()
    const { lastSeq } = await bus.streamState(feedStream(market))
    const fatal: unknown[] = []
    const own = withoutFeed()
    const matcher = await begin(own.bus, fatal)
    const stopping = matcher.stop()
    own.deliver()
    await stopping
    const standby = await begin(bus, fatal, { standby: true, silenceMs: 600_000 })
    expect(standby.standing()).to.include({ ready: false, detail: 'standing by' })
    await standby.stop()
    expect(fatal).to.deep.equal([])
    expect((await bus.streamState(feedStream(market))).lastSeq).to.equal(lastSeq)
    const leader = bus.ask(askLead(matcherOf(market)), new Uint8Array(), 50)
    expect(await rejectionOf(leader)).to.be.instanceOf(NoAnswer)
  })

  it('tell the last command of the intake, and leave those of others aside', async () => {
    const { matcher } = await start()
    const position = () => matcher.standing().positions.intake_no
    expect(position()).to.equal(0)
    const command = placeOrder({ orderId: 'o', side: 'buy' })
    const logged = { source: INTAKE_SOURCE, sourceNo: 777, atMs: Date.now(), command }
    await bus.append(commandsSubject(market), encodeCommands([logged]))
    await eventually(() => position() === 777)
  })

  it('lead in a term above that of the log, where the feed does not hold it any more', async () => {
    await traded()
    const second = await start(bus, { nowMs: aheadOfTicks })
    const { command_seq } = second.matcher.positions()
    // Its ticks are in the log before what it publishes last.
    await eventually(() => second.matcher.positions().command_seq > command_seq + 1)
    await appendCommands(bus, [placeOrder({ orderId: 'last', side: 'buy' })])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(4))
    await second.matcher.stop()
    await bus.trim(feedStream(market), (await bus.streamState(feedStream(market))).lastSeq)
    const told: unknown[] = []
    const facts = { ...silent, leads: (...given: unknown[]) => void told.push(given) }
    const { matcher } = await start(bus, { leaderId: 'one', facts })
    const leader = { term: 3, id: 'one' }
    const last = await bus.lastMessage(feedStream(market))
    expect(decodeBlock(last?.data ?? new Uint8Array()).leader).to.deep.equal(leader)
    expect(told).to.have.length(1)
    expect(told).to.have.deep.nested.property('[0][0]', leader)
    expect(told).to.have.nested.property('[0][1].feed_seq', 4)
    expect(matcher.isLive()).to.equal(true)
  })

  it('do not begin while it cannot be asked whether another leads', async () => {
    const ask: Bus['ask'] = () => Promise.reject(new BusUnavailable('closed'))
    expect(await rejectionOf(start({ ...bus, ask }))).to.be.instanceOf(BusUnavailable)
  })

  it('end with the first failure, which alone is told', async () => {
    const { fatal, matcher } = await start(bus, {
      ask: () => Promise.resolve({ kind: 'conflict', why: 'used' }),
    })
    await appendCommands(bus, [...PAIR, ...PAIR.map((command) => again(command))])
    await eventually(() => fatal.length > 0)
    await matcher.stop()
    expect(fatal).to.have.length(1)
  })
})

/** The same order under another id and nonce. */
function again(command: (typeof PAIR)[number]) {
  if (command.kind !== 'PlaceOrder') return command
  const { orderId, side, subaccountId } = command.order
  return placeOrder({ orderId: `${orderId}2`, side, subaccountId })
}
