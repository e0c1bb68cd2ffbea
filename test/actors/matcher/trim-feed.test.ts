import { expect } from 'chai'
import type { MatcherOptions } from '../../../actors/matcher/settings.js'
import {
  encodePingAnswer,
  decodeTrimAnswer,
  encodeTrimQuestion,
} from '../../../bus-schemas/operations.js'
import { askPing, askTrim, commandsStream, feedStream } from '../../../bus-schemas/subjects.js'
import type { Address } from '../../../core/action.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { eventually } from '../../support/eventually.js'
import { appendCommands, placeOrder, stageMarket, startOn, type StartedMatcher } from './stage.js'

const { market } = stageMarket
const FEED = feedStream(market)
const owner: Address = `0x${'a'.repeat(40)}`
const other: Address = `0x${'b'.repeat(40)}`
const ALL = { keepMs: 0, keepChanges: 0 }
const HOUR_MS = 3_600_000

/** The right to trim a feed is the matcher's alone: it gives no more than what nothing needs. */
describe('a matcher that is asked to trim its feed', function () {
  let bus: MemoryBus
  let started: StartedMatcher
  let nonce = 0n
  let claimsTo: number

  beforeEach(async () => {
    bus = createMemoryBus()
    claimsTo = Number.MAX_SAFE_INTEGER
    await bus.answer(askPing('order-intake'), 'order-intake', (_, replyTo) => {
      const positions = { [commandsStream(market)]: claimsTo }
      const standing = { process: 'order-intake', ready: true, detail: 'live' }
      bus.reply(replyTo, encodePingAnswer({ ...standing, positions }))
    })
  })
  afterEach(async () => {
    await started.matcher.stop()
    expect(started.fatal).to.deep.equal([])
  })

  const start = async (feedKeeping: MatcherOptions['feedKeeping'], clockAheadMs = 0) => {
    const checkpoints = { everyCommands: 3, everyMs: HOUR_MS, keepCommandsMs: HOUR_MS }
    const nowMs = () => Date.now() + clockAheadMs
    started = await startOn(bus, { feedKeeping, checkpoints, nowMs })
  }
  const place = async (side: 'buy' | 'sell', who = owner) => {
    nonce += 1n
    const { lastSeq } = await bus.streamState(FEED)
    const order = { orderId: `o${nonce}`, nonce, side, owner: who }
    const subaccountId = who === owner ? 1n : 2n
    await appendCommands(bus, [placeOrder({ ...order, subaccountId })])
    await eventually(async () => (await bus.streamState(FEED)).lastSeq > lastSeq)
    return lastSeq + 1
  }
  /** Until the three kept checkpoints are behind this message of the feed. */
  const untilCheckpointed = async () => {
    const { lastSeq } = await bus.streamState(commandsStream(market))
    await eventually(async () => {
      await appendCommands(bus, [{ kind: 'Tick' }])
      return ((await listCheckpoints(bus, market))[2]?.commandSeq ?? 0) > lastSeq
    }, 20_000)
  }
  const ask = async (belowSeq: number) =>
    decodeTrimAnswer(
      await bus.ask(askTrim(market), encodeTrimQuestion({ below_seq: belowSeq }), 5_000),
    )
  const firstSeq = async () => (await bus.streamState(FEED)).firstSeq
  const expectRefused = async (belowSeq: number, why: string) => {
    const answer = await ask(belowSeq)
    expect(answer).to.have.property('kind', 'refused')
    expect(answer).to.have.property('why').that.includes(why)
    expect(await firstSeq()).to.equal(1)
  }

  it('trims what its checkpoints, the replays and the intake leave, and no more', async () => {
    await start(ALL, 1_000)
    await place('buy')
    const second = await place('buy')
    await expectRefused(second, 'the oldest checkpoint')
    await untilCheckpointed()
    const { lastSeq } = await bus.streamState(FEED)
    await expectRefused(lastSeq + 1, 'the feed holds the messages')
    claimsTo = 0
    await expectRefused(second, 'claims')
    claimsTo = Number.MAX_SAFE_INTEGER
    expect(await ask(second)).to.deep.equal({ kind: 'trimmed' })
    expect(await firstSeq()).to.equal(second)
  })

  it('keeps a match without an outcome', async () => {
    await start(ALL, 1_000)
    await place('sell')
    await place('buy', other)
    const later = await place('buy')
    await untilCheckpointed()
    await expectRefused(later, 'has no outcome')
  })

  it('keeps what is young, what a replay may need, and everything unless it is told how long (STR-034)', async () => {
    await start({ keepMs: HOUR_MS, keepChanges: 0 })
    await place('buy')
    const second = await place('buy')
    await untilCheckpointed()
    await expectRefused(second, 'too young')
    await started.matcher.stop()
    await start({ keepMs: 0, keepChanges: 2 }, 1_000)
    await expectRefused(second, 'too few changes')
    await started.matcher.stop()
    await start(undefined)
    await expectRefused(second, 'FEED_KEEP_DAYS')
  })
})
