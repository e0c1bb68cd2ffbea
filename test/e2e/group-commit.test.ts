import { expect } from 'chai'
import { commandsStream, feedStream } from '../../bus-schemas/subjects.js'
import { createRestClient } from '../../client/index.js'
import type { TestVenue } from '../support/venue.js'
import { connectToVenueBus } from '../support/venue-bus.js'
import { sharedVenue } from './stage/shared-venue.js'
import { createTrader, SPOT } from './stage/trader.js'

const ORDERS = 64
const ROUNDS = 10

describe('group commit', function () {
  let venue: TestVenue
  before(async function () {
    venue = await sharedVenue()
  })

  it('puts 64 concurrent orders into fewer than 16 messages on each stream', async () => {
    // How many arrive together depends on what else the machine does; what is wanted is that the venue can.
    let counts: number[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      counts = await messagesOfBurst(venue)
      if (counts.every((count) => count < ORDERS / 4)) break
    }
    for (const count of counts) expect(count).to.be.within(1, ORDERS / 4 - 1)
  })
})

/** Places many orders at once; how many messages that made on the log and on the feed. */
async function messagesOfBurst(venue: TestVenue): Promise<number[]> {
  const dan = createTrader(venue.devnet, 3)
  const rest = createRestClient(venue.gatewayUrl)
  const wish = { side: 'buy', amount: '1', price: '0.00001' } as const
  const bodies = await Promise.all(Array.from({ length: ORDERS }, () => dan.sign(wish)))
  const bus = await connectToVenueBus(venue.dataDir, 'auditor')
  try {
    const lastOf = async (stream: string) => (await bus.streamState(stream)).lastSeq
    const streams = [commandsStream(SPOT), feedStream(SPOT)]
    const before = await Promise.all(streams.map(lastOf))
    const placed = await Promise.all(bodies.map((body) => rest.placeOrder(body)))
    const after = await Promise.all(streams.map(lastOf))
    expect(placed.map((order) => order.status)).to.deep.equal(placed.map(() => 'active'))
    return after.map((last, index) => last - (before[index] ?? 0))
  } finally {
    await bus.close()
    await Promise.allSettled(bodies.map((body) => dan.cancel(body)))
  }
}
