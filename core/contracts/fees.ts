import { E18, mulDivFloor } from '../money.js'
import type { AmountE18, FeePerUnitE18, PriceE18, QuoteE18 } from '../money.js'

/** price × amount in quote, rounded down: exactly what a trade module moves for a fill of balances. */
export function notionalFloor(price: PriceE18, amount: AmountE18): QuoteE18 {
  return mulDivFloor(price, amount, E18) as QuoteE18
}

/** A fee of the notional in basis points, rounded down at both steps (MON-017). */
export function notionalFeeFloor(price: PriceE18, amount: AmountE18, feeBps: number): QuoteE18 {
  return mulDivFloor(notionalFloor(price, amount), BigInt(feeBps), 10_000n) as QuoteE18
}

/** Fee per unit as a trade module computes it before comparing with worstFee: rounded down. */
export function feePerUnitFloor(fee: QuoteE18, amount: AmountE18): FeePerUnitE18 {
  return mulDivFloor(fee, E18, amount) as FeePerUnitE18
}
