/** Trades with the class for CCXT: ticker, limit order, cancel, market order, own trades. Needs `npm install ccxt`. */
import { Venue } from '../ccxt/index.js'
import { accountOf, readDevnet } from './devnet.js'

const SYMBOL = 'CNGN/USDC'

const devnet = await readDevnet(process.argv[2])
const { private_key: privateKey } = accountOf(devnet)
const venue = new Venue({ privateKey, urls: { api: { rest: devnet.gateway_url } } })

console.log(`markets: ${Object.keys(await venue.loadMarkets()).join(', ')}`)
const { bid } = await venue.fetchTicker(SYMBOL)
console.log(`the best bid is ${bid} USDC for one cNGN`)

const resting = await venue.createOrder(SYMBOL, 'limit', 'buy', 15_000, 0.0005)
console.log(`a limit order is ${resting.status}`)
console.log(`it is ${(await venue.cancelOrder(resting.id ?? '')).status}`)

const order = await venue.createOrder(SYMBOL, 'market', 'sell', 10_000)
while ((await venue.fetchOrder(order.id ?? '')).status === 'open') await venue.sleep(500)
const [trade] = await venue.fetchOrderTrades(order.id ?? '')
console.log(`a market order sold ${trade?.amount} cNGN at ${trade?.price}, fee ${trade?.fee?.cost}`)
