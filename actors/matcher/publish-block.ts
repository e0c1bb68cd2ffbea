import { setTimeout as delay } from 'node:timers/promises'
import { AppendRefused, AppendUnknown, WrongLastSequence, type Bus } from '../../bus-schemas/bus.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'

/**
 * Another matcher runs this market, or its feed is not the one that was written. Whoever meets this must stop: it is
 * not the writer any more.
 */
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
 * acknowledgement is lost or the server has no room the stream itself is asked, for as long as that takes; a feed that
 * ends neither with `lastSeq` nor with this block in the place after it throws Fenced.
 */
export async function publishBlock(
  { bus, market, onUnknown }: PublishOptions,
  data: Uint8Array,
  lastSeq: number,
): Promise<number> {
  for (;;) {
    try {
      const appending = bus.append(feedSubject(market), data, { expectedLastSeq: lastSeq })
      crash('matcher.after_publish_before_ack')
      return await appending
    } catch (error) {
      if (!CLEARS_UP.some((kind) => error instanceof kind)) throw error
      onUnknown(error)
      const end = await endWhenReadable(bus, market)
      if (end !== undefined && end.seq !== lastSeq) {
        if (end.seq === lastSeq + 1 && Buffer.from(end.data).equals(data)) return end.seq
        throw new Fenced(`feed of ${market} ends with message ${end.seq}, which is not ours`)
      }
      await delay(LOOKUP_PAUSE_MS)
    }
  }
}

/** After these the stream's end says what happened, and the append may be tried again. */
const CLEARS_UP = [AppendUnknown, WrongLastSequence, AppendRefused] as const

async function endWhenReadable(bus: Bus, market: string) {
  try {
    return (await bus.lastMessage(feedStream(market))) ?? { seq: 0, data: new Uint8Array() }
  } catch {
    // Not readable either: the caller tries the append again, whose fence makes that safe.
    return undefined
  }
}
