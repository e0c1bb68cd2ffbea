import { expect } from 'chai'
import type { AskExecutor, ExecutorAnswer } from '../../../actors/matcher/ask-executor.js'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { MAX_CLOCK_AHEAD_MS } from '../../../bus-schemas/commands.js'
import { decodeOrderAnswer } from '../../../bus-schemas/orders.js'
import {
  askLead,
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
  matcherOf,
} from '../../../bus-schemas/subjects.js'
import { assert } from '../../../core/assert.js'
import { termOf, type Command, type LoggedCommand } from '../../../core/model/command.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import { AppendRefused, NoAnswer, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
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
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'

const { market } = stageMarket
const SILENCE_MS = 750
const success: ExecutorAnswer = { kind: 'success', txHash: `0x${'a'.repeat(64)}`, blockNumber: 3n }

/** Orders of two traders that match when both are placed. */
const PAIR = [
  placeOrder({ orderId: 'm', side: 'sell', subaccountId: 2n }),
  placeOrder({ orderId: 't', side: 'buy' }),
]
const CANCEL_OF_NOTHING: Command = {
  kind: 'CancelOrder',
  owner: `0x${'1'.repeat(40)}`,
  nonce: 1n,
  reason: 'x',
}

const placement = (orderId: string): LoggedCommand => ({
  source: 'test',
  sourceNo: 1,
  atMs: Date.now(),
  command: placeOrder({ orderId, side: 'buy' }),
})

describe('matchers of one market', () => {
  let bus: MemoryBus
  const running: StartedMatcher[] = []
  const start = async (on: Bus, options: Partial<MatcherOptions> = {}) => {
    const started = await startOn(on, { silenceMs: SILENCE_MS, ...options })
    running.push(started)
    return started
  }
  const standby = (on: Bus, ask?: AskExecutor) => start(on, { standby: true, ...(ask && { ask }) })
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ matcher }) => matcher.stop()))
  })

  const blocks = async () =>
    (await bus.read(feedStream(market), 1, 10_000)).map(({ data }) => decodeBlock(data))
  const leaders = async () => (await blocks()).flatMap(({ leader }) => leader ?? [])
  const shown = async () => (await changesOf(bus)).map(({ orderId, kind }) => `${orderId} ${kind}`)
  const ownNumbers = async () =>
    (await bus.read(commandsStream(market), 1, 10_000))
      .flatMap(({ data }) => decodeCommands(data))
      .filter(({ source }) => source === 'matcher')
      .map(({ sourceNo }) => sourceNo)

  /** Every answer that a question gets, with the command put into the log at once. */
  async function answersTo(command: Command): Promise<unknown[]> {
    const answers: unknown[] = []
    const listening = await bus.answer('ask.test', 'q', (_, replyTo) => {
      void appendCommands(bus, [command], { replyTo })
    })
    const answer = await bus.ask('ask.test', new Uint8Array(), 5_000)
    answers.push(decodeOrderAnswer(answer).kind)
    await listening.stop()
    return answers
  }

  it('say nothing and do nothing as a standby while the other leads', async () => {
    const asked: string[] = []
    let answered = 0
    const own = bus.connect()
    const reply: Bus['reply'] = (...given) => {
      answered += 1
      own.reply(...given)
    }
    const leader = await start({ ...own, reply })
    const second = await standby(bus.connect(), (id, payload, signal) => {
      asked.push(id)
      return neverDecides(id, payload, signal)
    })
    await appendCommands(bus, PAIR)
    // It asks three times in a silence: nothing is logged in several of them.
    await eventually(() => {
      expect(second.matcher.positions().feed_seq).to.equal(3)
      expect(answered).to.be.greaterThan(9)
    })
    expect(await leaders()).to.have.length(1)
    expect(second.matcher.isLive()).to.equal(false)
    expect(second.matcher.standing()).to.include({ ready: false, detail: 'standing by' })
    expect(asked).to.deep.equal([])
    expect([...leader.fatal, ...second.fatal]).to.deep.equal([])
  })

  it('take over when the leader is gone, and settle what it had proposed (OPE-045)', async () => {
    const first = bus.connect()
    const second = bus.connect()
    await start(first)
    const asked: string[] = []
    const next = await standby(second, (id) => {
      asked.push(id)
      return Promise.resolve(success)
    })
    await appendCommands(bus, PAIR)
    await eventually(async () => expect(await changesOf(bus)).to.have.length(3))
    first.setConnected(false)
    await appendCommands(bus, [placeOrder({ orderId: 'late', side: 'sell', subaccountId: 3n })])
    await eventually(async () => expect(await changesOf(bus)).to.have.length(6))
    expect(await shown()).to.have.members([
      ...['m OrderPlaced', 'm OrderMatched', 't OrderPlaced'],
      ...['late OrderPlaced', 'm OrderFilled', 't OrderFilled'],
    ])
    expect(asked).to.deep.equal([`${market}:2`])
    expect(next.matcher.isLive()).to.equal(true)
    expect((await leaders()).map(({ term }) => term)).to.deep.equal([1, 2])
    expect(await answersTo(CANCEL_OF_NOTHING)).to.deep.equal(['refused'])
  })

  it('end when they come back after another took over, without a block or an answer (OPE-020)', async () => {
    const first = bus.connect()
    const replies: string[] = []
    const reply: Bus['reply'] = (to, data) => {
      if (to === 'caller') replies.push(to)
      else first.reply(to, data)
    }
    const zombie = await start({ ...first, reply })
    const next = await standby(bus.connect())
    await eventually(() => expect(next.matcher.positions().command_seq).to.be.greaterThan(0))
    first.setConnected(false)
    await eventually(() => expect(next.matcher.isLive()).to.equal(true))
    await appendCommands(bus, [CANCEL_OF_NOTHING], { replyTo: 'caller' })
    await appendCommands(bus, [placeOrder({ orderId: 'x', side: 'buy' })], { replyTo: 'caller' })
    await eventually(async () => expect(await shown()).to.deep.equal(['x OrderPlaced']))
    first.setConnected(true)
    await eventually(() => expect(zombie.fatal[0]).to.be.instanceOf(Fenced))
    expect(replies).to.deep.equal([])
    expect(await shown()).to.deep.equal(['x OrderPlaced'])
    expect(next.fatal).to.deep.equal([])
  })

  it('go on standing by when another one is faster', async () => {
    const own = bus.connect()
    const leading = bus.connect()
    await start(leading)
    let attempts = 0
    // Its take-over comes behind another block, which nothing in the feed has shown it.
    const append: Bus['append'] = async (...given) => {
      if (given[0] === feedSubject(market)) {
        attempts += 1
        if (attempts === 1) {
          const first = (await blocks()).find(({ leader }) => leader !== undefined)
          assert(first !== undefined, 'the first matcher has taken the market')
          const leader = { term: 7, id: 'faster' }
          await bus.append(feedSubject(market), encodeBlock({ ...first, leader }))
        }
      }
      return own.append(...given)
    }
    const next = await standby({ ...own, append })
    leading.setConnected(false)
    await eventually(() => expect(next.matcher.isLive()).to.equal(true))
    expect((await leaders()).map(({ term }) => term)).to.deep.equal([1, 7, 8])
    expect(next.fatal).to.deep.equal([])
  })

  it('look at the feed before an answer once half a silence has passed since their last block', async () => {
    let elapsedMs = 0
    const replies: string[] = []
    const own = { ...bus.connect(), reply: (to: string) => void replies.push(to) }
    const { fatal } = await start(own, { elapsedMs: () => elapsedMs })
    await bus.append(feedSubject(market), new Uint8Array([1]))
    elapsedMs = SILENCE_MS / 2
    await appendCommands(bus, [CANCEL_OF_NOTHING], { replyTo: 'caller' })
    await eventually(() => expect(fatal.length + replies.length).to.be.greaterThan(0))
    expect(replies).to.deep.equal([])
    expect(fatal[0]).to.be.instanceOf(Fenced)
  })

  it('number their commands above a former leader’s, whatever its clock said', async () => {
    const first = bus.connect()
    await start(first, { nowMs: aheadOfTicks })
    let asked = 0
    const ask = () => {
      asked += 1
      return Promise.resolve(asked % 2 === 0 ? {} : { [market]: 'BM_AdjustmentsPaused' })
    }
    const next = await start(bus.connect(), { standby: true, faults: { ask, everyMs: 5 } })
    await eventually(async () => expect(await ownNumbers()).to.not.have.length(0))
    first.setConnected(false)
    await eventually(() => expect(next.matcher.isLive()).to.equal(true))
    const before = (await ownNumbers()).length
    await eventually(async () => expect((await ownNumbers()).length).to.be.greaterThan(before + 2))
    const terms = (await ownNumbers()).map(termOf)
    expect([...new Set(terms)]).to.deep.equal([1, 2])
    expect(terms).to.deep.equal([...terms].sort((a, b) => a - b))
  })

  it('of two standbys, one takes over and the other follows it', async () => {
    const first = bus.connect()
    await start(first)
    const others = [await standby(bus.connect()), await standby(bus.connect())]
    first.setConnected(false)
    await eventually(() => expect(others.some(({ matcher }) => matcher.isLive())).to.equal(true))
    await appendCommands(bus, [placeOrder({ orderId: 'x', side: 'buy' })])
    await eventually(() => {
      for (const { matcher } of others) expect(matcher.positions().feed_seq).to.equal(1)
    })
    expect(others.filter(({ matcher }) => matcher.isLive())).to.have.length(1)
    expect(others.flatMap(({ fatal }) => fatal)).to.deep.equal([])
    expect(await leaders()).to.have.length(2)
  })

  it('do not take over for a silence in which they were cut off themselves', async () => {
    const second = bus.connect()
    const leader = await start(bus.connect())
    const cut = await standby(second)
    second.setConnected(false)
    await appendCommands(bus, [placeOrder({ orderId: 'x', side: 'buy' })])
    const overAtMs = performance.now() + 3 * SILENCE_MS
    await eventually(() => performance.now() > overAtMs)
    await eventually(() => leader.matcher.positions().feed_seq === 1)
    second.setConnected(true)
    const { command_seq: reached } = leader.matcher.positions()
    await eventually(() => cut.matcher.positions().command_seq >= reached)
    expect(cut.matcher.isLive()).to.equal(false)
    expect(await leaders()).to.have.length(1)
    expect([...leader.fatal, ...cut.fatal]).to.deep.equal([])
  })

  it('lead at once after a restart, when no matcher leads', async () => {
    const first = await start(bus.connect())
    await first.matcher.stop()
    const again = await start(bus.connect())
    expect(again.matcher.isLive()).to.equal(true)
    expect((await leaders()).map(({ term }) => term)).to.deep.equal([1, 2])
  })

  it('are not ready while the bus is gone or takes nothing', async () => {
    const own = bus.connect()
    let isFull = false
    const append: Bus['append'] = (...given) =>
      isFull ? Promise.reject(new AppendRefused('no room')) : own.append(...given)
    const { matcher } = await start({ ...own, append }, { nowMs: aheadOfTicks })
    const standing = () => matcher.standing()
    await eventually(() => expect(standing()).to.include({ ready: true, detail: 'live' }))
    own.setConnected(false)
    expect(standing()).to.include({ ready: false, detail: 'the bus is not connected' })
    own.setConnected(true)
    isFull = true
    await eventually(() => expect(standing()).to.include({ ready: false, detail: 'no room' }))
    isFull = false
    await eventually(() => expect(standing().ready).to.equal(true))
    isFull = true
    await bus.append(commandsSubject(market), encodeCommands([placement('x')]))
    await eventually(() => expect(standing()).to.include({ ready: false, detail: 'no room' }))
    isFull = false
    await eventually(() => expect(standing().ready).to.equal(true))
    expect(await shown()).to.deep.equal(['x OrderPlaced'])
  })

  it('are not ready while a tick is not stored', async () => {
    const own = bus.connect()
    let [isMute, muted] = [false, 0]
    let end = (): void => undefined
    const over = new Promise<number>((resolve) => (end = () => resolve(0)))
    const append: Bus['append'] = (...given) => {
      if (!isMute) return own.append(...given)
      muted += 1
      return over
    }
    let elapsedMs = 0
    const options = { elapsedMs: () => elapsedMs, nowMs: aheadOfTicks }
    const { matcher } = await start({ ...own, append }, options)
    await eventually(() => expect(matcher.standing().ready).to.equal(true))
    isMute = true
    await eventually(() => muted > 0)
    elapsedMs = 60_000
    await eventually(() => expect(matcher.standing().ready).to.equal(false))
    expect(matcher.standing().detail).to.equal('a tick is not stored for 60000 ms')
    // A stop waits for it.
    end()
  })

  it('do not believe a clock that is far ahead of the bus (OPE-013)', async () => {
    await start(bus.connect(), { nowMs: () => Date.now() + 365 * 86_400_000 })
    const goodUntilSec = Math.floor(Date.now() / 1_000) + 3_600
    const order = placeOrder({ orderId: 'x', side: 'buy', goodUntilSec })
    await appendCommands(bus, [order], { atMs: Date.now() + 2 * 86_400_000 })
    const before = (await ownNumbers()).length
    await eventually(async () => expect((await ownNumbers()).length).to.be.greaterThan(before + 3))
    await appendCommands(bus, [placeOrder({ orderId: 'y', side: 'buy' })])
    await eventually(async () => {
      expect(await shown()).to.deep.equal(['x OrderPlaced', 'y OrderPlaced'])
    })
    for (const { atMs } of await changesOf(bus)) {
      expect(atMs).to.be.lessThan(Date.now() + MAX_CLOCK_AHEAD_MS)
    }
  })

  it('answer to the caller for the leader, and only then', async () => {
    const asks = () => bus.ask(askLead(matcherOf(market)), new Uint8Array(), 200)
    const failure = await asks().catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(NoAnswer)
    await start(bus.connect(), { leaderId: 'one' })
    expect(Buffer.from(await asks()).toString()).to.equal('one of term 1')
  })
})
