import type { ContractWire } from '../core/contracts/contract.js'
import type { Refusal } from '../core/entry/refusals.js'
import type { MarketObservation, AccountObservation } from '../core/model/observation.js'
import type { Order } from '../core/model/order.js'
import { text } from '../core/wire/codec.js'
import { optional, struct, union } from '../core/wire/compound.js'
import { accountObservation, marketObservation, perContract } from './commands.js'
import { message, since, storedText, WIRE_VERSION } from './envelope.js'
import { order, refusal } from './orders.js'

/** What comes back for an order that is only judged: the order as it would be logged, or its refusal. */
export type OrderVerdictReply =
  | {
      readonly kind: 'valid'
      readonly order: Order
      /** What it was judged by, as `judgedFacts` of its market writes it. */
      readonly facts: string
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

export const { encode: encodeOrderVerdict, decode: decodeOrderVerdict } = message(
  'order verdict',
  since(
    WIRE_VERSION,
    union<OrderVerdictReply>({ valid: { order, facts: text }, refused: { refusal } }),
  ),
)

/** What the chain showed of an order's account and market when the order was judged; absent where it was not read. */
export interface JudgedFacts {
  readonly account?: AccountObservation
  readonly observed?: MarketObservation
}

const declare = (wire: ContractWire) =>
  storedText(
    'facts of an order',
    since(
      WIRE_VERSION,
      struct<JudgedFacts>({
        account: optional(accountObservation(wire)),
        observed: optional(marketObservation(wire)),
      }),
    ),
  )

/** The facts as the contract of a market declares them. */
export const judgedFacts = perContract(declare)
