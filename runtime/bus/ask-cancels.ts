import {
  decodeCancelsAnswer,
  encodeCancelsRequest,
  type CancelsAnswer,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { askCancels } from '../../bus-schemas/subjects.js'
import { NoAnswer, type Bus } from './bus.js'

/** Longest wait for what a market answers to a cancel of many orders. */
export const CANCELS_TIMEOUT_MS = 3_000

/** What a market answers; undefined without an answer in time, which leaves open what was done. */
export async function askOneMarket(
  bus: Pick<Bus, 'ask' | 'isConnected'>,
  request: CancelsRequest,
): Promise<CancelsAnswer | undefined> {
  // The client library would buffer the request and send it long after the answer that invites a retry.
  if (!bus.isConnected()) return undefined
  try {
    const data = await bus.ask(askCancels, encodeCancelsRequest(request), CANCELS_TIMEOUT_MS)
    return decodeCancelsAnswer(data)
  } catch (error) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
