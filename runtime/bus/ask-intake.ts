import {
  decodeCancelsAnswer,
  encodeCancelsRequest,
  type CancelsReply,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { decodePingAnswer } from '../../bus-schemas/operations.js'
import {
  decodeOrderAnswer,
  encodeOrderRequest,
  type OrderReply,
  type OrderQuestion,
} from '../../bus-schemas/orders.js'
import { askCancels, askPing, commandsStream } from '../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from './bus.js'

/** Longest wait for an order's outcome (ORD-004), and for what a market answers to a cancel of many orders. */
export const ANSWER_TIMEOUT_MS = 3_000

type IntakeBus = Pick<Bus, 'ask' | 'isConnected'>

/**
 * Passes a request to the intake and returns the answer of the intake or the matcher; undefined without an answer in
 * time, which leaves the order's outcome unknown.
 */
export async function askIntake(
  bus: IntakeBus,
  subject: string,
  request: OrderQuestion,
): Promise<OrderReply | undefined> {
  const answer = await askInTime(bus, subject, encodeOrderRequest(request))
  return answer && decodeOrderAnswer(answer)
}

/** What a market answers; undefined without an answer in time, which leaves open what was done. */
export async function askOneMarket(
  bus: IntakeBus,
  request: CancelsRequest,
): Promise<CancelsReply | undefined> {
  const answer = await askInTime(bus, askCancels, encodeCancelsRequest(request))
  return answer && decodeCancelsAnswer(answer)
}

/**
 * Undefined without an answer in time. Without a bus connection nothing is sent: the client library would buffer the
 * request and send it long after the answer that invites a retry.
 */
async function askInTime(
  bus: IntakeBus,
  subject: string,
  request: Uint8Array,
): Promise<Uint8Array | undefined> {
  if (!bus.isConnected()) return undefined
  try {
    return await bus.ask(subject, request, ANSWER_TIMEOUT_MS)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}

const PING_TIMEOUT_MS = 1_000

/** The last message of a market's log whose claims the intake has stored; 0 when the intake does not answer. */
export async function claimsStoredTo(bus: Pick<Bus, 'ask'>, market: string): Promise<number> {
  try {
    const answer = await bus.ask(askPing('order-intake'), new Uint8Array(), PING_TIMEOUT_MS)
    return decodePingAnswer(answer).positions[commandsStream(market)] ?? 0
  } catch (error) {
    if (error instanceof NoAnswer) return 0
    throw error
  }
}
