import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BUS_USERS } from '../../bus-schemas/permissions.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { AppendRefused } from '../../runtime/bus/bus.js'
import { refusedPublications } from '../support/bus-rights.js'
import type { TestVenue } from '../support/venue.js'
import { connectPlainly, connectToVenueBus, venueBusPlace } from '../support/venue-bus.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT } from './stage/trader.js'

describe('the bus of a running venue', function () {
  let venue: TestVenue
  before(async () => {
    venue = await sharedVenue()
  })

  it('permits all that its processes do for a trade, and nothing to a client without credentials (OPE-047)', async () => {
    const ann = createTrader(venue.devnet, 0)
    const bob = createTrader(venue.devnet, 1)
    const maker = await ann.place({ side: 'sell', amount: '5', price: '0.0007' })
    const taker = await bob.place({ side: 'buy', amount: '5', price: '0.0007' })
    await bob.until(taker.order_id, 'filled')
    await ann.until(maker.order_id, 'filled')
    const { url } = venueBusPlace(venue.dataDir)
    const foreign = await connectPlainly({ url }).catch((error: unknown) => String(error))
    expect(foreign).to.match(/authorization violation/i)
    const log = readFileSync(join(venue.dataDir, 'logs', 'nats-server.log'), 'utf8')
    expect(
      log.split('\n').filter((line) => /(publish|subscription) violation/i.test(line)),
    ).to.deep.equal([])
  })

  it('keeps the feed from the gateway’s own user', async () => {
    const gateway = await connectToVenueBus(venue.dataDir, 'gateway')
    try {
      const { lastSeq } = await gateway.streamState(feedStream(SPOT))
      const outcome = await gateway
        .append(feedSubject(SPOT), new Uint8Array([1]), { expectedLastSeq: lastSeq })
        .catch((error: unknown) => error)
      expect(outcome).to.be.instanceOf(AppendRefused)
    } finally {
      await gateway.close()
    }
  })

  it('lets no credential empty a feed but that of its writer, and every reader starts again (OPE-047)', async () => {
    const stream = feedStream(SPOT)
    const emptying = ['PURGE', 'DELETE', 'MSG.DELETE'].map((request) => {
      const subject = `$JS.API.STREAM.${request}.${stream}`
      return { what: subject, subject }
    })
    const reader = await connectToVenueBus(venue.dataDir, 'projector')
    try {
      const before = await reader.streamState(stream)
      expect(before.lastSeq).to.be.above(0)
      for (const user of BUS_USERS.filter((each) => each !== 'matcher')) {
        const connection = await connectPlainly(venueBusPlace(venue.dataDir), user)
        const refused = await refusedPublications(connection, emptying)
        expect([...refused], user).to.have.members(emptying.map(({ subject }) => subject))
      }
      expect(await reader.streamState(stream)).to.deep.equal(before)
    } finally {
      await reader.close()
    }
    for (const worker of ['ws-fanout', 'projector']) await venue.restartWorker(worker)
    await venue.untilReady()
  })
})
