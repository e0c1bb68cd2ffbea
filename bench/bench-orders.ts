import { balanceFacts } from '../core/contracts/balances.js'
import type { Address, Hex } from '../core/action.js'
import type { Command, LoggedCommand } from '../core/model/command.js'
import type { AccountObservation } from '../core/model/observation.js'
import type { Order, Side } from '../core/model/order.js'
import {
  amountE18,
  E18,
  feePerUnitE18,
  priceE18,
  quoteE18,
  type AmountE18,
  type PriceE18,
} from '../core/money.js'
import { benchMarket } from './bench-market.js'

const market = benchMarket()
/** Of the length that expiries have until 2038: V8 keeps a greater number in an object of its own. */
const FAR_FUTURE_SEC = 2_100_000_000
const START_MS = 1_790_000_000_000
/** Price and size of one unit of a walk: close to the market's real ones, so that the numbers have the same length. */
const PRICE_STEP = 10n ** 11n
const LOT = 1_000n * E18
const ACCOUNTS = 1_000

/** An order in units of a walk. */
export interface OrderOnGrid {
  /** Different for each order. */
  readonly number: number
  readonly side: Side
  readonly price: number
  readonly lots: number
}

/** Buyers and sellers have different owners, so that self-trade prevention does not apply. */
const accountOf = ({ number, side }: OrderOnGrid): number =>
  2 * (number % (ACCOUNTS / 2)) + (side === 'buy' ? 1 : 2)

const addressOf = (account: number): Address => `0x${account.toString(16).padStart(40, '7')}`

/** A complete order; its signature has the right length but is not valid. */
export function benchOrder(onGrid: OrderOnGrid): Order {
  const { number, side } = onGrid
  const account = accountOf(onGrid)
  const owner = addressOf(account)
  const subaccountId = BigInt(account)
  const nonce = BigInt(START_MS) * 1_000n + BigInt(number)
  const limitPrice = priceE18(BigInt(onGrid.price) * PRICE_STEP)
  const desiredAmount = amountE18(BigInt(onGrid.lots) * LOT)
  const worstFee = feePerUnitE18(limitPrice / 100n)
  return {
    orderId: orderIdOf(number),
    market: market.market,
    owner,
    subaccountId,
    nonce,
    side,
    desiredAmount,
    initialFilled: amountE18(0n),
    limitPrice,
    worstFee,
    goodUntilSec: FAR_FUTURE_SEC,
    signatureStatus: 'checked',
    signer: owner,
    expirySec: FAR_FUTURE_SEC,
    actionExpirySec: BigInt(FAR_FUTURE_SEC),
    signature: signatureOf(number),
  }
}

/** Levels on each side on which such orders rest. */
const RESTING_LEVELS = 500

/** An order at a price that none of them crosses. */
export function restingOrder(number: number): Order {
  const isBuy = number % 2 === 0
  const away = 1 + (number % RESTING_LEVELS)
  const side = isBuy ? 'buy' : 'sell'
  const price = isBuy ? 6_500 - away : 6_500 + away
  return benchOrder({ number, side, price, lots: 1 + (number % 10) })
}

/** A price and a size in units of a walk; exact for orders of benchOrder and their remaining amounts. */
export const toGrid = (price: PriceE18, amount: AmountE18) => ({
  price: Number(price / PRICE_STEP),
  lots: Number(amount / LOT),
})

/** Has the length of typical client order ids. */
export const orderIdOf = (number: number): string =>
  `7f0c3c1e-5b1d-4f6e-9a51-${String(number).padStart(12, '0')}`

const signatureOf = (number: number): Hex =>
  `0x${number.toString(16).padStart(128, '5a1c')}${number % 2 === 0 ? '1b' : '1c'}`

/** The account facts read at intake: sufficient for all orders of the walk. */
function accountSeen({ owner, subaccountId }: Order): AccountObservation {
  return {
    subaccountId,
    facts: balanceFacts({ base: amountE18(10n ** 15n * E18), quote: quoteE18(10n ** 15n * E18) }),
    custodyOwner: owner,
    leaving: false,
    blockNumber: 30_000_000n,
    blockTimeSec: START_MS / 1_000,
  }
}

/** The command that places the order, as the intake writes it. */
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

/** The command at its position in the log. */
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
