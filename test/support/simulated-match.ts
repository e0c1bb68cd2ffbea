import { executeRequest } from '../../actors/matcher/ask-executor.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { actionOf } from '../../core/entry/signed-action.js'
import type { Market } from '../../core/model/market.js'
import type { Order } from '../../core/model/order.js'
import { amountE18, E18, feePerUnitE18, priceE18 } from '../../core/money.js'
import { executePayload, type ExecutePayload } from '../../executor/payload.js'
import { digestOf, walletSignature } from '../sim/contracts.js'
import { accountsIn, type Trader } from '../sim/traders.js'
import { matcherOrder } from './matching.js'

/** The order with the signature of its owner, a wallet contract of the simulated chain. */
export const signedByWallet = (market: Market, order: Order): Order => ({
  ...order,
  signature: walletSignature(order.owner, digestOf(actionOf(market, order))),
})

let matches = 0

/** What the matcher asks the executor to settle: the first trader buys so much of the second, at a price of 1. */
export function matchPayload(
  market: Market,
  [buyer, seller]: readonly [Trader, Trader],
  amount: bigint,
): ExecutePayload {
  matches += 1
  const orderOf = (trader: Trader, side: 'buy' | 'sell') =>
    signedByWallet(
      market,
      matcherOrder({
        side,
        owner: trader.owner,
        market: market.market,
        limitPrice: priceE18(E18),
        subaccountId: accountsIn(trader, market)[0] ?? 0n,
        orderId: `${side}-${matches}`,
        desiredAmount: amountE18(amount),
        worstFee: feePerUnitE18(E18 * E18),
      }),
    )
  const taker = orderOf(buyer, 'buy')
  const maker = orderOf(seller, 'sell')
  const size = amountE18(amount)
  const price = priceE18(E18)
  const match = {
    settlementId: `${market.market}:${matches}`,
    amount: size,
    price,
    makerOrderId: maker.orderId,
    takerOrderId: taker.orderId,
    takerFee: tradingOf(market).takerFee(market, price, size),
  }
  return executePayload.parse(executeRequest(market, match, maker, taker))
}
