import type { MatchTerms } from '../../core/contracts/claims.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'

/** The accounts of each fill whose claims are tested. */
export const TAKER = 7n
export const MAKER = 8n

/** A fill between the two, all with 18 decimals; the amount in units of the base asset or in contracts, the fee the taker's. */
export interface ClaimedFill {
  readonly takerBuys: boolean
  readonly price: bigint
  readonly amount: bigint
  readonly fee: bigint
}

/** The match that has this fill alone. */
export const termsOf = ({ takerBuys, price, amount, fee }: ClaimedFill): MatchTerms => ({
  takerAccount: TAKER,
  takerIsBuyer: takerBuys,
  takerFee: quoteE18(fee),
  fillDetails: [
    {
      filledAccount: MAKER,
      amountFilled: amountE18(amount),
      price: priceE18(price),
      fee: quoteE18(0n),
    },
  ],
})
