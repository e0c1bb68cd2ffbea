/** Buys 10 USDC from the best quote of the spot market and waits until the chain has settled the trade. */
import { setTimeout as delay } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, randomNonce, signTraderOrder } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300
const LOOK_EVERY_MS = 250

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)

// The engine's bids pay USDC for cNGN: a resting bid sells the USDC that we buy.
const { market_presentation: market, bids } = await venue.book(MARKET)
const quote = bids[0]?.spot_contract?.ui_intent
if (quote === undefined) throw new Error('no one sells USDC: is DEMO_MAKER off?')
console.log(`the best quote sells ${quote.size} USDC at ${quote.price} cNGN`)

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
    price: quote.price,
    size: '10',
    // A fee is of the price of execution, which may be better than ours.
    bestBid: bids[0]?.limit_price,
  },
)
let order = await venue.placeOrder(body)
console.log(`${order.order_id} is ${order.status}`)

while (order.status === 'matching') {
  await delay(LOOK_EVERY_MS)
  order = await venue.order(order.order_id)
}
const { trades } = await venue.trades(MARKET)
const mine = trades.filter((trade) => trade.taker_order_id === order.order_id)
console.log(`${order.order_id} is ${order.status}`)
for (const { size, price, tx_hash } of mine) {
  console.log(`paid ${size} cNGN at ${price} USDC each, settled in ${tx_hash}`)
}
