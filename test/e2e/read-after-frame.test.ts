import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSeenSeqs,
  createSocketClient,
  signFrame,
  type OrderDelta,
  type SocketClient,
} from '../../client/index.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { createTrader, SPOT } from './stage/trader.js'

/** As many as a market maker was seen to be shown less in, and orders of each. */
const BURSTS = 21
const ORDERS = 6

/** What a socket has shown is shown over REST from then on, however far the projector is behind. */
describe('reads over REST after frames of the socket', function () {
  let venue: TestVenue
  let socket: SocketClient | undefined
  before(async () => {
    venue = await startVenue({ blockTime: 1 })
  })
  after(async () => {
    socket?.close()
    await venue?.stop()
  })

  it('show at least what the frames have shown (REA-049)', async () => {
    const seen = createSeenSeqs()
    const rest = createRestClient(venue.gatewayUrl, { seen })
    const { accounts, auth_domain: domain } = venue.devnet
    const owner = privateKeyToAccount(accounts[0]?.private_key ?? '0x')
    socket = createSocketClient({
      url: new URL('/v1/ws', venue.gatewayUrl.replace(/^http/, 'ws')).href,
      WebSocket,
      seen,
      authenticate: () => signFrame(owner, { purpose: 'socket', domain }),
    })
    const reads: Promise<void>[] = []
    /** Each first frame is of a new order: a read model that trails would answer 404. */
    async function compare({ order_id, filled_amount }: OrderDelta): Promise<void> {
      const { order } = await rest.order(order_id)
      expect(order).to.include({ order_id, filled_amount })
    }
    let isFollowing = false
    socket.subscribe('orders', SPOT, {
      onSnapshot: () => (isFollowing = true),
      onUpdate: (delta) => reads.push(compare(delta)),
    })
    await eventually(() => isFollowing)
    const trader = createTrader(venue.devnet, 0)
    for (let burst = 0; burst < BURSTS; burst += 1) {
      const wishes = Array.from({ length: ORDERS }, (_, no) => ({
        ...({ side: 'buy', price: `0.0000${1 + (no % 9)}`, amount: '1' } as const),
      }))
      const bodies = await Promise.all(wishes.map((wish) => trader.sign(wish)))
      await Promise.all(bodies.map((body) => trader.send(body)))
    }
    await eventually(() => reads.length === BURSTS * ORDERS)
    await Promise.all(reads)
  })
})
