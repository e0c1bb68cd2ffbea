import {
  decodeKnownOrdersQuestion,
  encodeKnownOrdersAnswer,
} from '../../bus-schemas/settlements.js'
import { askKnownOrders } from '../../bus-schemas/subjects.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'

interface KnownOrdersDeps {
  readonly bus: Bus
  readonly registry: Pick<IntakeRegistry, 'findNonce'>
}

/** Answers the executor which of some signed orders were ever placed here, in any market, also those that have ended. */
export const answerKnownOrders = (
  { bus, registry }: KnownOrdersDeps,
  queue: string,
): Promise<Subscription> =>
  bus.answer(askKnownOrders, queue, (data, replyTo) => {
    const { orders } = decodeKnownOrdersQuestion(data)
    const known = orders.map(({ owner, nonce }) => registry.findNonce(owner, nonce) !== undefined)
    bus.reply(replyTo, encodeKnownOrdersAnswer({ known }))
  })
