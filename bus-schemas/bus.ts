/** What the processes of the venue need of a message bus; implemented over NATS JetStream and in memory. */

export interface BusMessage {
  /** Position in the stream, from 1 without gaps. */
  readonly seq: number
  readonly data: Uint8Array
  /** When the bus stored it, unix milliseconds: a second clock beside the writer's own. */
  readonly storedAtMs: number
}

export interface StreamSpec {
  readonly stream: string
  readonly subject: string
  /** One sentence for whoever inspects the server. */
  readonly description: string
}

/** A set of keys of which each can be claimed once until the claim is forgotten. */
export interface ClaimsSpec {
  readonly bucket: string
  /** How long a claim stands, from when it was made. */
  readonly keepMs: number
  /** One sentence for whoever inspects the server. */
  readonly description: string
}

export interface StreamState {
  /** Oldest retained sequence; lastSeq + 1 when the stream is empty. */
  readonly firstSeq: number
  /** 0 when nothing was ever stored. */
  readonly lastSeq: number
}

/** The stream's last sequence is not the expected one: somebody else wrote, or our own append did land after all. */
export class WrongLastSequence extends Error {
  override readonly name = 'WrongLastSequence'
}

/** No acknowledgement came: the message may or may not be stored. Read the stream's last message and compare. */
export class AppendUnknown extends Error {
  override readonly name = 'AppendUnknown'
}

/** Nobody answered in time, or nobody listens. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** The server answered that it will not store this message; nothing was stored. */
export class AppendRefused extends Error {
  override readonly name = 'AppendRefused'
}

/** The question could not be put, or no answer came; asking again is safe because nothing changes by it. */
export class BusUnavailable extends Error {
  override readonly name = 'BusUnavailable'
}

/** No stream of that name has been declared. */
export class StreamMissing extends Error {
  override readonly name = 'StreamMissing'
}

/** A stream, or the server itself, is not set up as the venue relies on. */
export class BusMisconfigured extends Error {
  override readonly name = 'BusMisconfigured'
}

/** Messages at the wanted position have been trimmed away. */
export class MessagesGone extends Error {
  override readonly name = 'MessagesGone'
}

/** The stream ends before a position that was once reached: it was restored from a backup, or is another stream. */
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
   * Called for each message in sequence order, each exactly once, the next only after the promise resolved; a throw
   * ends the subscription and is given to onError.
   */
  readonly onMessage: (message: BusMessage) => void | Promise<void>
  /**
   * The subscription is over and cannot heal itself: what a handler threw, MessagesGone, or StreamRolledBack. Called
   * once at most; everything else is retried for ever.
   */
  readonly onError: (error: Error) => void
}

export interface AppendOptions {
  /** Fence: the append is refused with WrongLastSequence unless the stream's last sequence is this. */
  readonly expectedLastSeq?: number
  /** Repeats with the same id inside the server's window are stored once. An optimisation, never the safety net. */
  readonly messageId?: string
}

export interface Bus {
  /** Creates the stream when absent; otherwise refuses to go on unless it is configured as we rely on. */
  declareStream(spec: StreamSpec): Promise<void>
  /**
   * Resolves with the message's sequence once it is durable; a repeat that the server recognises by its messageId
   * resolves with the sequence of the original. Throws WrongLastSequence, AppendUnknown or AppendRefused. With both
   * options set, the fence is judged before the id: the repeat of an append that did land throws WrongLastSequence.
   */
  append(subject: string, data: Uint8Array, options?: AppendOptions): Promise<number>
  /** This and the next two throw StreamMissing, or BusUnavailable when the server cannot be asked. */
  streamState(stream: string): Promise<StreamState>
  /** The newest message, undefined when there is none. */
  lastMessage(stream: string): Promise<BusMessage | undefined>
  /** Up to `limit` messages from `fromSeq` on, in order, without a gap. Throws MessagesGone when the first is trimmed. */
  read(stream: string, fromSeq: number, limit: number): Promise<BusMessage[]>
  /** Deletes everything below the sequence, which may be at most one past the end. Throws as the three before. */
  trim(stream: string, belowSeq: number): Promise<void>
  /**
   * Follows a stream from a sequence for ever, through reconnects and server restarts; waits for a stream that does
   * not exist yet. `fromSeq` may be at most one past the end.
   */
  follow(options: FollowOptions): Promise<Subscription>
  /** Creates the bucket when absent; otherwise refuses to go on unless it is configured as we rely on. */
  declareClaims(spec: ClaimsSpec): Promise<void>
  /**
   * Whether the key is claimed by this call: of all processes that ever ask, one gets true until the claim is
   * forgotten. Durable once it resolves. A key is letters, digits, `-` and `_`. Throws AppendUnknown, when the claim may
   * have been made, or AppendRefused.
   */
  claimOnce(bucket: string, key: string): Promise<boolean>
  /** One question, one answer. Throws NoAnswer. */
  ask(subject: string, data: Uint8Array, timeoutMs: number): Promise<Uint8Array>
  /** Answers questions; of all processes with the same queue name one gets each question. */
  answer(
    subject: string,
    queue: string,
    onAsk: (data: Uint8Array, replyTo: string) => void,
  ): Promise<Subscription>
  /** Sends an answer to where a question said. Best effort: the asker may be gone. */
  reply(replyTo: string, data: Uint8Array): void
  /** Whether the server is reachable at this moment. */
  isConnected(): boolean
  /** Flushes and closes; later calls throw. */
  close(): Promise<void>
}
