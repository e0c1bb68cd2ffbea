import type { Hex, Address } from '../action.js'
import { quoteE18, type AmountE18, type PriceE18, type QuoteE18 } from '../money.js'
import type { Side } from './order.js'

/** A proposed match: one maker, one taker, one settlement (SET-001). */
export interface Match {
  /** `<market>:<seq of the counterpart's change>`: unique for ever, sent as Idempotency-Key. */
  readonly settlementId: string
  readonly makerOrderId: string
  readonly takerOrderId: string
  /** The maker's limit price. */
  readonly price: PriceE18
  readonly amount: AmountE18
  /** Taker's total fee in quote; the maker pays none. */
  readonly takerFee: QuoteE18
}

/** One order's leg of a settled match. */
export interface Fill extends Match {
  readonly liquidity: 'maker' | 'taker'
  /** Total fee this order paid, in quote. */
  readonly fee: QuoteE18
  readonly txHash: Hex
  readonly blockNumber: bigint
  /** Number of the trade in its market × 65,536 + the market's ordinal (REA-014); the same on both legs. */
  readonly tradeId: number
  /** Engine side of the taker; the maker's is the opposite. */
  readonly takerSide: Side
  /** The mark at which the chain booked it, where its contract has one and it could be read. */
  readonly markPrice?: PriceE18
}

const NO_FEE = quoteE18(0n)

/** The two legs of a settled match, the maker's first. */
export function fillsOf(match: Match, published: PublishedFill, takerSide: Side): [Fill, Fill] {
  return [
    fillOf(match, published, { takerSide, liquidity: 'maker', fee: NO_FEE }),
    fillOf(match, published, { takerSide, liquidity: 'taker', fee: match.takerFee }),
  ]
}

/** Field by field: spreading three objects takes several times as long. */
function fillOf(
  match: Match,
  published: PublishedFill,
  leg: Pick<Fill, 'takerSide' | 'liquidity' | 'fee'>,
): Fill {
  const fill: { -readonly [Key in keyof Fill]: Fill[Key] } = {
    settlementId: match.settlementId,
    makerOrderId: match.makerOrderId,
    takerOrderId: match.takerOrderId,
    price: match.price,
    amount: match.amount,
    takerFee: match.takerFee,
    txHash: published.txHash,
    blockNumber: published.blockNumber,
    tradeId: published.tradeId,
    takerSide: leg.takerSide,
    liquidity: leg.liquidity,
    fee: leg.fee,
  }
  if (published.markPrice !== undefined) fill.markPrice = published.markPrice
  return fill
}

/** The transaction, block and trade id that the feed published for a settled match. */
export interface PublishedFill {
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly tradeId: number
  readonly markPrice?: PriceE18
}

/** The state of a match for one of its orders. A failed one may still settle, and a settled one be reversed. */
export type FillStatus = 'pending' | 'settled' | 'failed' | 'reversed'

/** One order's leg of a match, from the proposal on. */
export interface LegEvent {
  readonly settlementId: string
  readonly orderId: string
  readonly owner: Address
  /** Absent where the order has ended before the event and its match is not pending. */
  readonly subaccountId: bigint | undefined
  readonly status: FillStatus
  readonly liquidity: 'maker' | 'taker'
  /** Engine side of the order. */
  readonly side: Side
  /** The maker's limit price. */
  readonly price: PriceE18
  readonly amount: AmountE18
  /** What the order pays, in quote. */
  readonly fee: QuoteE18
  /** Market time of the event, unix milliseconds. */
  readonly atMs: number
  /** Of a fill: settled, or reversed since. */
  readonly trade:
    | {
        readonly tradeId: number
        readonly txHash: Hex
        readonly blockNumber: bigint
        readonly markPrice: PriceE18 | undefined
      }
    | undefined
  /** Why it failed or was reversed: the name of the revert. */
  readonly revert: string | undefined
}

export type MatchSide = 'maker' | 'taker'

/** What a reverted match is blamed on: a side, both, or the venue, whose matches the chain refuses whatever the order. */
export type Blame = MatchSide | 'both' | 'venue'
