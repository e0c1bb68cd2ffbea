import type { Address } from '../core/action.js'
import type { Lease, MassCancel } from '../core/engine/state.js'
import type { Refusal } from '../core/entry/refusals.js'
import type { CancelOutcome } from '../core/model/command-answer.js'
import type { AskedReason, EndReason } from '../core/model/hold.js'
import {
  address,
  always,
  amountE18,
  oneOf,
  text,
  uint,
  whole,
  type Codec,
} from '../core/wire/codec.js'
import { appended, list, optional, struct, union } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'
import { refusal, side } from './orders.js'

/** What is asked of a market: to cancel many orders, or to change a lease. */
export type CancelsKind =
  | 'cancel_all'
  | 'cancel_orders'
  | 'cancel_all_after'
  /** The lease of a socket; only the fan-out asks for these. */
  | 'open_lease'
  | 'renew_lease'
  | 'end_lease'

/**
 * Asked on `ask.order.cancels`, once for each market that is meant: the body is the client's own JSON text, judged by the
 * intake alone.
 */
export interface CancelsRequest {
  readonly request_id: string
  readonly kind: CancelsKind
  readonly market: string
  readonly body: string
  /** The `X-Service-Auth` header as it came. */
  readonly service_auth?: string
  /** Whom the asker has authenticated: the owner of a socket. Then no other proof is asked for. */
  readonly authenticated?: Address
}

export const { encode: encodeCancelsRequest, decode: decodeCancelsRequest } = message(
  'cancels request',
  since(
    WIRE_VERSION,
    struct<CancelsRequest>({
      request_id: text,
      kind: oneOf<CancelsKind>({
        cancel_all: true,
        cancel_orders: true,
        cancel_all_after: true,
        open_lease: true,
        renew_lease: true,
        end_lease: true,
      }),
      market: text,
      body: text,
      service_auth: optional(text),
      authenticated: optional(address),
    }),
  ),
)

/** What one market answers: what became of the orders, when the lease ends now, or a refusal, which changed nothing. */
export type CancelsReply =
  | {
      readonly kind: 'cancels'
      /** Last seq of the block that decided it, as in an order's answer. */
      readonly feed_seq: number
      readonly outcomes: readonly CancelOutcome[]
      readonly left: number
    }
  /** `ends_at_ms` is 0 when there is no lease any more. */
  | { readonly kind: 'lease'; readonly ends_at_ms: number }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

const amounts = { orderId: text, nonce: uint, filled: amountE18, pending: amountE18 }

const outcome = union<CancelOutcome>({
  cancelled: amounts,
  settling: amounts,
  not_cancelled: {
    orderId: text,
    code: oneOf<Extract<CancelOutcome, { kind: 'not_cancelled' }>['code']>({
      active_order_not_found: true,
      order_of_another_owner: true,
    }),
  },
})

/** A refusal has the form that it has in the answer to an order. */
export const { encode: encodeCancelsAnswer, decode: decodeCancelsAnswer } = message(
  'cancels answer',
  since(
    WIRE_VERSION,
    union<CancelsReply>({
      cancels: { feed_seq: whole, outcomes: list(outcome), left: whole },
      lease: { ends_at_ms: whole },
      refused: { refusal },
    }),
  ),
)

/** The venue's own reasons and those that clients give are one text. */
export const endReason: Codec<EndReason> = {
  ...text,
  read: (json, field) => text.read(json, field) as AskedReason,
}

/** A lease as checkpoints keep it. */
export const lease = struct<Lease>({
  owner: address,
  leaseId: optional(text),
  endsAtMs: whole,
  awaitsTime: appended(always),
})

/** A cancel of many orders that is not finished, as checkpoints keep it. */
export const massCancel = struct<MassCancel>({
  owner: address,
  side: optional(side),
  subaccountId: optional(uint),
  leaseId: optional(text),
  upToRank: whole,
  reason: endReason,
  signer: appended(address),
})
