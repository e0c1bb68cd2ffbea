/** Bounds of one fan-out process. Every buffer, map and wait in this room has its limit here. */

/** Largest client frame; a larger one closes the connection with 1009. */
export const MAX_CLIENT_FRAME_BYTES = 64 * 1024
/** A message in more pieces than this is an attack on memory, not a message. */
export const MAX_FRAGMENTS = 64
export const MAX_BUFFERED_CHUNKS = 1024
export const MAX_HEADER_BYTES = 8 * 1024
/** Longest `req_id` that is echoed. */
export const MAX_REQ_ID_CHARS = 128

/**
 * How long a used nonce is remembered: longer than any frame that holds it is valid, whatever part of that lies ahead.
 */
export const KEEP_NONCES_MS = 15 * 60_000

/** Changes whose frames stay in memory per market; older ones are read from the stream. */
export const RING_CHANGES = 16_384
/**
 * Changes of a market for which the owner's change before is known, four bytes each: how far back `orders` can be
 * resumed, which is a day at 190 changes a second.
 */
export const LINKED_CHANGES = 2 ** 24
/** Snapshots of owners' orders kept while nothing changes. */
export const MAX_KEPT_SNAPSHOTS = 256
/** Places in a market's stream from which a replay can start; they thin out as the stream grows. */
export const MAX_MARKS = 4_096
/** Frames of one turn of the event loop leave early when they are of so many changes. */
export const MAX_TURN_CHANGES = 512
/** Blocks read from the stream at once. */
export const STREAM_PAGE_BLOCKS = 32
/** Frames of a replay written before the client must have taken them. */
export const REPLAY_PAGE_BYTES = 256 * 1024
/** Reads from the streams at the same time; further replays wait for their turn. */
export const MAX_STREAM_READS = 8

/** What the bounds of a connection, and of all of them, are; a deployment or a test may choose others. */
export interface SessionLimits {
  /** Open connections of this process; further upgrades are answered 503. */
  readonly maxSockets: number
  /** The same of one client address, answered 429; loopback is not counted. */
  readonly maxSocketsPerAddress: number
  /** How long a client may take over the head of its upgrade request. */
  readonly handshakeWithinMs: number
  /** Messages, pings and pongs that a client may send within messageWindowMs; one more closes it with 1008. */
  readonly maxMessages: number
  readonly messageWindowMs: number
  /** Live frames that may wait for a client longer than catchUpWithinMs; snapshots and replays do not count. */
  readonly maxWaitingBytes: number
  readonly catchUpWithinMs: number
  /** Live frames that may wait at all: what a burst may put before a client that reads. */
  readonly maxBacklogBytes: number
  /** Snapshots and replays that may wait for the client when it asks for another. */
  readonly maxBulkBytes: number
  /** Subscriptions of one connection; one more closes it with 1008. */
  readonly maxSubscriptions: number
  /** A larger snapshot is not sent: `snapshot_failed`. */
  readonly maxSnapshotBytes: number
  readonly pingEveryMs: number
  readonly pongWithinMs: number
  /** A client takes a snapshot or a replay's page in this time, plus what minBytesPerMs allows for its size. */
  readonly drainWithinMs: number
  readonly minBytesPerMs: number
  /** How long a client may take over the closing handshake. */
  readonly closeWithinMs: number
}

export const SESSION_LIMITS: SessionLimits = {
  maxSockets: 10_000,
  maxSocketsPerAddress: 20,
  handshakeWithinMs: 10_000,
  maxMessages: 2_000,
  messageWindowMs: 10_000,
  maxWaitingBytes: 1024 * 1024,
  catchUpWithinMs: 2_000,
  maxBacklogBytes: 32 * 1024 * 1024,
  maxBulkBytes: 64 * 1024 * 1024,
  maxSubscriptions: 64,
  maxSnapshotBytes: 256 * 1024 * 1024,
  pingEveryMs: 15_000,
  pongWithinMs: 10_000,
  drainWithinMs: 3_000,
  minBytesPerMs: 100,
  closeWithinMs: 2_000,
}
