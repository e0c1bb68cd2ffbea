import { encodeOrderAnswer } from '../../bus-schemas/order-requests.js'
import type { CommandAnswer } from '../../core/apply-command.js'
import { refusals, type Refusal } from '../../core/refusals.js'

type RefusedCode = Extract<CommandAnswer, { kind: 'refused' }>['code']

const REFUSAL_OF: Record<RefusedCode, Refusal> = {
  active_order_not_found: refusals.activeOrderNotFound,
  duplicate_order_id: refusals.duplicateOrderId,
  duplicate_nonce: refusals.duplicateNonce,
}

/** The answer of the step in the words of the interface; `feedSeq` is the last seq that the caller may wait for. */
export function encodeAnswer(answer: CommandAnswer, market: string, feedSeq: number): Uint8Array {
  if (answer.kind === 'refused') {
    return encodeOrderAnswer({ kind: 'refused', refusal: REFUSAL_OF[answer.code] })
  }
  return encodeOrderAnswer({
    kind: 'order',
    feed_seq: feedSeq,
    market,
    order: answer.order,
    progress: answer.progress,
  })
}
