/** Bids for a contract of the dated future that expires first, shows margin and position as the chain has them, and cancels. */
import { createPublicClient, formatUnits, http, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createRestClient,
  nearestSeries,
  randomNonce,
  readFutureMargin,
  readFuturePosition,
  signOrder,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

/** One contract, in USDC. */
const CONTRACT = '1000'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)

// Series end and others follow, so that none is named here.
const market = nearestSeries(await venue.markets())
if (market?.future === undefined)
  throw new Error('no series of futures trades now: see ./venue market list')
const { fill_band_low: low, fill_band_high: high, mark_price: mark, index_price } = market.future
if (low === undefined || index_price === undefined)
  throw new Error(`${market.market} cannot be read on the chain now`)
console.log(`${market.market}: the mark is ${mark} cNGN, fills are between ${low} and ${high}`)

// Half-way down the band, which is around the index: the mark follows it by at most 5 % an hour and may be outside.
const price = formatUnits((parseUnits(low, 18) + parseUnits(index_price, 18)) / 2n, 18)

// Spot and futures share an account. Its margin is USDC and cNGN.
const nonce = randomNonce()
const body = await signOrder(
  privateKeyToAccount(account.private_key),
  { chainId: devnet.chain_id, matching: devnet.matching },
  {
    market,
    orderId: `example-${nonce}`,
    subaccountId: account.spot_subaccount_id,
    nonce,
    expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
    side: 'buy',
    price,
    amount: CONTRACT,
  },
)
const order = await venue.placeOrder(body)
console.log(`${order.order_id} is ${order.status}: ${order.open_amount} USDC at ${price}`)

// GET /v1/positions does not serve futures: both are read on the chain.
const chain = createPublicClient({ transport: http(devnet.rpc_url) })
const held = { market, subaccountId: BigInt(account.spot_subaccount_id) }
const position = await readFuturePosition(chain, held, devnet.sub_accounts)
const surplus = await readFutureMargin(chain, held, 'initial')
console.log(`position ${formatUnits(position, 18)} contracts`)
console.log(`${formatUnits(surplus, 18)} USD above initial margin`)

const { owner_address } = body
const cancelled = await venue.cancelOrder({ owner_address, nonce: body.nonce })
console.log(`${cancelled.order_id} is ${cancelled.status}`)
