import type { Action, Address } from '../core/action.js'
import type { PriceE18, QuoteE18 } from '../core/money.js'
import { address, flag, hex, priceE18, quoteE18, text, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct, union } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** Whether a match may be settled: asked by the executor before it settles one (SET-055, SET-056). */

/** A question on `askSettlement(market)`. */
export interface SettlementQuestion {
  /** The match of the market's log that it is said to be; absent: a match that another matcher has made. */
  readonly settlementId?: string
  /** The taker's, then one for each fill. */
  readonly actions: readonly Action[]
  /** In quote, at 1e18, of all fills together. */
  readonly takerFee: QuoteE18
  readonly fills: readonly AskedFill[]
}

/** `amount` is the chain's word, in units of the market's amount scale. */
export interface AskedFill {
  readonly amount: bigint
  readonly price: PriceE18
}

/**
 * The market's verdict. `left`: a match of another matcher, which the orders of the market have room for, and which the
 * market knows no order for at these places of `actions`. `later`: the market has not come to the match yet.
 */
export type SettlementVerdict =
  | { readonly kind: 'pending' }
  | { readonly kind: 'left'; readonly unknown: readonly number[] }
  | { readonly kind: 'later' }
  /** The field of `POST /execute` that is wrong, and how. */
  | { readonly kind: 'refused'; readonly field: string; readonly message: string }

export const { encode: encodeSettlementQuestion, decode: decodeSettlementQuestion } = message(
  'settlement question',
  since(
    WIRE_VERSION,
    struct<SettlementQuestion>({
      settlementId: optional(text),
      actions: list(
        struct<Action>({
          subaccountId: uint,
          nonce: uint,
          module: address,
          data: hex,
          expiry: uint,
          owner: address,
          signer: address,
        }),
      ),
      takerFee: quoteE18,
      fills: list(struct<AskedFill>({ amount: uint, price: priceE18 })),
    }),
  ),
)

export const { encode: encodeSettlementVerdict, decode: decodeSettlementVerdict } = message(
  'settlement verdict',
  since(
    WIRE_VERSION,
    union<SettlementVerdict>({
      pending: {},
      left: { unknown: list(whole) },
      later: {},
      refused: { field: text, message: text },
    }),
  ),
)

/** A question on `askKnownOrders`: whether orders with these nonces were ever placed here. */
export interface KnownOrdersQuestion {
  readonly orders: readonly SignedOrderName[]
}

/** What names a signed order on the chain. */
export interface SignedOrderName {
  readonly owner: Address
  readonly nonce: bigint
}

/** By position. */
export interface KnownOrdersAnswer {
  readonly known: readonly boolean[]
}

export const { encode: encodeKnownOrdersQuestion, decode: decodeKnownOrdersQuestion } = message(
  'known orders question',
  since(
    WIRE_VERSION,
    struct<KnownOrdersQuestion>({
      orders: list(struct<SignedOrderName>({ owner: address, nonce: uint })),
    }),
  ),
)

export const { encode: encodeKnownOrdersAnswer, decode: decodeKnownOrdersAnswer } = message(
  'known orders answer',
  since(WIRE_VERSION, struct<KnownOrdersAnswer>({ known: list(flag) })),
)
