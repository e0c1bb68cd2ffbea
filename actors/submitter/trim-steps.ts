import { BusUnavailable, MessagesGone, StreamMissing } from '../../bus-schemas/bus.js'
import type { Bus } from '../../bus-schemas/bus.js'
import { transfersStream } from '../../bus-schemas/subjects.js'

/** How long the steps of records stay on the bus; the records themselves are kept for ever. */
export const STEPS_KEPT_MS = 7 * 86_400_000
/** Messages read at once while the first one to keep is looked for. */
const STEPS_PER_READ = 256

/**
 * Deletes the steps that are older than a moment, in unix milliseconds; those of either kind, whoever published them.
 * What the bus does not answer, or another submitter has deleted meanwhile, is left to the next call.
 */
export async function trimSteps(
  bus: Pick<Bus, 'streamState' | 'read' | 'trim'>,
  olderThanMs: number,
): Promise<void> {
  try {
    const { firstSeq, lastSeq } = await bus.streamState(transfersStream)
    let kept = firstSeq
    while (kept <= lastSeq) {
      const steps = await bus.read(transfersStream, kept, STEPS_PER_READ)
      const young = steps.find(({ storedAtMs }) => storedAtMs >= olderThanMs)
      kept = young?.seq ?? kept + steps.length
      if (young !== undefined || steps.length === 0) break
    }
    if (kept > firstSeq) await bus.trim(transfersStream, kept)
  } catch (error) {
    if (!isPassing(error)) throw error
  }
}

const isPassing = (error: unknown): boolean =>
  error instanceof BusUnavailable || error instanceof MessagesGone || error instanceof StreamMissing
