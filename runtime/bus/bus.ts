import { CannotStart } from '../../core/cannot-start.js'

/** The interface of the message bus; implemented over NATS JetStream and in memory. */

export interface BusMessage {
  /** Position in the stream, from 1 without gaps. */
  readonly seq: number
  /** Where its writer appended it. */
  readonly subject: string
  readonly data: Uint8Array
  /** When the bus stored it, in unix milliseconds of the server's clock. */
  readonly storedAtMs: number
}

export interface StreamSpec {
  readonly stream: string
  /** What it captures; a stream that captures less is extended. */
  readonly subject: string | readonly string[]
  /** One sentence, shown by the server's tools. */
  readonly description: string
}

/** A set of keys, each of which can be claimed once until the claim expires. */
export interface ClaimsSpec {
  readonly bucket: string
  /** Lifetime of a claim. */
  readonly keepMs: number
  /** One sentence, shown by the server's tools. */
  readonly description: string
}

export interface StreamState {
  /** Oldest retained sequence; lastSeq + 1 when the stream is empty. */
  readonly firstSeq: number
  /** 0 when nothing was ever stored. */
  readonly lastSeq: number
}

/** The stream's last sequence is not the expected one: another writer appended, or our own append did land. */
export class WrongLastSequence extends Error {
  override readonly name = 'WrongLastSequence'
}

/** No acknowledgement: the message may or may not be stored. Read the stream's last message and compare. */
export class AppendUnknown extends Error {
  override readonly name = 'AppendUnknown'
}

/** No answer in time, or no process answers this subject. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** The server refused to store the message; nothing was stored. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused'
}

/** This process's user may not do that on the bus; nothing was done. */
export class NotPermitted extends Error {
  override readonly name = 'NotPermitted'
}

/** The request was not sent or not answered; it changes nothing, so it can be repeated. */
export class BusUnavailable extends Error {
  override readonly name = 'BusUnavailable'
}

/** No stream of that name has been declared. */
export class StreamMissing extends Error {
  override readonly name = 'StreamMissing'
}

/** The configuration of a stream or of the server is not the one that the venue relies on. */
export class BusMisconfigured extends CannotStart {
  override readonly name = 'BusMisconfigured'
}

/** The messages at the requested position have been trimmed. */
export class MessagesGone extends Error {
  override readonly name = 'MessagesGone'
}

/** The stream ends before a position that it once had: it was restored from a backup, or is another stream. */
export class StreamRolledBack extends Error {
  override readonly name = 'StreamRolledBack'
}

export interface Subscription {
  /** No handler call begins after this resolves. */
  stop(): Promise<void>
}

export interface FollowOptions {
  readonly stream: string
  readonly fromSeq: number
  /**
   * Called once for each message, in order of sequence; the next call waits for the returned promise. An error ends the
   * subscription and is passed to onError.
   */
  readonly onMessage: (message: BusMessage) => void | Promise<void>
  /**
   * The subscription ended for good: an error of the handler, MessagesGone, or StreamRolledBack. Called at most once;
   * every other failure is retried for ever.
   */
  readonly onError: (error: Error) => void
}

export interface AppendOptions {
  /** Fence: the append is refused with WrongLastSequence unless the stream's last sequence is this. */
  readonly expectedLastSeq?: number
  /** Repeats with the same id inside the server's window are stored once. An optimisation; do not rely on it. */
  readonly messageId?: string
}

export interface Bus {
  /**
   * Creates the stream when absent, and extends what it captures; throws BusMisconfigured when it exists with another
   * configuration, and NotPermitted when another process keeps it.
   */
  declareStream(spec: StreamSpec): Promise<void>
  /**
   * Resolves with the message's sequence once it is durable; a repeat recognised by its messageId resolves with the
   * sequence of the original. Throws WrongLastSequence, AppendUnknown or AppendRefused. With both options, one server
   * checks the fence first, and the repeat of an append that did land throws WrongLastSequence; a cluster checks the id first.
   */
  append(subject: string, data: Uint8Array, options?: AppendOptions): Promise<number>
  /** Throws StreamMissing, or BusUnavailable when the server does not answer; so do all calls below that name a stream. */
  streamState(stream: string): Promise<StreamState>
  /** The greatest version that was recorded for the stream's messages, 0 while none was. */
  streamVersion(stream: string): Promise<number>
  /** Records a version for the stream's messages; it never becomes smaller. Throws NotPermitted. */
  raiseStreamVersion(stream: string, version: number): Promise<void>
  /** The newest message; undefined when there is none. */
  lastMessage(stream: string): Promise<BusMessage | undefined>
  /** Up to `limit` messages from `fromSeq`, in order, without a gap. Throws MessagesGone when the first is trimmed. */
  read(stream: string, fromSeq: number, limit: number): Promise<BusMessage[]>
  /** Deletes everything below the sequence, which may be at most one past the end. */
  trim(stream: string, belowSeq: number): Promise<void>
  /**
   * Follows a stream from `fromSeq`, through reconnects and server restarts; waits for a stream that does not exist yet.
   * `fromSeq` may be at most one past the end.
   */
  follow(options: FollowOptions): Promise<Subscription>
  /** Creates the bucket when absent; throws BusMisconfigured when it exists with another configuration. */
  declareClaims(spec: ClaimsSpec): Promise<void>
  /**
   * True for the first call with this key, of all processes, until the claim expires. Durable once it resolves. A key is
   * letters, digits, `-` and `_`. Throws AppendUnknown, when the claim may have been made, or AppendRefused.
   */
  claimOnce(bucket: string, key: string): Promise<boolean>
  /** One question, one answer. Throws NoAnswer. */
  ask(subject: string, data: Uint8Array, timeoutMs: number): Promise<Uint8Array>
  /** Answers questions; each question goes to one of the processes with the same queue name. */
  answer(
    subject: string,
    queue: string,
    onAsk: (data: Uint8Array, replyTo: string) => void,
  ): Promise<Subscription>
  /** Sends an answer. Best effort: the asker may be gone. */
  reply(replyTo: string, data: Uint8Array): void
  /** Whether the server is reachable at this moment. */
  isConnected(): boolean
  /** Flushes and closes; later calls throw. */
  close(): Promise<void>
}

/**
 * Whether a read of a stream may succeed later: the server does not answer, or does not know the stream. A server that has just started
 * says so for a moment of streams that it has.
 */
export const mayBeReadLater = (error: unknown): error is BusUnavailable | StreamMissing =>
  error instanceof BusUnavailable || error instanceof StreamMissing

/** The state of a stream; that of an empty one while it does not exist, since its writer has not run yet. Throws BusUnavailable. */
export async function stateOrEmpty(
  bus: Pick<Bus, 'streamState'>,
  stream: string,
): Promise<StreamState> {
  try {
    return await bus.streamState(stream)
  } catch (error) {
    if (error instanceof StreamMissing) return { firstSeq: 1, lastSeq: 0 }
    throw error
  }
}
