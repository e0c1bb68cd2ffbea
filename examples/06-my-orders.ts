/** Follows the private order feed while an order is placed and cancelled. */
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  createSocketClient,
  randomNonce,
  signFrame,
  signTraderOrder,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const signer = privateKeyToAccount(account.private_key)
const venue = createRestClient(devnet.gateway_url)

const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)
const nonce = randomNonce()
const body = await signTraderOrder(
  signer,
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    market,
    orderId: `example-${nonce}`,
    subaccountId: account.spot_subaccount_id,
    nonce,
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
    side: 'buy',
    price: '1400',
    size: '10',
  },
)

const socket = createSocketClient({
  url: new URL('/v1/ws', devnet.gateway_url.replace(/^http/, 'ws')).href,
  WebSocket,
  authenticate: () => signFrame(signer, { purpose: 'socket', domain: devnet.auth_domain }),
})
socket.subscribe('orders', MARKET, {
  onSnapshot(orders, seq) {
    console.log(`${orders.length} orders at ${seq}`)
    void venue.placeOrder(body)
  },
  onUpdate({ order_id, status, final, filled_amount, desired_amount }, seq) {
    console.log(`${seq}: ${order_id} is ${status}, ${filled_amount} of ${desired_amount} filled`)
    if (order_id !== body.order_id) return
    // Not at `cancelled`: what is pending of a cancelled order may still fill.
    if (final) socket.close()
    else void venue.cancelOrder({ owner_address: body.owner_address, nonce: body.nonce })
  },
  onRefused(code, message) {
    socket.close()
    throw new Error(`${code}: ${message}`)
  },
})
