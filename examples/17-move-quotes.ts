/** Moves quotes as a market maker does: several at once, smaller in place, replaced in one step; orders by the socket. */
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSocketClient,
  randomNonce,
  signTraderOrder,
  type SocketClient,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)
const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)

/** Signs a bid for USDC that never takes, and never meets an order of this owner. */
async function sign(price: string, size: string) {
  if (market === undefined) throw new Error('no market')
  const nonce = randomNonce()
  return signTraderOrder(
    privateKeyToAccount(account.private_key),
    { chainId: devnet.chain_id, matching: devnet.matching },
    {
      market,
      nonce,
      side: 'buy' as const,
      price,
      size,
      orderId: `example-${nonce}`,
      subaccountId: account.spot_subaccount_id,
      expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
      postOnly: 'reject' as const,
      stp: 'cancel_oldest' as const,
      stpScope: 'owner' as const,
    },
  )
}

const bodies = [await sign('1400', '10'), await sign('1390', '10')]
const results = await venue.placeOrders(bodies)
console.log(`placed ${results.filter(({ status }) => status === 200).length} bids at once`)

const [first, second] = bodies
if (first === undefined || second === undefined) throw new Error('no bids')
const { owner_address } = first
const half = { owner_address, nonce: first.nonce, desired_amount: '7000' }
const reduced = await venue.reduceOrder(half)
console.log(`the first asks for ${reduced.desired_amount} of ${reduced.signed_desired_amount}`)

const replacement = { ...(await sign('1380', '10')), replaces_nonce: second.nonce }
const { order, replaced } = await venue.replaceOrder(replacement)
console.log(`the second is ${replaced.cancel_reason}, its successor is ${order.status}`)

const socket = createSocketClient({
  url: `${devnet.gateway_url.replace('http', 'ws')}/v1/ws`,
  WebSocket,
})
await opened(socket)
const third = await socket.placeOrder(await sign('1370', '10'))
console.log(`one by the socket is ${third.status}`)
const nonces = [first.nonce, order.nonce, third.nonce]
const cancels = nonces.map((nonce) => socket.cancelOrder({ owner_address, nonce }))
const ended = await Promise.all(cancels)
console.log(`all are ${[...new Set(ended.map(({ status }) => status))].join()}`)
socket.close()

async function opened(client: SocketClient): Promise<void> {
  while (!client.isOpen()) await new Promise((resolve) => setTimeout(resolve, 50))
}
