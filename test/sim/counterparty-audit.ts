import type { Address } from '../../core/action.js'
import type { Change } from '../../core/model/change.js'
import type { Market } from '../../core/model/market.js'
import type { Match } from '../../core/model/match.js'
import type { Order } from '../../core/model/order.js'
import type { HoldReason } from '../../interface/reasons.js'

/** Those that the simulated chain knows. */
const FAULTS_OF_THE_VENUE: ReadonlySet<string> = new Set([
  'BM_AdjustmentsPaused',
  'M_OnlyTradeExecutor',
  'FT_IndexStale',
  'FT_OutsideFillBand',
])
/** Whether a failure is the venue's. On spot an account with futures is to blame for an index that is stale. */
export const isFaultOfVenue = ({ contractType }: Market, revert: string): boolean =>
  FAULTS_OF_THE_VENUE.has(revert) || (revert === 'BLF_DataTooOld' && contractType === 'perpetual')

/** The order that a match has beside this one. */
export const otherOf = ({ makerOrderId, takerOrderId }: Match, orderId: string): string =>
  orderId === makerOrderId ? takerOrderId : makerOrderId

/** Whether an order is refused or cancelled for a signature, though the code at its own signer has never refused one. */
export function isBlamedForOther(
  change: Change,
  { order, hold }: { readonly order: Order; readonly hold: HoldReason | undefined },
  hasRefused: (signer: Address) => boolean,
): boolean {
  if (change.kind !== 'MatchReverted' || change.revert !== 'OV_InvalidSignature') return false
  const isRefused = change.hold === 'settlement_refused' && hold !== change.hold
  const isEnded = change.cancelReason === 'signature_revoked'
  return (isRefused || isEnded) && !hasRefused(order.signer)
}
