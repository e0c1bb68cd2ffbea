import { MessagesGone, StreamRolledBack, WrongLastSequence } from './bus.js'
import type { AppendOptions, BusMessage, FollowOptions, StreamSpec, StreamState } from './bus.js'

/** Message ids remembered for recognising repeats; a server forgets by time, which no rule may rely on either. */
const REMEMBERED_IDS = 10_000

/** One stream of the in-memory bus. */
export interface MemoryStream {
  readonly spec: StreamSpec
  state(): StreamState
  /** Stores, or recognises a repeat, and returns the sequence. Throws WrongLastSequence. */
  store(data: Uint8Array, options: AppendOptions): number
  /** Up to `limit` messages from there on. Throws MessagesGone. */
  read(fromSeq: number, limit: number): BusMessage[]
  /** Deletes everything below the sequence. */
  trim(belowSeq: number): void
  /** Resolves once the stream's last sequence is `seq` or more, or someone woke the waiters. */
  reached(seq: number): Promise<void>
  wake(): void
}

export function createMemoryStream(spec: StreamSpec, nowMs: () => number): MemoryStream {
  let firstSeq = 1
  let messages: BusMessage[] = []
  const seqOfId = new Map<string, number>()
  let waiters: (() => void)[] = []
  const state = (): StreamState => ({ firstSeq, lastSeq: firstSeq + messages.length - 1 })
  const wake = (): void => {
    const woken = waiters
    waiters = []
    for (const resolve of woken) resolve()
  }
  return {
    spec,
    state,
    wake,
    store(data, { expectedLastSeq, messageId }) {
      const { lastSeq } = state()
      if (expectedLastSeq !== undefined && expectedLastSeq !== lastSeq) {
        throw new WrongLastSequence(`${spec.stream} ends at ${lastSeq}, not ${expectedLastSeq}`)
      }
      const known = messageId === undefined ? undefined : seqOfId.get(messageId)
      if (known !== undefined) return known
      const seq = lastSeq + 1
      // A copy: the slice of a Buffer would still be the caller's memory.
      messages.push({ seq, data: new Uint8Array(data), storedAtMs: nowMs() })
      if (messageId !== undefined) remember(seqOfId, messageId, seq)
      wake()
      return seq
    },
    read(fromSeq, limit) {
      if (fromSeq < firstSeq) {
        throw new MessagesGone(`${spec.stream} begins at ${firstSeq}, wanted ${fromSeq}`)
      }
      return messages.slice(fromSeq - firstSeq, fromSeq - firstSeq + limit)
    },
    trim(belowSeq) {
      const dropped = Math.min(Math.max(belowSeq - firstSeq, 0), messages.length)
      messages = messages.slice(dropped)
      firstSeq += dropped
    },
    async reached(seq) {
      if (state().lastSeq >= seq) return
      await new Promise<void>((resolve) => waiters.push(resolve))
    },
  }
}

function remember(seqOfId: Map<string, number>, messageId: string, seq: number): void {
  seqOfId.set(messageId, seq)
  if (seqOfId.size <= REMEMBERED_IDS) return
  for (const oldest of seqOfId.keys()) {
    seqOfId.delete(oldest)
    return
  }
}

/** Feeds one follower until `isOver`; pauses while `isPaused`. Errors end it and go to onError. */
export async function deliver(
  stream: MemoryStream,
  options: FollowOptions,
  gate: { readonly isOver: () => boolean; readonly isPaused: () => boolean },
): Promise<void> {
  let nextSeq = options.fromSeq
  try {
    while (!gate.isOver()) {
      if (gate.isPaused() || stream.state().lastSeq === nextSeq - 1) {
        await stream.reached(gate.isPaused() ? Infinity : nextSeq)
        continue
      }
      const { lastSeq } = stream.state()
      if (lastSeq < nextSeq) {
        throw new StreamRolledBack(`${options.stream} ends at ${lastSeq}, expected ${nextSeq - 1}`)
      }
      const [message] = stream.read(nextSeq, 1)
      if (message === undefined) continue
      nextSeq += 1
      await options.onMessage(message)
    }
  } catch (error) {
    if (!gate.isOver()) options.onError(error instanceof Error ? error : new Error(String(error)))
  }
}
