import { expect } from 'chai'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { checkpointsStream, commandsSubject, feedStream } from '../../../bus-schemas/subjects.js'
import type { Command } from '../../../core/model/command.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { eventually } from '../../support/eventually.js'
import { encodeCommands } from '../../support/spot-log.js'
import { appendCommands, copyOf, placeOrder, stageMarket, startOn, type Copying } from './stage.js'

const { market } = stageMarket
const who = { by: 'ada', reason: 'test' }
const PAUSE: Command = { kind: 'MarketPaused', ...who }
const RESUME: Command = { kind: 'MarketResumed', ...who }

const withoutCheckpoints: Copying = (stream, _, data) =>
  stream === checkpointsStream(market) ? undefined : data

/** Without a checkpoint, so that the log is replayed from its beginning. */
describe('a matcher whose feed was trimmed', () => {
  let bus: MemoryBus
  let sourceNo = 0
  const lastSeqOf = async (on: MemoryBus) => (await on.streamState(feedStream(market))).lastSeq

  async function order(...commands: readonly Command[]): Promise<void> {
    const logged = commands.map((command) => {
      sourceNo += 1
      return { source: 'operator', sourceNo, atMs: Date.now(), command }
    })
    await bus.append(commandsSubject(market, 'matcher'), encodeCommands(logged))
  }
  const grownTo = (length: number) => eventually(async () => (await lastSeqOf(bus)) === length)

  /** Blocks with changes, with terms alone, several of one command message, and those of two leaders. */
  beforeEach(async () => {
    bus = createMemoryBus()
    const place = (orderId: string) => appendCommands(bus, [placeOrder({ orderId, side: 'buy' })])
    const first = await startOn(bus)
    await place('a')
    await grownTo(3)
    await order(PAUSE)
    await grownTo(4)
    await order(RESUME, PAUSE)
    await grownTo(6)
    await place('b')
    await grownTo(7)
    await first.matcher.stop()
    const second = await startOn(bus)
    await grownTo(8)
    await order(RESUME)
    await grownTo(9)
    await place('c')
    await grownTo(10)
    await second.matcher.stop()
  })

  it('passes over what is gone, wherever the feed begins now', async () => {
    const last = await lastSeqOf(bus)
    for (let begins = 2; begins <= last; begins += 1) {
      const trimmed = await copyOf(bus, withoutCheckpoints)
      await trimmed.trim(feedStream(market), begins)
      const { matcher, fatal } = await startOn(trimmed)
      expect(matcher.isLive(), `${begins}`).to.equal(true)
      expect(matcher.positions().feed_seq, `${begins}`).to.equal(3)
      const leader = await trimmed.lastMessage(feedStream(market))
      expect(decodeBlock(leader?.data ?? new Uint8Array()).leader, `${begins}`).to.include({
        term: 3,
      })
      await matcher.stop()
      expect(fatal, `${begins}`).to.deep.equal([])
    }
  })

  it('passes over what a leader found that took over in the middle of a message', async () => {
    const last = await lastSeqOf(bus)
    for (let cut = 2; cut < last; cut += 1) {
      const crashed = await copyOf(bus, (stream, seq, data) =>
        stream === feedStream(market) && seq > cut
          ? undefined
          : withoutCheckpoints(stream, seq, data),
      )
      const { matcher } = await startOn(crashed)
      await matcher.stop()
      const trimmed = await copyOf(crashed, withoutCheckpoints)
      await trimmed.trim(feedStream(market), cut + 1)
      const again = await startOn(trimmed)
      expect(again.matcher.isLive(), `${cut}`).to.equal(true)
      expect(again.matcher.positions().feed_seq, `${cut}`).to.equal(3)
      await again.matcher.stop()
      expect(again.fatal, `${cut}`).to.deep.equal([])
    }
  })

  it('compares all that is left', async () => {
    const last = await lastSeqOf(bus)
    for (let begins = 2; begins < last; begins += 1) {
      const other = await copyOf(bus, (stream, seq, data) =>
        stream === feedStream(market) && seq === last
          ? withOtherTime(data)
          : withoutCheckpoints(stream, seq, data),
      )
      await other.trim(feedStream(market), begins)
      const { matcher, fatal } = await startOn(other)
      await eventually(() => fatal.length > 0)
      expect(String(fatal[0]), `${begins}`).to.include('replay gives another block')
      await matcher.stop()
    }
  })
})

/** The block as another history would have it. */
function withOtherTime(data: Uint8Array): Uint8Array {
  const block = decodeBlock(data)
  const changes = block.changes.map((change) => ({ ...change, atMs: change.atMs + 1 }))
  return encodeBlock({ ...block, changes })
}
