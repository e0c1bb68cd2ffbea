import type { MarginShown, OrderOutcome } from '../../interface/validation.js'
import type { AccountTrade, JudgedAccount, MarginStanding } from '../contracts/contract.js'
import { contractOf } from '../contracts/registry.js'
import { spotContract, UI_PRICE_DECIMALS } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import type { Foreseen } from '../engine/foresee.js'
import { averagePrice } from '../engine/order-sums.js'
import type { Market } from '../model/market.js'
import { amountE18, quoteE18 } from '../money.js'

type ForeseenOrder = Extract<Foreseen, { kind: 'order' }>

/** What an order was compared with. */
interface BookFacts {
  readonly feedSeq: number
  /** All orders were read that it could meet in one step. */
  readonly isWhole: boolean
  readonly account?: JudgedAccount | undefined
}

/** Presents what placing an order would do; `account` where the chain showed the order's account and market. */
export function outcomeRecord(
  market: Market,
  { order, progress, matches, cancelled }: ForeseenOrder,
  { feedSeq, isWhole, account }: BookFacts,
): OrderOutcome {
  const trades = matches.map(({ price, amount, takerFee }): AccountTrade => {
    return { side: order.side, price, amount, fee: takerFee }
  })
  const { heldReason, cancelReason } = progress
  const fills = fillsOf(market, trades)
  const margin = account && marginOf(market, account, trades)
  return {
    feed_seq: feedSeq,
    status: progress.status,
    limit_price: e18(order.limitPrice),
    ...(heldReason !== undefined && { held_reason: heldReason }),
    ...(cancelReason !== undefined && { cancel_reason: cancelReason }),
    open_amount: e18(progress.open),
    complete: isWhole && heldReason !== 'continuing',
    ...(fills !== undefined && { fills }),
    cancelled: cancelled.map(({ orderId, amount, reason }) => ({
      order_id: orderId,
      amount: e18(amount),
      cancel_reason: reason,
    })),
    ...(margin !== undefined && { margin }),
  }
}

function fillsOf(
  market: Market,
  trades: readonly AccountTrade[],
): OrderOutcome['fills'] | undefined {
  const last = trades.at(-1)
  if (last === undefined) return undefined
  const { trading, present } = contractOf(market)
  const total = (of: (trade: AccountTrade) => bigint): bigint =>
    trades.reduce((sum, trade) => sum + of(trade), 0n)
  const amount = amountE18(total((trade) => trade.amount))
  const quote = quoteE18(total((trade) => trading.quoteOf(market, trade.price, trade.amount)))
  const fee = quoteE18(total((trade) => trade.fee))
  const product = total((trade) => trade.price * trade.amount)
  const average = averagePrice({ product, amount })
  const moves = present.movesOf(trades)
  const contract = spotContract(market, { side: last.side, price: average, amount })
  return {
    amount: e18(amount),
    filled_quote: e18(quote),
    average_price: e18(average),
    worst_price: e18(last.price),
    fee: e18(fee),
    orders: trades.length,
    balance_delta: { usdc: signed(moves.usdc), cngn: signed(moves.cngn) },
    ...(contract !== undefined && { spot_contract: contract }),
  }
}

/** Before and after the trades; undefined where no margin decides, or the account cannot be priced. */
function marginOf(
  market: Market,
  account: JudgedAccount,
  trades: readonly AccountTrade[],
): OrderOutcome['margin'] | undefined {
  const { marginAfter } = contractOf(market).present
  const before = marginAfter?.(account, [])
  const after = marginAfter?.(account, trades)
  return before && after && { before: marginShown(before), after: marginShown(after) }
}

const marginShown = ({
  position,
  initialSurplus,
  maintenanceSurplus,
  liquidationPriceE10: atPrice,
}: MarginStanding): MarginShown => ({
  position: e18(position),
  initial_margin_surplus: e18(initialSurplus),
  maintenance_margin_surplus: e18(maintenanceSurplus),
  ...(atPrice !== undefined && { liquidation_price_ui: formatDecimal(atPrice, UI_PRICE_DECIMALS) }),
})

const e18 = (value: bigint): string => formatDecimal(value, 18)
const signed = (value: bigint): string => (value > 0n ? `+${e18(value)}` : e18(value))
