/** Cancels many orders at once: by a list, all of them, after a time, and when a socket closes. */
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import {
  createRestClient,
  openSocketLease,
  randomNonce,
  signCancelAll,
  signCancelAllAfter,
  signCancelList,
  signFrame,
  signTraderOrder,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const { private_key, spot_subaccount_id: subaccountId } = accountOf(devnet)
const signer = privateKeyToAccount(private_key)
const domain = { chainId: devnet.chain_id, matching: devnet.matching }
const venue = createRestClient(devnet.gateway_url)
const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)

/** Places a bid for 10 USDC that rests far from the market. */
async function place(price: string, leaseId?: string): Promise<string> {
  if (market === undefined) throw new Error('no market')
  const nonce = randomNonce()
  const order = await signTraderOrder(signer, domain, {
    market,
    nonce,
    price,
    subaccountId,
    side: 'buy',
    size: '10',
    orderId: `example-${nonce}`,
    expirySec: nowSec() + FIVE_MINUTES,
    ...(leaseId !== undefined && { leaseId }),
  })
  const { order_id: orderId } = await venue.placeOrder(order)
  return orderId
}

const nowSec = (): number => Math.floor(Date.now() / 1_000)
/** A proof is valid for at most a minute. */
const proof = () => ({ issuedAtSec: nowSec(), expirySec: nowSec() + 30 })

const first = await place('1300')
const second = await place('1290')
await place('1280')
const list = await signCancelList(signer, domain, { orderIds: [first, second], ...proof() })
const { orders: listed } = await venue.cancelList(list)
console.log(`a list: ${listed.map(({ outcome }) => outcome).join(', ')}`)

const { leases } = await venue.cancelAllAfter(
  await signCancelAllAfter(signer, domain, { seconds: 60, market: MARKET, ...proof() }),
)
console.log(`a dead-man switch: cancels in ${leases.length} market, unless it is renewed`)
const disarm = { seconds: 0, market: MARKET, ...proof() }
await venue.cancelAllAfter(await signCancelAllAfter(signer, domain, disarm))

const all = await signCancelAll(signer, domain, { market: MARKET, ...proof() })
const { orders, left } = await venue.cancelAll(all)
console.log(`all: ${orders.length} ${orders[0]?.outcome}, ${left} left`)

const socket = await openSocketLease({
  WebSocket,
  url: `${devnet.gateway_url.replace(/^http/, 'ws')}/v1/ws`,
  frame: await signFrame(signer, { purpose: 'socket', domain: devnet.auth_domain }),
})
const bound = await place('1270', socket.leaseId)
socket.close()
await socket.ended
for (;;) {
  const { status, cancel_reason } = await venue.order(bound)
  if (status === 'active') continue
  console.log(`after the socket has closed: ${status}, ${cancel_reason}`)
  break
}
