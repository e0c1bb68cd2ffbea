import { E18, priceE18 } from '../../core/money.js'
import { aFuture, aMarket, aPerp, signedIntentBody, signedOrderBody } from '../support/builders.js'

/** The time at which the venue judges every request of the table, unix milliseconds. */
export const NOW_MS = Date.parse('2026-11-21T10:00:00Z')

const futureMarket = aFuture({ tickSize: priceE18(E18 / 2n) })

/** The markets of the table: one of each kind, and one that is not enabled. */
export const tableMarkets = [
  aMarket(),
  aPerp(),
  futureMarket,
  aMarket({ market: 'OFF', ordinal: 9, enabled: false, assetAddress: `0x${'c9'.repeat(20)}` }),
]

/** The order that most rules spoil: it buys 153,000 cNGN at 0.00065. */
export const engine = await signedOrderBody({ orderId: 'refused-1' })
/** The same market, entered as an intent. */
export const intent = await signedIntentBody(
  { side: 'buy', price: '1530', size: '100' },
  { orderId: 'refused-2' },
)
export const perpetual = await signedIntentBody(
  { side: 'buy', price: '0.00065', size: '10' },
  { market: aPerp() },
)
export const future = await signedOrderBody({ market: futureMarket, price: '1530', amount: '3' })
