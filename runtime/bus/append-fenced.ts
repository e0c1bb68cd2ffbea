import { setTimeout as delay } from 'node:timers/promises'
import { AppendRefused, AppendUnknown, mayBeReadLater, WrongLastSequence, type Bus } from './bus.js'

export interface FencedAppend {
  readonly bus: Pick<Bus, 'append' | 'lastMessage'>
  readonly stream: string
  readonly subject: string
  /** Called each time the outcome of an append has to be looked up. */
  readonly onUnknown: (error: unknown) => void
  /** Called when the message was sent and is not acknowledged yet. */
  readonly onSent?: () => void
}

/** The stream ends with a message of another writer. */
export class AnotherWriter extends Error {
  override readonly name = 'AnotherWriter'
  constructor(
    stream: string,
    /** The sequence with which the stream ends. */
    readonly endSeq: number,
  ) {
    super(`${stream} ends with message ${endSeq}, which is not ours`)
  }
}

const LOOKUP_PAUSE_MS = 200

/** After these the stream's end shows whether the message was stored, and the append may be repeated. */
const CLEARS_UP = [AppendUnknown, WrongLastSequence, AppendRefused] as const

/**
 * Appends a message right after the stream's message `lastSeq` and returns its sequence once it is durable. When the
 * acknowledgement is lost or the server has no room, the stream itself is asked, for as long as that takes. A stream that
 * ends neither with `lastSeq` nor with this message in the place after it throws AnotherWriter.
 */
export async function appendFenced(
  { bus, stream, subject, onUnknown, onSent }: FencedAppend,
  data: Uint8Array,
  lastSeq: number,
): Promise<number> {
  for (;;) {
    try {
      const appending = bus.append(subject, data, { expectedLastSeq: lastSeq })
      onSent?.()
      return await appending
    } catch (error) {
      if (!CLEARS_UP.some((kind) => error instanceof kind)) throw error
      onUnknown(error)
      const end = await endWhenReadable(bus, stream)
      if (end !== undefined && end.seq !== lastSeq) {
        if (end.seq === lastSeq + 1 && Buffer.from(end.data).equals(data)) return end.seq
        throw new AnotherWriter(stream, end.seq)
      }
      await delay(LOOKUP_PAUSE_MS)
    }
  }
}

async function endWhenReadable(bus: Pick<Bus, 'lastMessage'>, stream: string) {
  try {
    return (await bus.lastMessage(stream)) ?? { seq: 0, data: new Uint8Array() }
  } catch (error) {
    if (!mayBeReadLater(error)) throw error
    // Not readable either: the caller tries the append again, whose fence makes that safe.
    return undefined
  }
}
