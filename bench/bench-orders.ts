import type { AccountObservation } from '../core/account.js'
import type { Address, Hex } from '../core/action.js'
import type { Command, LoggedCommand } from '../core/command.js'
import {
  type AmountE18,
  amountE18,
  E18,
  feePerUnitE18,
  type PriceE18,
  priceE18,
  quoteE18,
} from '../core/money.js'
import { writeStatement } from '../core/order-statement.js'
import type { Order, Side } from '../core/order.js'
import { encodeTradeData } from '../core/trade-data.js'
import { benchMarket } from './bench-market.js'

const market = benchMarket()
const FAR_FUTURE_SEC = 4_000_000_000
const START_MS = 1_790_000_000_000
/** Price and size of one unit of a walk: near the market's real ones, so that the numbers are as long. */
const PRICE_STEP = 10n ** 11n
const LOT = 1_000n * E18
const ACCOUNTS = 1_000

/** An order in the units of a walk. */
export interface OrderOnGrid {
  /** Different for each order. */
  readonly number: number
  readonly side: Side
  readonly price: number
  readonly lots: number
}

/** Buyers and sellers are different people, because what one's own order does is another rule. */
const accountOf = ({ number, side }: OrderOnGrid): number =>
  2 * (number % (ACCOUNTS / 2)) + (side === 'buy' ? 1 : 2)

const addressOf = (account: number): Address => `0x${account.toString(16).padStart(40, '7')}`

/** An order with everything that a real one carries; its signature is only as long as one. */
export function benchOrder(onGrid: OrderOnGrid): Order {
  const { number, side } = onGrid
  const account = accountOf(onGrid)
  const owner = addressOf(account)
  const subaccountId = BigInt(account)
  const nonce = BigInt(START_MS) * 1_000n + BigInt(number)
  const limitPrice = priceE18(BigInt(onGrid.price) * PRICE_STEP)
  const desiredAmount = amountE18(BigInt(onGrid.lots) * LOT)
  const worstFee = feePerUnitE18(limitPrice / 100n)
  const { assetAddress, subId, tradeModuleAddress } = market
  const data = encodeTradeData({
    ...{ asset: assetAddress, subId, limitPrice, desiredAmount, worstFee },
    ...{ recipientId: subaccountId, isBid: side === 'buy' },
  })
  return {
    orderId: orderIdOf(number),
    market: market.market,
    ...{ owner, subaccountId, nonce, side },
    ...{ desiredAmount, initialFilled: amountE18(0n), limitPrice, worstFee },
    goodUntilSec: FAR_FUTURE_SEC,
    signatureStatus: 'checked',
    statement: writeStatement({
      ...{ signer: owner, recipientId: subaccountId, assetAddress, subId, worstFee },
      expirySec: FAR_FUTURE_SEC,
      action: {
        subaccount_id: String(subaccountId),
        nonce: String(nonce),
        module: tradeModuleAddress,
        data,
        expiry: String(FAR_FUTURE_SEC),
        ...{ owner, signer: owner },
      },
      signature: signatureOf(number),
    }),
  }
}

/** A price and a size in the units of a walk; exact for what benchOrder made and what matching left of it. */
export const toGrid = (price: PriceE18, amount: AmountE18) => ({
  price: Number(price / PRICE_STEP),
  lots: Number(amount / LOT),
})

/** As long as the ids that clients choose. */
export const orderIdOf = (number: number): string =>
  `7f0c3c1e-5b1d-4f6e-9a51-${String(number).padStart(12, '0')}`

const signatureOf = (number: number): Hex =>
  `0x${number.toString(16).padStart(128, '5a1c')}${number % 2 === 0 ? '1b' : '1c'}`

/** What was read of the order's account when it came: enough for all that it will ever ask. */
function accountSeen({ owner, subaccountId }: Order): AccountObservation {
  return {
    subaccountId,
    base: amountE18(10n ** 15n * E18),
    quote: quoteE18(10n ** 15n * E18),
    custodyOwner: owner,
    leaving: false,
    blockNumber: 30_000_000n,
    blockTimeSec: START_MS / 1_000,
  }
}

/** The command by which an order comes, as the intake writes it. */
export const placing = (order: Order): Command => ({
  kind: 'PlaceOrder',
  order,
  account: accountSeen(order),
})

export const cancelling = ({ owner, nonce }: Order): Command => ({
  kind: 'CancelOrder',
  owner,
  nonce,
  reason: 'user_requested',
})

export const settling = (settlementId: string): Command => ({
  kind: 'SettlementReported',
  settlementId,
  outcome: { kind: 'success', txHash: `0x${'ab'.repeat(32)}`, blockNumber: 30_000_001n },
})

/** The command in its place in the log. */
export function logged(command: Command, sourceNo: number): LoggedCommand {
  const isOurs = command.kind === 'SettlementReported'
  return {
    source: isOurs ? 'matcher' : 'intake',
    sourceNo,
    atMs: START_MS + Math.floor(sourceNo / 20),
    ...(!isOurs && {
      replyTo: `_INBOX.5Z1CJ7CQ1K8W2G5D3H4N8Q.${sourceNo.toString(36)}`,
      requestId: `5b0d8f2c-3f0e-4a55-8c11-${String(sourceNo).padStart(12, '0')}`,
    }),
    command,
  }
}
