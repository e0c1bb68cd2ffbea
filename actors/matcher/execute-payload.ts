import { assert } from '../../core/assert.js'
import type { Match } from '../../core/change.js'
import type { Market } from '../../core/market.js'
import type { Order } from '../../core/order.js'
import { readStatement } from '../../core/order-statement.js'

/** Body of `POST /execute` (interface 2.10, decisions E7, E12): amounts, price and fees are integers at 1e18. */
export function executePayload(market: Market, match: Match, maker: Order, taker: Order) {
  assert(match.makerOrderId === maker.orderId, 'the match has another maker')
  assert(match.takerOrderId === taker.orderId, 'the match has another taker')
  const [ofTaker, ofMaker] = [readStatement(taker.statement), readStatement(maker.statement)]
  return {
    market: market.market,
    asset_address: market.assetAddress,
    module_address: market.tradeModuleAddress,
    maker_order_id: maker.orderId,
    taker_order_id: taker.orderId,
    maker_order_ids: [maker.orderId],
    actions: [ofTaker.action, ofMaker.action],
    signatures: [ofTaker.signature, ofMaker.signature],
    order_data: {
      taker_account: String(taker.subaccountId),
      taker_fee: String(match.takerFee),
      fill_details: [
        {
          filled_account: String(maker.subaccountId),
          amount_filled: String(match.amount),
          price: String(match.price),
          fee: '0',
        },
      ],
      manager_data: '0x',
    },
  }
}

export type ExecutePayload = ReturnType<typeof executePayload>
