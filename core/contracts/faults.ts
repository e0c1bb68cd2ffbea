/**
 * What is at fault when the chain refuses a match that no order spoils: the deployment's own permissions, or the manager
 * of an account (its pause, caps, feeds), which refuse every match of the market; the price of this match alone; or what
 * an account holds, so that other accounts trade on.
 */
export type FaultOf = 'deployment' | 'manager' | 'price' | 'holdings'

/** Reverts that no order causes, by what is at fault. */
export type VenueFaults = ReadonlyMap<string, FaultOf>

const COMMON: VenueFaults = new Map<string, FaultOf>([
  ['M_OnlyTradeExecutor', 'deployment'],
  ['M_OnlyAllowedModule', 'deployment'],
  ['BM_AdjustmentsPaused', 'manager'],
  ['BM_AssetCapExceeded', 'manager'],
  ['BM_UnauthorizedCall', 'manager'],
  ['BLF_DataTooOld', 'manager'],
  ['PA_InvalidImpactPrices', 'manager'],
])

/** What is at fault for the revert if no order is; undefined when an order may be. */
export const venueFaultOf = (
  { faults }: { readonly faults?: VenueFaults },
  revert: string,
): FaultOf | undefined => faults?.get(revert) ?? COMMON.get(revert)
