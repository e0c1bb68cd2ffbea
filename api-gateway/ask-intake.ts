import type { Bus } from '../bus-schemas/bus.js'
import { NoAnswer } from '../bus-schemas/bus.js'
import {
  type OrderAnswer,
  type OrderQuestion,
  decodeOrderAnswer,
  encodeOrderRequest,
} from '../bus-schemas/order-requests.js'

/** How long a client waits at most to learn what became of an order (decision B15). */
export const ANSWER_TIMEOUT_MS = 3_000

/**
 * Passes a request to the intake and returns what it or the matcher answered; undefined when nobody did in time, which
 * says nothing about the order. Without a connection nothing is sent: a request that the client library kept for
 * later would be carried out long after its caller was told to try again.
 */
export async function askIntake(
  bus: Pick<Bus, 'ask' | 'isConnected'>,
  subject: string,
  request: OrderQuestion,
): Promise<OrderAnswer | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    return decodeOrderAnswer(await bus.ask(subject, encodeOrderRequest(request), ANSWER_TIMEOUT_MS))
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
