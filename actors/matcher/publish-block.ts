import { setTimeout as delay } from 'node:timers/promises'
import { AppendUnknown, WrongLastSequence, type Bus } from '../../bus-schemas/bus.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'

/** Another matcher writes this market's feed. Whoever meets this must stop: it is not the writer any more. */
export class Fenced extends Error {
  override readonly name = 'Fenced'
}

export interface PublishOptions {
  readonly bus: Bus
  readonly market: string
  /** Told each time the outcome of an append had to be looked up. */
  readonly onUnknown: (error: unknown) => void
}

const LOOKUP_PAUSE_MS = 200

/**
 * Appends a block right after the feed message `lastSeq` and returns its sequence once it is durable. When the
 * acknowledgement is lost the stream itself is asked, for as long as that takes; a message that is not ours in the
 * place where ours belongs throws Fenced.
 */
export async function publishBlock(
  { bus, market, onUnknown }: PublishOptions,
  data: Uint8Array,
  lastSeq: number,
): Promise<number> {
  for (;;) {
    try {
      return await bus.append(feedSubject(market), data, { expectedLastSeq: lastSeq })
    } catch (error) {
      if (!(error instanceof AppendUnknown || error instanceof WrongLastSequence)) throw error
      onUnknown(error)
      const stored = await readWhenPossible(bus, market)
      if (stored !== undefined && stored.seq > lastSeq) {
        if (stored.seq === lastSeq + 1 && Buffer.from(stored.data).equals(data)) return stored.seq
        throw new Fenced(`feed of ${market} holds message ${stored.seq} of another writer`)
      }
      await delay(LOOKUP_PAUSE_MS)
    }
  }
}

async function readWhenPossible(bus: Bus, market: string) {
  try {
    return await bus.lastMessage(feedStream(market))
  } catch {
    // Not readable either: the caller tries the append again, whose fence makes that safe.
    return undefined
  }
}
