import { decodePingAnswer } from '../../bus-schemas/operations.js'
import { askPing, commandsStream } from '../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from './bus.js'

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
