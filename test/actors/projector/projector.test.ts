import { expect } from 'chai'
import { startProjector, type Projector } from '../../../actors/projector/project.js'
import { encodeBlock } from '../../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { askPing, feedStream, feedSubject } from '../../../bus-schemas/subjects.js'
import { InvariantBroken } from '../../../core/assert.js'
import type { Block } from '../../../core/model/change.js'
import { openReadModel } from '../../../data/history/read-model.js'
import { createWriteCloseOuts } from '../../../data/history/close-outs.js'
import { createLiquidationWriter } from '../../../data/history/liquidations.js'
import { createPriceWriter } from '../../../data/history/write-prices.js'
import { MessagesGone, type Bus } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { createLog } from '../../../runtime/process/log.js'
import { answerPing } from '../../../runtime/process/process.js'
import { eventually } from '../../support/eventually.js'
import {
  allRows,
  openHistory,
  projectedSpot,
  streamed,
  type TestHistory,
} from '../../support/history.js'
import { someBlocks } from '../../support/market-feed.js'

const SPOT = { market: 'cNGN-USDC', ordinal: 0 }
const PERP = { market: 'cNGN-PERP', ordinal: 1 }
const MARKETS = [SPOT, PERP]
const log = createLog('projector', 'silent')

describe('projector', () => {
  let bus: MemoryBus
  let history: TestHistory
  let projector: Projector | undefined
  const fatal: unknown[] = []

  beforeEach(() => {
    bus = createMemoryBus()
    history = openHistory(MARKETS)
    fatal.length = 0
  })
  afterEach(async () => {
    await projector?.stop()
    projector = undefined
    await bus.close()
    history.remove()
  })

  const start = async () => {
    projector = await startProjector({
      bus,
      projection: history.projection,
      prices: createPriceWriter(history.db),
      writeCloseOuts: createWriteCloseOuts(history.db),
      liquidations: createLiquidationWriter(history.db),
      markets: MARKETS.map(projectedSpot),
      log,
      onFatal: (error) => fatal.push(error),
    })
    return projector
  }
  const expectRows = (...feeds: readonly Block[][]) => {
    const fresh = openHistory(MARKETS)
    try {
      for (const blocks of feeds) fresh.projection.applyBatch(streamed(blocks))
      expect(allRows(history.db)).to.deep.equal(allRows(fresh.db))
    } finally {
      fresh.remove()
    }
  }
  const position = ({ market }: typeof SPOT) => history.projection.position(market)
  const reached = (target: typeof SPOT, blocks: readonly Block[]) =>
    eventually(() => position(target).streamSeq === blocks.length)

  it('projects every market from the beginning, whether its feed is there before or after', async () => {
    const spot = someBlocks(SPOT, 40)
    const perp = someBlocks(PERP, 30)
    await publish(bus, SPOT.market, spot)
    await start()
    await reached(SPOT, spot)
    await publish(bus, PERP.market, perp)
    await reached(PERP, perp)
    expectRows(spot, perp)
  })

  it('goes on from its cursor, without applying anything twice or leaving anything out', async () => {
    const blocks = someBlocks(SPOT, 60)
    await publish(bus, SPOT.market, blocks.slice(0, 20))
    await start()
    await reached(SPOT, blocks.slice(0, 20))
    await projector?.stop()
    await publish(bus, SPOT.market, blocks.slice(20))
    await start()
    await reached(SPOT, blocks)
    expectRows(blocks)
  })

  it('has applied what it took before it is stopped', async () => {
    const blocks = someBlocks(SPOT, 40)
    await publish(bus, SPOT.market, blocks)
    await (await start()).stop()
    const { streamSeq } = position(SPOT)
    expectRows(blocks.slice(0, streamSeq))
  })

  it('shows a reader what it has applied while it goes on', async () => {
    const blocks = someBlocks(SPOT, 40)
    const reads = openReadModel(history.path)
    try {
      await start()
      for (const block of blocks) {
        await publish(bus, SPOT.market, [block])
        const lastSeq = block.firstSeq + block.changes.length - 1
        await eventually(() => reads.projectedSeq(SPOT.market) === lastSeq)
      }
      expect(reads.order(`${SPOT.market}/o1`)?.order.orderId).to.equal(`${SPOT.market}/o1`)
    } finally {
      reads.close()
    }
  })

  it('halts on a gap in the feed', async () => {
    const blocks = someBlocks(SPOT, 20)
    await publish(bus, SPOT.market, [...blocks.slice(0, 3), ...blocks.slice(4)])
    await start()
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(InvariantBroken)
    expect(position(SPOT).streamSeq).to.be.at.most(3)
  })

  it('halts on a block of another market', async () => {
    await publish(bus, SPOT.market, someBlocks(PERP, 5))
    await start()
    await eventually(() => fatal.length > 0)
    expect(position(SPOT).streamSeq).to.equal(0)
  })

  it('halts when the messages behind its cursor are gone', async () => {
    const blocks = someBlocks(SPOT, 20)
    await publish(bus, SPOT.market, blocks)
    await bus.trim(feedStream(SPOT.market), 3)
    await start()
    await eventually(() => fatal.length > 0)
    expect(fatal[0]).to.be.instanceOf(MessagesGone)
  })

  it('answers pings with its positions', async () => {
    const blocks = someBlocks(SPOT, 20)
    await publish(bus, SPOT.market, blocks)
    const running = await start()
    await reached(SPOT, blocks)
    const answering = await answerPing(bus, 'projector', () => running.standing())
    const data = await bus.ask(askPing('projector'), new Uint8Array(), 1000)
    const { feedSeq } = position(SPOT)
    expect(decodePingAnswer(data)).to.deep.equal({
      process: 'projector',
      ready: true,
      detail: 'follows the feeds',
      positions: {
        'cNGN-USDC feed_seq': feedSeq,
        'cNGN-USDC stream_seq': blocks.length,
        'cNGN-PERP feed_seq': 0,
        'cNGN-PERP stream_seq': 0,
      },
    })
    await answering.stop()
  })

  it('leaves out a market with the ordinal of another one, says so, and projects the others', async () => {
    const running = await start()
    const twin = { market: 'cNGN-TWIN', ordinal: SPOT.ordinal }
    await publish(bus, twin.market, someBlocks(twin, 5))
    await running.follow(projectedSpot(twin))
    const blocks = someBlocks(SPOT, 20)
    await publish(bus, SPOT.market, blocks)
    await reached(SPOT, blocks)
    expectRows(blocks)
    expect(await running.standing()).to.deep.include({
      ready: false,
      detail: 'cNGN-TWIN is not projected: its ordinal 0 belongs to cNGN-USDC',
    })
    const changes = blocks.flatMap((block) => block.changes)
    expect(running.projectedSeq(SPOT.market)).to.equal(changes.at(-1)?.seq)
    expect(running.projectedSeq(twin.market)).to.equal(undefined)
    expect(fatal).to.deep.equal([])
  })

  it('is not ready while it is more than a batch behind', async () => {
    const far: Bus = { ...bus, streamState: () => Promise.resolve({ firstSeq: 1, lastSeq: 501 }) }
    const running = await startProjector({
      bus: far,
      projection: history.projection,
      prices: createPriceWriter(history.db),
      writeCloseOuts: createWriteCloseOuts(history.db),
      liquidations: createLiquidationWriter(history.db),
      markets: [projectedSpot(SPOT)],
      log,
      onFatal: (error) => fatal.push(error),
    })
    expect(await running.standing()).to.include({
      ready: false,
      detail: 'cNGN-USDC is 501 blocks behind',
    })
    await running.stop()
  })
})

describe('answering pings', () => {
  it('is not ready when its standing cannot be told', async () => {
    const bus = createMemoryBus()
    const answering = await answerPing(bus, 'p', () => Promise.reject(new Error('no bus')))
    const answer = decodePingAnswer(await bus.ask(askPing('p'), new Uint8Array(), 1000))
    expect(answer).to.include({ process: 'p', ready: false, detail: 'no bus' })
    await answering.stop()
    await bus.close()
  })
})

async function publish(bus: Bus, market: string, blocks: readonly Block[]): Promise<void> {
  const stream = feedStream(market)
  const subject = feedSubject(market)
  await bus.declareStream({ stream, subject, description: 'feed' })
  for (const block of blocks) await bus.append(subject, encodeBlock(block))
}
