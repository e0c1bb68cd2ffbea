import { expect } from 'chai'
import type { AskExecutor, ExecutorAnswer } from '../../../actors/matcher/ask-executor.js'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import {
  createSettler,
  createUnanswered,
  SettlementConflict,
} from '../../../actors/matcher/settle.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { decodeOrderAnswer, type OrderReply } from '../../../bus-schemas/orders.js'
import { commandsSubject, feedStream, feedSubject } from '../../../bus-schemas/subjects.js'
import type { Change } from '../../../core/model/change.js'
import type { Command } from '../../../core/model/command.js'
import { Fenced } from '../../../runtime/actor/leadership.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { aFill, aMarket } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { matcherOrder, type OrderFields } from '../../support/matching.js'
import { encodeCommands } from '../../support/spot-log.js'

const market = aMarket()
const name = market.market

const neverDecides: AskExecutor = (_, __, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ kind: 'undecided', why: 'stopped' }))
  })

/** A matcher on a bus in memory, an executor that answers as the test says, and a writer of its log. */
async function start(bus: MemoryBus, ask: AskExecutor = neverDecides, nowMs = Date.now) {
  const fatal: unknown[] = []
  const matcher = await startMatcher({
    bus,
    market,
    ask,
    facts: observeMatcher(createLog('matcher', 'silent')),
    nowMs,
    tickMs: 50,
    onFatal: (error) => fatal.push(error),
  })
  return { matcher, fatal }
}

let sourceNo = 0
function append(bus: MemoryBus, commands: readonly Command[], replyTo?: string) {
  const logged = commands.map((command) => {
    sourceNo += 1
    const answered = replyTo === undefined ? {} : { replyTo }
    return { source: 'intake', sourceNo, atMs: Date.now(), command, ...answered }
  })
  return bus.append(commandsSubject(name), encodeCommands(logged))
}

const place = (fields: OrderFields): Command => ({
  kind: 'PlaceOrder',
  order: matcherOrder({ goodUntilSec: 4_000_000_000, market: name, ...fields }),
})

async function feedOf(bus: MemoryBus): Promise<Change[]> {
  const messages = await bus.read(feedStream(name), 1, 10_000)
  return messages.flatMap(({ data }) => [...decodeBlock(data).changes])
}

const kinds = (changes: readonly Change[]) => changes.map((it) => `${it.orderId} ${it.kind}`)

async function whenLive(matcher: Matcher): Promise<void> {
  await eventually(() => expect(matcher.isLive()).to.equal(true))
}

const success: ExecutorAnswer = { kind: 'success', txHash: `0x${'a'.repeat(64)}`, blockNumber: 3n }

describe('matcher', () => {
  let bus: MemoryBus
  const running: Awaited<ReturnType<typeof start>>[] = []
  const startOn = async (ask?: AskExecutor, nowMs?: () => number) => {
    const started = await start(bus, ask, nowMs)
    running.push(started)
    return started
  }
  beforeEach(() => (bus = createMemoryBus()))
  afterEach(async () => {
    await Promise.all(running.splice(0).map(({ matcher }) => matcher.stop()))
  })

  /** Asks through the bus as a gateway would, with the command put into the log at once. */
  async function askWith(command: Command): Promise<OrderReply> {
    const subscription = await bus.answer('ask.test', 'q', (_, replyTo) => {
      void append(bus, [command], replyTo)
    })
    const answer = decodeOrderAnswer(await bus.ask('ask.test', new Uint8Array(), 2_000))
    await subscription.stop()
    return answer
  }

  it('answers the caller with the order and the seq that shows it', async () => {
    await startOn()
    const answer = await askWith(place({ orderId: 'a', side: 'sell' }))
    expect(answer).to.include({ kind: 'order', feed_seq: 1, market: name })
    expect(answer.kind === 'order' && answer.progress.status).to.equal('active')
  })

  it('answers a cancel that finds nothing with the interface’s words (CAN-005)', async () => {
    await startOn()
    const answer = await askWith({
      kind: 'CancelOrder',
      owner: `0x${'1'.repeat(40)}`,
      nonce: 1n,
      reason: 'x',
    })
    expect(answer).to.have.nested.property('refusal.message', 'active order not found')
    expect(answer).to.have.nested.property('refusal.status', 404)
  })

  it('publishes one block for the commands of one message', async () => {
    await startOn()
    const orders = Array.from({ length: 20 }, (_, n) => place({ orderId: `o${n}`, side: 'buy' }))
    await append(bus, orders)
    await eventually(async () => expect(await feedOf(bus)).to.have.length(20))
    // By the first the matcher took the market, the second states the market's terms.
    expect((await bus.streamState(feedStream(name))).lastSeq).to.equal(3)
  })

  it('settles a match and records the fill, maker first (SET-003, SET-005)', async () => {
    const asked: [string, unknown][] = []
    await startOn((settlementId, payload) => {
      asked.push([settlementId, payload])
      return Promise.resolve(success)
    })
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(5))
    expect(kinds(await feedOf(bus)).slice(1)).to.deep.equal([
      'm OrderMatched',
      't OrderPlaced',
      'm OrderFilled',
      't OrderFilled',
    ])
    expect(asked).to.have.length(1)
    const [[id, payload] = []] = asked
    expect(id).to.equal(`${name}:2`)
    expect(payload).to.deep.include({ maker_order_id: 'm', taker_order_id: 't' })
    expect(payload).to.have.nested.property('order_data.taker_account', '1')
    expect(payload).to.have.nested.property('order_data.fill_details[0].filled_account', '2')
  })

  it('asks again with the same key while the outcome is not known (SET-008)', async () => {
    const answers: ExecutorAnswer[] = [{ kind: 'undecided', why: 'time-out' }, success]
    const keys: string[] = []
    await startOn((settlementId) => {
      keys.push(settlementId)
      return Promise.resolve(answers.shift() ?? success)
    })
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(5))
    expect(keys).to.deep.equal([`${name}:2`, `${name}:2`])
  })

  it('a payload the executor refuses holds both orders instead of being asked for ever (SET-074)', async () => {
    await startOn(() => Promise.resolve({ kind: 'malformed', why: 'bad', guilty: 'both' }))
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(5))
    for (const change of (await feedOf(bus)).slice(3)) {
      expect(change).to.include({
        kind: 'MatchReverted',
        revert: 'executor_refused',
        hold: 'settlement_refused',
      })
    }
  })

  it('an executor with another row of the market holds the market and neither order (SET-075)', async () => {
    const { matcher } = await startOn(() =>
      Promise.resolve({ kind: 'malformed', why: 'bad', guilty: 'venue' }),
    )
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(5))
    for (const change of (await feedOf(bus)).slice(3)) {
      expect(change).to.include({ kind: 'MatchReverted', status: 'active' })
      expect(change).to.not.have.property('hold')
    }
    expect(matcher.standing().detail).to.equal(
      'held: the executor has another row of the market and refuses every match, executor_refused',
    )
  })

  it('stops, releasing nothing, when the executor has another call under the key (SET-073)', async () => {
    const { fatal } = await startOn(() => Promise.resolve({ kind: 'conflict', why: 'used' }))
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(() => expect(fatal[0]).to.be.instanceOf(SettlementConflict))
    expect(await feedOf(bus)).to.have.length(3)
  })

  it('a match whose outcome an earlier life reported late is not asked about', async () => {
    const asked: string[] = []
    const settler = createSettler({
      ask: (settlementId) => {
        asked.push(settlementId)
        return Promise.resolve({ kind: 'undecided', why: 'time-out' })
      },
      payloadOf: () => undefined,
      report: () => Promise.resolve(),
      noteCode: () => Promise.resolve(),
      facts: observeMatcher(createLog('matcher', 'silent')),
      unanswered: createUnanswered({ lateAfterMs: 1, elapsedMs: () => 0 }),
      onFatal: (error) => asked.push(String(error)),
    })
    settler.add(aFill())
    await settler.stop()
    expect(asked).to.deep.equal([])
  })

  it('after a restart goes on where the feed ends, and asks about the match it had proposed', async () => {
    const { matcher } = await startOn()
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(3))
    await matcher.stop()
    await append(bus, [place({ orderId: 'late', side: 'sell', subaccountId: 3n })])
    const keys: string[] = []
    const again = await startOn((settlementId) => {
      keys.push(settlementId)
      return Promise.resolve(success)
    })
    await whenLive(again.matcher)
    await eventually(async () => expect(await feedOf(bus)).to.have.length(6))
    const changes = await feedOf(bus)
    expect(changes.map((it) => it.seq)).to.deep.equal([1, 2, 3, 4, 5, 6])
    expect(kinds(changes)[3]).to.equal('late OrderPlaced')
    expect(keys).to.deep.equal([`${name}:2`])
  })

  it('a block whose acknowledgement is lost is not published twice', async () => {
    await startOn()
    bus.failNextAppendAck()
    await append(bus, [place({ orderId: 'x', side: 'buy' })]).catch(() => {})
    bus.failNextAppendAck()
    await append(bus, [place({ orderId: 'y', side: 'buy' })]).catch(() => {})
    await eventually(async () => expect(kinds(await feedOf(bus))).to.include('y OrderPlaced'))
    const placed = kinds(await feedOf(bus)).filter((it) => it.endsWith('Placed'))
    expect(placed).to.deep.equal([...new Set(placed)])
  })

  it('a block that never arrived is published again', async () => {
    const { matcher } = await startOn()
    await whenLive(matcher)
    const release = bus.holdAppendAcks()
    const appended = append(bus, [place({ orderId: 'x', side: 'buy' })])
    bus.loseNextAppend()
    release()
    await appended
    await eventually(async () => expect(kinds(await feedOf(bus))).to.deep.equal(['x OrderPlaced']))
  })

  it('stops when another writer has put a block into its feed', async () => {
    const { fatal } = await startOn()
    await append(bus, [place({ orderId: 'x', side: 'buy' })])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(1))
    const [stored] = await bus.read(feedStream(name), 1, 1)
    await bus.append(feedSubject(name), stored?.data ?? new Uint8Array())
    await append(bus, [place({ orderId: 'y', side: 'buy' })])
    await eventually(() => expect(fatal[0]).to.be.instanceOf(Fenced))
  })

  it('does not begin while another leads, and the other notices nothing', async () => {
    const first = await startOn()
    await whenLive(first.matcher)
    const error = await start(bus.connect()).then(
      () => 'started',
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(Fenced)
    expect(String(error)).to.include(`leads matcher.${name} already`)
    await append(bus, [place({ orderId: 'x', side: 'buy' })])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(1))
    expect(first.fatal).to.deep.equal([])
  })

  it('refuses to go on when its log is shorter than the feed (OPE-010)', async () => {
    const { matcher } = await startOn()
    await append(bus, [place({ orderId: 'x', side: 'buy' })])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(1))
    await matcher.stop()
    const restored = createMemoryBus()
    const block = await bus.lastMessage(feedStream(name))
    await restored.declareStream({
      stream: feedStream(name),
      subject: feedSubject(name),
      description: '',
    })
    await restored.append(feedSubject(name), block?.data ?? new Uint8Array())
    const error = await start(restored).then(
      () => 'started',
      (thrown: unknown) => thrown,
    )
    expect(String(error)).to.include('COMMANDS_cNGN-USDC is empty, but FEED_cNGN-USDC ends at 1')
  })

  it('stops cleanly although the bus is gone and a result waits to be reported', async () => {
    let settle: (answer: ExecutorAnswer) => void = () => undefined
    const { matcher, fatal } = await startOn(() => new Promise((resolve) => (settle = resolve)))
    await append(bus, [
      place({ orderId: 'm', side: 'sell', subaccountId: 2n }),
      place({ orderId: 't', side: 'buy' }),
    ])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(3))
    bus.setConnected(false)
    settle(success)
    await new Promise((resolve) => setImmediate(resolve))
    await matcher.stop()
    expect(fatal).to.deep.equal([])
  })

  it('refuses to go on when replay does not give what the feed holds (OPE-019)', async () => {
    const { matcher } = await startOn()
    await append(bus, [place({ orderId: 'x', side: 'buy' })])
    await eventually(async () => expect(await feedOf(bus)).to.have.length(1))
    await matcher.stop()
    const other = createMemoryBus()
    const block = await bus.lastMessage(feedStream(name))
    await (await start(other)).matcher.stop()
    await other.append(feedSubject(name), block?.data ?? new Uint8Array())
    await append(other, [place({ orderId: 'z', side: 'buy' })])
    const { fatal, matcher: wrong } = await start(other)
    await eventually(() => expect(String(fatal[0])).to.include('replay gives another block'))
    await wrong.stop()
  })
})
