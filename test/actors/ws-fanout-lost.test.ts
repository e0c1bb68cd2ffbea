import { expect } from 'chai'
import type { Bus } from '../../bus-schemas/bus.js'
import { connectNatsBus } from '../../bus-schemas/nats-bus.js'
import { feedStream } from '../../bus-schemas/subjects.js'
import { declareFeed, publishChanges } from '../support/feed-publisher.js'
import { startRig, type FanOutRig } from '../support/fan-out-rig.js'
import { startLossyNats, type LossyNats } from '../support/lossy-nats.js'
import { startNatsServer, type TestNatsServer } from '../support/nats-server.js'
import { busyHistory } from '../support/random-history.js'

const MARKET = 'cNGN-USDC'
/** What a client may have to wait for changes whose notification was lost. */
const FEW_SECONDS = 5_000
const PER_BLOCK = 10

describe('ws-fanout when the venue loses a notification', function () {
  this.timeout(120_000)
  let nats: TestNatsServer
  let lossy: LossyNats
  let publisher: Bus
  let follower: Bus
  let rig: FanOutRig

  before(async () => {
    nats = await startNatsServer()
    lossy = await startLossyNats(nats.url)
    publisher = await connectNatsBus({ url: nats.url, name: 'test' })
    await declareFeed(publisher, MARKET)
    follower = await connectNatsBus({ url: lossy.url, name: 'ws-fanout' })
    rig = await startRig({ bus: follower })
  })
  after(async () => {
    await rig.end()
    await follower.close()
    await publisher.close()
    lossy.stop()
    await nats.stop()
  })

  it('delivers the changes within a few seconds, in order and without a gap', async () => {
    const changes = busyHistory(60)
    const client = await rig.connect()
    client.send({ op: 'subscribe', channel: 'book', market: MARKET, req_id: 's' })
    await client.next(({ req_id }) => req_id === 's')
    // One of five blocks, four of them, and all, so that nothing later tells of them.
    for (const [round, blocks] of [1, 4, 5].entries()) {
      const first = round * 100
      await publishChanges(publisher, MARKET, changes.slice(first, first + 50), PER_BLOCK)
      await client.next(({ seq }) => seq === first + 50)
      lossy.lose(feedStream(MARKET), blocks)
      await publishChanges(publisher, MARKET, changes.slice(first + 50, first + 100), PER_BLOCK)
      const published = performance.now()
      await client.next(({ seq }) => seq === first + 100)
      expect(performance.now() - published).to.be.below(FEW_SECONDS)
    }
    expect(lossy.lost()).to.equal(10)
    const updates = client.frames.filter(({ type }) => type === 'update')
    expect(updates.map(({ seq }) => seq)).to.deep.equal(changes.map(({ seq }) => seq))
    expect(updates.map((it) => it.prev_seq)).to.deep.equal(changes.map(({ seq }) => seq - 1))
  })
})
