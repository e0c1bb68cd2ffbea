import fc from 'fast-check'
import {
  decodeCancelsAnswer,
  decodeCancelsRequest,
  encodeCancelsAnswer,
  encodeCancelsRequest,
  type CancelsReply,
  type CancelsKind,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import type { Refusal } from '../../core/entry/refusals.js'
import type { CancelOutcome } from '../../core/model/command-answer.js'
import { amountE18 } from '../../core/money.js'
import { anyText } from './arbitraries.js'

export const anyCancelsRequest = fc.record(
  {
    request_id: anyText,
    kind: fc.constantFrom<CancelsKind[]>('cancel_all', 'cancel_orders', 'open_lease'),
    market: anyText,
    body: anyText,
    service_auth: anyText,
    authenticated: fc.constant(`0x${'ab'.repeat(20)}` as const),
  },
  { requiredKeys: ['request_id', 'kind', 'market', 'body'] },
) as fc.Arbitrary<CancelsRequest>
const amount = fc.nat().map((units) => amountE18(BigInt(units)))
const ofOrder = {
  orderId: anyText,
  nonce: fc.nat().map(BigInt),
  filled: amount,
  pending: amount,
}
const anyOutcome: fc.Arbitrary<CancelOutcome> = fc.oneof(
  fc.record({ kind: fc.constant('cancelled' as const), ...ofOrder }),
  fc.record({ kind: fc.constant('settling' as const), ...ofOrder }),
  fc.record({
    kind: fc.constant('not_cancelled' as const),
    orderId: anyText,
    code: fc.constantFrom('active_order_not_found' as const, 'order_of_another_owner' as const),
  }),
)
/** Answers, of which some are refused. */
export const cancelsAnswers = (anyRefusal: fc.Arbitrary<Refusal>): fc.Arbitrary<CancelsReply> =>
  fc.oneof(
    fc.record({
      kind: fc.constant('cancels' as const),
      feed_seq: fc.nat(),
      outcomes: fc.array(anyOutcome, { maxLength: 4 }),
      left: fc.nat(),
    }),
    fc.record({ kind: fc.constant('lease' as const), ends_at_ms: fc.nat() }),
    fc.record({ kind: fc.constant('refused' as const), refusal: anyRefusal }),
  )

export const cancelsRequest = { encode: encodeCancelsRequest, decode: decodeCancelsRequest }
export const cancelsAnswer = { encode: encodeCancelsAnswer, decode: decodeCancelsAnswer }
