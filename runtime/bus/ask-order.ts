import {
  decodeOrderAnswer,
  encodeOrderRequest,
  type OrderAnswer,
  type OrderQuestion,
} from '../../bus-schemas/orders.js'
import { NoAnswer, type Bus } from './bus.js'

/** Longest wait for an order's outcome (decision B15). */
export const ANSWER_TIMEOUT_MS = 3_000

/**
 * Passes a request to the intake and returns the answer of the intake or the matcher; undefined without an answer in
 * time, which leaves the order's outcome unknown. Without a bus connection nothing is sent: the client library would
 * buffer the request and send it long after the answer that invites a retry.
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
