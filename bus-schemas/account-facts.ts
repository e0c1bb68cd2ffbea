import type { Address } from '../core/action.js'
import type { Side } from '../core/model/order.js'
import type { AmountE18, PriceE18 } from '../core/money.js'
import { address, amountE18, oneOf, priceE18, text, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'
import { side } from './orders.js'

/** What an owner's accounts hold: asked by the gateway, answered by the fan-out. */

/** A question on `askBalances`. */
export interface BalancesQuestion {
  readonly owner: Address
  /** Accounts that the owner names; absent: those that the venue knows to be the owner's. */
  readonly accounts?: readonly bigint[]
  /** What the answer has to include: the change of each market that the asker has shown last. */
  readonly after: readonly ShownSeq[]
}

export interface ShownSeq {
  readonly market: string
  readonly seq: number
}

/**
 * The answer: the body as JSON, or why there is none. `behind`: the fan-out does not show these changes in time.
 * `unreadable`: the chain gave no answer. `not_owned`: an account that the owner names is not theirs.
 */
export interface BalancesAnswer {
  readonly body?: string
  readonly failed?: 'behind' | 'unreadable' | 'not_owned'
}

export const { encode: encodeBalancesQuestion, decode: decodeBalancesQuestion } = message(
  'balances question',
  since(
    WIRE_VERSION,
    struct<BalancesQuestion>({
      owner: address,
      accounts: optional(list(uint)),
      after: list(struct<ShownSeq>({ market: text, seq: whole })),
    }),
  ),
)

export const { encode: encodeBalancesAnswer, decode: decodeBalancesAnswer } = message(
  'balances answer',
  since(
    WIRE_VERSION,
    struct<BalancesAnswer>({
      body: optional(text),
      failed: optional(
        oneOf<NonNullable<BalancesAnswer['failed']>>({
          behind: true,
          unreadable: true,
          not_owned: true,
        }),
      ),
    }),
  ),
)

/** What the fan-out knows of one order besides its record: asked by the gateway to explain the order. */

/** A question on `askOrderFacts`. */
export interface OrderFactsQuestion {
  readonly market: string
  readonly orderId: string
  /** Of the order, as its record says. */
  readonly owner: Address
  /** Present where the owner asks: the answer then has what this account holds. */
  readonly rest?: OrderRest
  /** What the answer has to include: the change of each market that the asker has shown last. */
  readonly after: readonly ShownSeq[]
}

/** What is unmatched of an order, open or held, and the account that it is for. */
interface OrderRest {
  readonly subaccountId: bigint
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
}

/** The answer: `OrderFacts` of core/records as JSON; absent when the fan-out does not show these changes in time. */
export interface OrderFactsAnswer {
  readonly body?: string
}

export const { encode: encodeOrderFactsQuestion, decode: decodeOrderFactsQuestion } = message(
  'order facts question',
  since(
    WIRE_VERSION,
    struct<OrderFactsQuestion>({
      market: text,
      orderId: text,
      owner: address,
      rest: optional(
        struct<OrderRest>({ subaccountId: uint, side, price: priceE18, amount: amountE18 }),
      ),
      after: list(struct<ShownSeq>({ market: text, seq: whole })),
    }),
  ),
)

export const { encode: encodeOrderFactsAnswer, decode: decodeOrderFactsAnswer } = message(
  'order facts answer',
  since(WIRE_VERSION, struct<OrderFactsAnswer>({ body: optional(text) })),
)
