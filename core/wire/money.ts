import type { AmountE18, FeePerUnitE18, PriceE18, QuoteE18, TokenUnits6 } from '../money.js'
import { int, scaled, uint } from './codec.js'

/** Money as declarations name it: integers at the scale of the type. */
export const priceE18 = scaled<PriceE18>(uint)
export const amountE18 = scaled<AmountE18>(uint)
export const quoteE18 = scaled<QuoteE18>(uint)
export const feePerUnitE18 = scaled<FeePerUnitE18>(uint)
export const tokenUnits6 = scaled<TokenUnits6>(uint)
/** Balances, which may be negative. */
export const signedAmountE18 = scaled<AmountE18>(int)
export const signedQuoteE18 = scaled<QuoteE18>(int)
