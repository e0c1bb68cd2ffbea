/** Shows an owner's orders and fills, page by page, and the market's last hours. */
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, signFrame, type FillRecord } from '../client/index.js'
import { accountOf, readDevnet } from './devnet.js'

const MARKET = 'cNGN-USDC'
const AN_HOUR = 3_600

const devnet = await readDevnet(process.argv[2])
const signer = privateKeyToAccount(accountOf(devnet).private_key)
const venue = createRestClient(devnet.gateway_url)

// One signature is good for every page of both histories until it expires.
const frame = await signFrame(signer, {
  purpose: 'history',
  domain: devnet.auth_domain,
  validSec: AN_HOUR,
})
const { orders } = await venue.orderHistory(frame, { limit: 10 })
for (const order of orders)
  console.log(
    `${order.order_id} is ${order.status}${order.cancel_reason ? ` (${order.cancel_reason})` : ''}`,
  )

const fills: FillRecord[] = []
for (let before: string | undefined; ;) {
  const page = await venue.fills(frame, { limit: 100, ...(before !== undefined && { before }) })
  fills.push(...page.fills)
  before = page.next_before
  if (before === undefined) break
}
for (const { liquidity, size, price, fee } of fills.slice(0, 10))
  console.log(`${liquidity} of ${size} cNGN at ${price} USDC, fee ${fee}`)
console.log(`${orders.length} orders shown, ${fills.length} fills in all`)

const { candles } = await venue.candles(MARKET, '1h', { limit: 3 })
for (const { bucket_start, open, close, volume } of candles)
  console.log(`${bucket_start} from ${open} to ${close}, ${volume} cNGN traded`)
for (const { ticker_id, bid, ask } of await venue.tickers())
  console.log(`${ticker_id}: USDC bid ${bid || 'none'}, ask ${ask || 'none'}`)
