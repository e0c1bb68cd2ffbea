/** Opens a long of 100,000 cNGN on the perpetual, shows it, and closes it with an order that can only reduce. */
import { accountOf, readDevnet, secondAccountOf } from './devnet.js'
import { placeOrder, readPerpetual, takingPrice, untilFilled, untilPosition } from './perpetual.js'

const SIZE = '100000'

const devnet = await readDevnet(process.argv[2])
const account = accountOf(devnet)
const { perp_subaccount_id: subaccountId } = account
const { perp } = await readPerpetual(devnet)
const price = perp.mark_price_ui
console.log(`the mark is ${price} USDC, leverage at most ${perp.max_leverage}`)

/** Trades at the mark with the second account, which rests its order first. */
async function trade(side: 'buy' | 'sell', reduceOnly: boolean) {
  const other = side === 'buy' ? 'sell' : 'buy'
  await placeOrder(devnet, { account: secondAccountOf(devnet), side: other, price, size: SIZE })
  const limit = takingPrice(side, price)
  const order = await placeOrder(devnet, { account, side, price: limit, size: SIZE, reduceOnly })
  return untilFilled(devnet, order)
}

const opened = await trade('buy', false)
const { positions } = await untilPosition(devnet, subaccountId, SIZE)
const [position] = positions
console.log(`${opened.order_id} is ${opened.status}`)
console.log(
  `${position?.ui_side} ${position?.ui_size} cNGN, worth ${position?.ui_notional_usdc} USDC, entered at ${position?.entry_price}`,
)
console.log(`maintenance margin surplus ${position?.maintenance_margin_surplus} USDC`)

const closed = await trade('sell', true)
const { accounts } = await untilPosition(devnet, subaccountId, '0')
console.log(`${closed.order_id} is ${closed.status}, and the position is closed`)
console.log(`cash ${accounts[0]?.cash} USDC`)
