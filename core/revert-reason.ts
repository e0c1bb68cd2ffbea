/** The `cancel_reason` of an order that is cancelled because the chain keeps refusing it (decision B6). */
export type RefusalReason =
  | 'insufficient_margin'
  | 'insufficient_balance'
  | 'signature_revoked'
  | 'fee_bound_too_low'
  | 'settlement_refused'

const REASONS: ReadonlyMap<string, RefusalReason> = new Map([
  ['SRM_PortfolioBelowMargin', 'insufficient_margin'],
  ['SRM_NoNegativeCash', 'insufficient_balance'],
  ['WERC_CannotBeNegative', 'insufficient_balance'],
  ['OV_InvalidSignature', 'signature_revoked'],
  ['OV_SignerNotOwnerOrSessionKeyExpired', 'signature_revoked'],
  ['TM_FeeTooHigh', 'fee_bound_too_low'],
])

/** Reverts that say nothing about the trader's own means are a plain `settlement_refused`. */
export function cancelReasonOfRevert(revert: string): RefusalReason {
  return REASONS.get(revert) ?? 'settlement_refused'
}
