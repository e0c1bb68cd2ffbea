import {
  AppendUnknown,
  BusMisconfigured,
  MessagesGone,
  StreamRolledBack,
  WrongLastSequence,
  type AppendOptions,
  type BusMessage,
  type ClaimsSpec,
  type FollowOptions,
  type StreamSpec,
  type StreamState,
} from './bus.js'

/** Message ids held to recognise repeats. The server drops them by time; callers rely on neither. */
const REMEMBERED_IDS = 10_000

/** One stream of the in-memory bus. */
export interface MemoryStream {
  spec: StreamSpec
  /** The version recorded for its messages, 0 for none. */
  version: number
  state(): StreamState
  /** Stores the message, or recognises a repeat, and returns its sequence. Throws WrongLastSequence. */
  store(subject: string, data: Uint8Array, options: AppendOptions): number
  /** Up to `limit` messages from there on. Throws MessagesGone. */
  read(fromSeq: number, limit: number): BusMessage[]
  /** Deletes everything below the sequence. */
  trim(belowSeq: number): void
  /** Resolves once the stream's last sequence is `seq` or more, or on `wake`. */
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
    version: 0,
    state,
    wake,
    store(subject, data, { expectedLastSeq, messageId }) {
      const { lastSeq } = state()
      if (expectedLastSeq !== undefined && expectedLastSeq !== lastSeq) {
        throw new WrongLastSequence(`${spec.stream} ends at ${lastSeq}, not ${expectedLastSeq}`)
      }
      const known = messageId === undefined ? undefined : seqOfId.get(messageId)
      if (known !== undefined) return known
      const seq = lastSeq + 1
      // A copy: a slice of a Buffer would share the caller's memory.
      messages.push({ seq, subject, data: new Uint8Array(data), storedAtMs: nowMs() })
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

/** Delivers to one follower until `isOver`; pauses while `isPaused`. An error ends it and goes to onError. */
export async function deliver(
  stream: MemoryStream,
  options: FollowOptions,
  flow: { readonly isOver: () => boolean; readonly isPaused: () => boolean },
): Promise<void> {
  let nextSeq = options.fromSeq
  try {
    while (!flow.isOver()) {
      if (flow.isPaused() || stream.state().lastSeq === nextSeq - 1) {
        await stream.reached(flow.isPaused() ? Infinity : nextSeq)
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
    if (!flow.isOver()) options.onError(error instanceof Error ? error : new Error(String(error)))
  }
}

/** Claims by bucket. */
export type MemoryClaims = Map<string, Bucket>

interface Bucket {
  readonly keepMs: number
  /** When each key was claimed, oldest first. */
  readonly claimedAtMs: Map<string, number>
}

/** Creates the bucket when absent. Throws BusMisconfigured. */
export function declareIn(claims: MemoryClaims, { bucket, keepMs }: ClaimsSpec): void {
  const existing = claims.get(bucket)
  if (existing !== undefined && existing.keepMs !== keepMs) {
    throw new BusMisconfigured(`${bucket} keeps claims for ${existing.keepMs} ms`)
  }
  if (existing === undefined) claims.set(bucket, { keepMs, claimedAtMs: new Map() })
}

/** Whether the key was free. Throws AppendUnknown for an undeclared bucket. */
export function claimIn(
  claims: MemoryClaims,
  { bucket, key, nowMs }: { readonly bucket: string; readonly key: string; readonly nowMs: number },
): boolean {
  const found = claims.get(bucket)
  if (found === undefined) throw new AppendUnknown(`no bucket ${bucket} listens`)
  const { keepMs, claimedAtMs } = found
  for (const [known, atMs] of claimedAtMs) {
    if (nowMs - atMs < keepMs) break
    claimedAtMs.delete(known)
  }
  if (claimedAtMs.has(key)) return false
  claimedAtMs.set(key, nowMs)
  return true
}
