import type { LiquidationRecord } from '../../interface/liquidation.js'
import type { Liquidation } from '../contracts/liquidation.js'
import { exactNumber, formatDecimal } from '../decimal.js'
import { isoTime } from '../time.js'

/** A liquidation as everyone sees it, in engine values. */
export const liquidationRecord = (one: Omit<Liquidation, 'blockHash'>): LiquidationRecord => ({
  market: one.market,
  event: one.event,
  subaccount_id: one.subaccountId.toString(),
  ...(one.size !== undefined && { size: formatDecimal(one.size, 18) }),
  ...(one.price !== undefined && { price: formatDecimal(one.price, 18) }),
  ...(one.portion !== undefined && { portion: formatDecimal(one.portion, 18) }),
  ...(one.bySubaccountId !== undefined && { by_subaccount_id: one.bySubaccountId.toString() }),
  ...(one.paid !== undefined && { paid: formatDecimal(one.paid, 18) }),
  ...(one.received !== undefined && { received: formatDecimal(one.received, 18) }),
  occurred_at: isoTime(one.blockTimeSec * 1_000),
  block_number: exactNumber(one.blockNumber),
  tx_hash: one.txHash,
  log_index: one.logIndex,
})
