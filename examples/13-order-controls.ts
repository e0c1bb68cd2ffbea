/** Places orders that never take, or never rest: post-only and IOC. */
import { privateKeyToAccount } from 'viem/accounts'
import {
  createRestClient,
  randomNonce,
  VenueRefused,
  signTraderOrder,
  type OrderFrame,
} from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const FIVE_MINUTES = 300

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const venue = createRestClient(devnet.gateway_url)
const market = (await venue.markets()).find((one) => one.market === MARKET)
if (market === undefined) throw new Error(`the venue does not list ${MARKET}`)

type Controls = Pick<OrderFrame, 'timeInForce' | 'postOnly'>

/** Signs an order for 10 USDC. */
async function sign(side: 'buy' | 'sell', price: string, controls: Controls) {
  if (market === undefined) throw new Error('no market')
  const nonce = randomNonce()
  return signTraderOrder(
    privateKeyToAccount(account.private_key),
    { chainId: devnet.chain_id, matching: devnet.matching },
    {
      market,
      nonce,
      side,
      price,
      size: '10',
      orderId: `example-${nonce}`,
      subaccountId: account.spot_subaccount_id,
      expirySec: Math.floor(Date.now() / 1_000) + FIVE_MINUTES,
      ...controls,
    },
  )
}

const resting = await venue.placeOrder(await sign('buy', '1400', { postOnly: 'reject' }))
console.log(`the post-only bid is ${resting.status}`)

const crossing = await sign('sell', '1390', { postOnly: 'reject' })
for (const what of ['a post-only offer below it is refused', 'sent again']) {
  await venue.placeOrder(crossing).catch((error: unknown) => {
    if (!(error instanceof VenueRefused)) throw error
    console.log(`${what}: ${error.code}`)
  })
}

const slid = await venue.placeOrder(await sign('sell', '1390', { postOnly: 'slide' }))
console.log(
  `one that slides is ${slid.status} at ${slid.limit_price}, not ${slid.signed_limit_price}`,
)

const ioc = await venue.placeOrder(await sign('sell', '5000', { timeInForce: 'IOC' }))
console.log(`an IOC order that meets nothing is ${ioc.status}: ${ioc.cancel_reason}`)

for (const { owner_address, nonce } of [resting, slid]) {
  await venue.cancelOrder({ owner_address, nonce })
}
