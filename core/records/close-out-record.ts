import type { CloseOutRecord } from '../../interface/close-out.js'
import type { Hex } from '../action.js'
import { formatDecimal } from '../decimal.js'
import type { Market } from '../model/market.js'
import type { PriceE18 } from '../money.js'
import { isoTime } from '../time.js'

/** A position that the chain has closed, as its owner sees it. */
export interface OwnCloseOut {
  readonly subaccountId: bigint
  readonly atMs: number
  /** Signed, in the engine's amounts at 1e18; positive was long. */
  readonly size: bigint
  readonly price: PriceE18
  /** In the quote token at 1e18. */
  readonly variation: bigint
  readonly txHash: Hex
  readonly blockNumber: number
}

/** Presents a close-out, engine values. */
export const closeOutRecord = (market: Market, closed: OwnCloseOut): CloseOutRecord => ({
  market: market.market,
  display_name: market.presentation.displayName,
  asset_address: market.assetAddress,
  sub_id: market.subId.toString(),
  subaccount_id: closed.subaccountId.toString(),
  position: formatDecimal(closed.size, 18),
  settlement_price: formatDecimal(closed.price, 18),
  vm_cngn: formatDecimal(closed.variation, 18),
  closed_at: isoTime(closed.atMs),
  block_number: closed.blockNumber,
  tx_hash: closed.txHash,
})
