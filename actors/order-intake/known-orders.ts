import {
  decodeKnownOrdersQuestion,
  encodeKnownOrdersAnswer,
} from '../../bus-schemas/settlements.js'
import { askKnownOrders } from '../../bus-schemas/subjects.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import {
  readQuestion,
  warnOfUnreadable,
  type AnswerParts,
} from '../../runtime/bus/read-question.js'

interface KnownOrdersDeps extends AnswerParts {
  readonly registry: Pick<IntakeRegistry, 'findNonce'>
}

/** Answers the executor which of some signed orders were ever placed here, in any market, also those that have ended. */
export const answerKnownOrders = (
  { bus, registry, log }: KnownOrdersDeps,
  queue: string,
): Promise<Subscription> =>
  bus.answer(askKnownOrders, queue, (data, replyTo) => {
    const question = readQuestion(decodeKnownOrdersQuestion, data, warnOfUnreadable(log))
    if (question === undefined) return
    const { orders } = question
    const known = orders.map(({ owner, nonce }) => registry.findNonce(owner, nonce) !== undefined)
    bus.reply(replyTo, encodeKnownOrdersAnswer({ known }))
  })
