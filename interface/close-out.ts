import { z } from 'zod'
import { nextBefore } from './order.js'
import { address, decimal, hash, integer, type Shape, signedDecimal, time } from './values.js'

/** Close-outs: what became of positions when their series was settled. */

/** One position, closed at the settlement price of its series. */
export const CloseOutRecord = z
  .object({
    market: z.string(),
    display_name: z.string(),
    asset_address: address,
    sub_id: integer,
    subaccount_id: integer,
    position: signedDecimal.describe(
      'What was closed: signed size in the engine’s amounts, USDC on futures; positive was long.',
    ),
    settlement_price: decimal.describe('In cNGN per USDC.'),
    vm_cngn: signedDecimal.describe(
      'Final variation margin in cNGN: from the price at which the position was last accrued to the settlement price; positive when the account received it. What was accrued before is in the account’s cNGN already.',
    ),
    closed_at: time.describe('Of the block that closed it.'),
    block_number: z.int().min(0),
    tx_hash: hash,
  })
  .meta({
    id: 'CloseOut',
    description: 'A position that the chain closed when it settled a series.',
  })
export type CloseOutRecord = Shape<typeof CloseOutRecord>

/** The body of `GET /v1/close-outs`. */
export const CloseOutsPage = z
  .object({ close_outs: z.array(CloseOutRecord), next_before: nextBefore })
  .meta({ id: 'CloseOuts', description: 'A page of close-outs.' })
export type CloseOutsPage = Shape<typeof CloseOutsPage>
