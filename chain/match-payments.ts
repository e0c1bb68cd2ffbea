import type { Address } from '../core/action.js'
import { notionalFloor } from '../core/money.js'
import { decodeTradeData } from '../core/trade-data.js'
import type { MatchCall } from './encode-match.js'
import type { BalanceId } from './read-balances.js'

/** What a match takes out of an account, at 1e18. */
export interface Payment extends BalanceId {
  readonly amount: bigint
}

/** Names a balance. */
export const balanceKey = ({ accountId, asset, subId }: BalanceId): string =>
  `${accountId} ${asset} ${subId}`

/**
 * What a spot match takes out of its accounts, one payment for each balance: base from the seller, quote from the buyer,
 * and the fees of both. Empty when the taker's data cannot be read.
 */
export function paymentsOf({ actions, orderData }: MatchCall, quoteAsset: Address): Payment[] {
  const [taker] = actions
  const decoded = decodeTradeData(taker?.data ?? '0x')
  if (taker === undefined || 'refusal' in decoded) return []
  const { asset, subId, isBid } = decoded.data
  const quote = (accountId: bigint, amount: bigint): Payment => {
    return { accountId, asset: quoteAsset, subId: 0n, amount }
  }
  const fills = orderData.fillDetails.flatMap(({ filledAccount, amountFilled, price, fee }) => {
    const [buyer, seller] = isBid
      ? [taker.subaccountId, filledAccount]
      : [filledAccount, taker.subaccountId]
    return [
      { accountId: seller, asset, subId, amount: amountFilled },
      quote(buyer, notionalFloor(price, amountFilled)),
      quote(filledAccount, fee),
    ]
  })
  return summed([...fills, quote(taker.subaccountId, orderData.takerFee)])
}

function summed(payments: readonly Payment[]): Payment[] {
  const sums = new Map<string, Payment>()
  for (const payment of payments) {
    const before = sums.get(balanceKey(payment))?.amount ?? 0n
    sums.set(balanceKey(payment), { ...payment, amount: before + payment.amount })
  }
  return [...sums.values()].filter(({ amount }) => amount > 0n)
}
