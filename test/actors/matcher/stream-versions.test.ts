import { expect } from 'chai'
import { marketVersions } from '../../../bus-schemas/stream-versions.js'
import { askLead, feedStream, matcherOf } from '../../../bus-schemas/subjects.js'
import { NoAnswer } from '../../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { NewerStream } from '../../../runtime/bus/stream-versions.js'
import { rejectionOf } from '../../runtime/bus/probes.js'
import { appendCommands, placeOrder, stageMarket, startOn } from './stage.js'

const versions = marketVersions(stageMarket)

const recorded = async (bus: MemoryBus) =>
  Promise.all([...versions.keys()].map((stream) => bus.streamVersion(stream)))

describe('the versions of a market’s streams', () => {
  it('of feed and checkpoints are recorded by the matcher that leads, and by no standby', async () => {
    const bus = createMemoryBus()
    const standby = await startOn(bus, { standby: true, silenceMs: 60_000 })
    // The process that opens the log records its version; the others are the leader's.
    const [ofLog = 0] = versions.values()
    expect(await recorded(bus)).to.deep.equal([ofLog, 0, 0])
    const { matcher } = await startOn(bus)
    expect(await recorded(bus)).to.deep.equal([...versions.values()])
    await Promise.all([matcher.stop(), standby.matcher.stop()])
  })

  it('keep an older matcher from leading, before it has written anything', async () => {
    const bus = createMemoryBus()
    const { matcher } = await startOn(bus)
    await appendCommands(bus, [placeOrder({ orderId: 'o', side: 'buy' })])
    await matcher.stop()
    const feed = feedStream(stageMarket.market)
    await bus.raiseStreamVersion(feed, (versions.get(feed) ?? 0) + 1)
    const { lastSeq } = await bus.streamState(feed)
    const older = startOn(bus).then(({ fatal, matcher }) =>
      matcher.stop().then(() => Promise.reject(fatal[0] as Error)),
    )
    expect(await rejectionOf(older)).to.be.instanceOf(NewerStream)
    expect((await bus.streamState(feed)).lastSeq).to.equal(lastSeq)
    const leader = bus.ask(askLead(matcherOf(stageMarket.market)), new Uint8Array(), 50)
    expect(await rejectionOf(leader)).to.be.instanceOf(NoAnswer)
  })
})
