import { z } from 'zod'
import { SpotContract } from './order.js'
import { markPrice, tradeId } from './trade.js'
import {
  decimal,
  engineAmount,
  enginePrice,
  hash,
  integer,
  orderId,
  type Shape,
  Side,
  signedDecimal,
  time,
} from './values.js'

/** `data` of a `fills` update: the state of a match for one of the owner’s orders. Prices and sizes are the engine’s. */
export const FillEvent = z
  .object({
    settlement_id: z
      .string()
      .describe(
        'Names the match for ever. With `order_id` it names this leg: what comes later about the leg replaces what came before.',
      ),
    order_id: orderId,
    subaccount_id: integer
      .optional()
      .describe('Absent only on an outcome that came after the order had ended.'),
    status: z
      .enum(['pending', 'settled', 'failed', 'reversed'])
      .describe(
        '`pending` until the chain has carried it out. Only `settled` counts. A failed match may settle late, and a settled one be reversed.',
      ),
    liquidity: z.enum(['maker', 'taker']),
    side: Side.describe('Engine side of one’s own order.'),
    price: enginePrice.describe('Engine price: the maker’s.'),
    size: engineAmount,
    fee: decimal.describe('What this order pays, in USDC.'),
    created_at: time.describe('When it came to stand so.'),
    trade_id: tradeId
      .optional()
      .describe('As in `GET /v1/fills`; absent while it is no trade yet.'),
    tx_hash: hash.optional().describe('The transaction that settled it.'),
    block_number: z.int().min(0).optional().describe('The block of the transaction.'),
    reason: z.string().optional().describe('Why it failed or was reversed: the chain’s revert.'),
    spot_contract: SpotContract.optional().describe('The leg in trader terms.'),
    mark_price: markPrice.optional(),
    vm_cngn: signedDecimal
      .optional()
      .describe('Futures: variation margin of the fill in cNGN; positive when received.'),
  })
  .meta({ id: 'FillEvent', description: 'The state of a match for one of your orders.' })
export type FillEvent = Shape<typeof FillEvent>
