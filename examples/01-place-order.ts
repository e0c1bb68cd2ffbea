/** Places a signed order on the spot market and shows where it stands: buys 10 USDC at 1,400 cNGN. */
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, randomNonce, signTraderOrder } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)

const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)

const nonce = randomNonce()
const body = await signTraderOrder(
  privateKeyToAccount(account.private_key),
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
const order = await venue.placeOrder(body)
console.log(`${order.order_id} is ${order.status}: ${order.open_amount} cNGN open`)

const { owner_address, nonce: signed } = body
const cancelled = await venue.cancelOrder({ owner_address, nonce: signed })
console.log(`${cancelled.order_id} is ${cancelled.status}`)
