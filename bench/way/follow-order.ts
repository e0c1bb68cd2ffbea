import { setTimeout as delay } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSocketClient,
  signFrame,
  type ChannelData,
  type OfMarkets,
  type RestClient,
  type SocketClient,
} from '../../client/index.js'
import { signersOf, type Signers } from '../order-flow.js'
import type { OwnDevnet } from '../own-venue.js'

const MAKER = 0
const TAKER = 1
const TERMS = { price: '0.00065', amount: '1000' }
/**
 * Order that rests during the whole measurement, so that periodic work on resting orders also runs without the followed
 * order.
 */
const RESTING_TERMS = { price: '0.0009', amount: '1000' }
/** How long the sell order rests. */
const RESTS_MS = 500
/** Longer than the measurement: a ping of the client is not part of an order's way. */
const PING_EVERY_MS = 600_000
const WITHIN_MS = 30_000
const LOOK_EVERY_MS = 50

/** A trader whose orders are followed from their body to their frames. */
export interface OrderFollower {
  /**
   * Posts a sell order and then a buy order that takes all of it. Resolves when the book, the trade and the fill
   * arrived as frames.
   */
  follow(): Promise<void>
  close(): void
}

/** Received frames by order id. */
interface Arrived {
  readonly inBook: Set<string>
  readonly traded: Set<string>
  readonly filled: Set<string>
}

interface Trader {
  readonly rest: RestClient
  readonly signers: Signers
  readonly arrived: Arrived
}

/** Subscribes to the frames at the end of an order's way; a follower handles one order at a time. */
export async function createOrderFollower(devnet: OwnDevnet): Promise<OrderFollower> {
  const signers = await signersOf(devnet)
  const { market } = signers.market
  const rest = createRestClient(devnet.gateway_url)
  const arrived: Arrived = { inBook: new Set(), traded: new Set(), filled: new Set() }
  const socket = openSocket(devnet)
  const subscribed = [
    subscribe(socket, ['book', market], (delta) => arrived.inBook.add(delta.order_id)),
    subscribe(socket, ['trades', market], (trade) => arrived.traded.add(trade.taker_order_id)),
    subscribe(socket, ['orders', market], ({ order_id, status }) => {
      if (status === 'filled') arrived.filled.add(order_id)
    }),
  ]
  await Promise.all(subscribed)
  await rest.placeOrder(await signers.sign({ side: 'sell', ...RESTING_TERMS }, MAKER))
  return {
    follow: () => follow({ rest, signers, arrived }),
    close: () => socket.close(),
  }
}

function openSocket(devnet: OwnDevnet): SocketClient {
  const account = devnet.accounts[TAKER]
  if (account === undefined) throw new Error('the devnet has too few accounts')
  const signer = privateKeyToAccount(account.private_key)
  return createSocketClient({
    url: new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href,
    WebSocket,
    authenticate: () => signFrame(signer, { purpose: 'socket', domain: devnet.auth_domain }),
    timing: { pingEveryMs: PING_EVERY_MS },
  })
}

/** Resolves with the snapshot: every later frame is received. */
function subscribe<Channel extends OfMarkets>(
  socket: SocketClient,
  [channel, market]: readonly [Channel, string],
  onUpdate: (data: ChannelData[Channel]['update']) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.subscribe(channel, market, {
      onSnapshot: () => resolve(),
      onUpdate,
      onRefused: (code, message) => reject(new Error(`${channel}: ${code}, ${message}`)),
    })
  })
}

async function follow({ rest, signers, arrived }: Trader): Promise<void> {
  const sell = await signers.sign({ side: 'sell', ...TERMS }, MAKER)
  const buy = await signers.sign({ side: 'buy', ...TERMS }, TAKER)
  await rest.placeOrder(sell)
  await delay(RESTS_MS)
  const { order_id: id } = await rest.placeOrder(buy)
  await until(
    'the frames of the order',
    () => arrived.inBook.has(sell.order_id) && arrived.traded.has(id) && arrived.filled.has(id),
  )
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  const deadline = performance.now() + WITHIN_MS
  while (!isSo()) {
    if (performance.now() > deadline) throw new Error(`waited too long for ${what}`)
    await delay(LOOK_EVERY_MS)
  }
}
