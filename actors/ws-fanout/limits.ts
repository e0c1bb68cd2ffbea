import { SOCKET_BOUNDS } from '../../interface/socket-bounds.js'

/** Limits of one fan-out process: every buffer, map and wait of this room. */

/** Largest client frame; a larger one closes the connection with 1009. */
export const MAX_CLIENT_FRAME_BYTES = SOCKET_BOUNDS.frameBytes
/** Most fragments of one message; each costs memory. */
export const MAX_FRAGMENTS = 64
export const MAX_BUFFERED_CHUNKS = 1024
export const MAX_HEADER_BYTES = 8 * 1024

/** How long a claimed nonce is kept: longer than any frame that holds it can be valid. */
export const KEEP_NONCES_MS = 15 * 60_000

/** Client addresses that have sent auth frames lately; beyond it the one that sent least lately is forgotten. */
export const AUTH_ADDRESSES_MAX = 100_000
/** Most leases of the sockets of one process; each is written into every market's log twice in its time. */
export const MAX_LEASES = 2_000
/** Changes of a market whose frames stay in memory; older ones are read from the stream. */
export const RING_CHANGES = 16_384
/**
 * Changes of a market whose owner links are held, four bytes each. Sets how far back `orders` can be resumed: a day at
 * 190 changes a second.
 */
export const LINKED_CHANGES = 2 ** 24
/** Candles in a snapshot, the newest. */
export const MAX_SNAPSHOT_CANDLES = 200
/** Snapshots of owners' orders kept while nothing changes. */
export const MAX_KEPT_SNAPSHOTS = 256
/** Marks of a market's stream from which a replay can start; their distance grows with the stream. */
export const MAX_MARKS = 4_096
/** Queued changes of one turn of the event loop that are flushed at once. */
export const MAX_TURN_CHANGES = 512
/** Blocks read from the stream at once. */
export const STREAM_PAGE_BLOCKS = 32
/** Size of a replay's page; the next is written when the client has taken it. */
export const REPLAY_PAGE_BYTES = 256 * 1024
/** Concurrent reads of streams; further replays wait. */
export const MAX_STREAM_READS = 8

/** Limits of a connection and of all connections; configurable. */
export interface SessionLimits {
  /** Open connections of this process; further upgrades are refused with 503. */
  readonly maxSockets: number
  /** Open connections of one client address, refused with 429; loopback is exempt. */
  readonly maxSocketsPerAddress: number
  /**
   * Auth frames of one client address at once, and how often one more; loopback is exempt. A valid one, for which anyone can
   * make keys, costs a durable write on the bus.
   */
  readonly authsAtOnce: number
  readonly authEveryMs: number
  /** Time limit for the head of an upgrade request. */
  readonly handshakeWithinMs: number
  /** Messages, pings and pongs of a client within messageWindowMs; one more closes it with 1008. */
  readonly maxMessages: number
  readonly messageWindowMs: number
  /** Unsent live frames allowed for longer than catchUpWithinMs; snapshots and replays do not count. */
  readonly maxWaitingBytes: number
  readonly catchUpWithinMs: number
  /** Unsent live frames allowed at any moment: room for a burst. */
  readonly maxBacklogBytes: number
  /** Unsent snapshots and replays allowed when the client requests another. */
  readonly maxBulkBytes: number
  /** Subscriptions of one connection; one more closes it with 1008. */
  readonly maxSubscriptions: number
  /** Orders and cancels of one connection without an answer; one more is refused. */
  readonly maxOrdersInFlight: number
  /** Of these, cancels of all orders: each writes a command in every market. */
  readonly maxCancelAllsInFlight: number
  /** A larger snapshot is not sent: `snapshot_failed`. */
  readonly maxSnapshotBytes: number
  /** A snapshot of a book with more orders is rendered over several turns of the event loop, so many in each. */
  readonly snapshotOrdersPerTurn: number
  readonly pingEveryMs: number
  readonly pongWithinMs: number
  /** Time limit for a snapshot or a replay's page, plus its size divided by minBytesPerMs. */
  readonly drainWithinMs: number
  readonly minBytesPerMs: number
  /** Time limit for the closing handshake. */
  readonly closeWithinMs: number
  /** The same for a slow consumer, whose unsent frames precede the close frame; with catchUpWithinMs below ten seconds. */
  readonly slowCloseWithinMs: number
}

export const SESSION_LIMITS: SessionLimits = {
  maxSockets: 10_000,
  maxSocketsPerAddress: 20,
  authsAtOnce: 100,
  authEveryMs: 200,
  handshakeWithinMs: 10_000,
  maxMessages: SOCKET_BOUNDS.messages,
  messageWindowMs: SOCKET_BOUNDS.messageWindowSec * 1_000,
  maxWaitingBytes: 1024 * 1024,
  catchUpWithinMs: 2_000,
  maxBacklogBytes: 32 * 1024 * 1024,
  maxBulkBytes: 64 * 1024 * 1024,
  maxSubscriptions: SOCKET_BOUNDS.subscriptions,
  maxOrdersInFlight: SOCKET_BOUNDS.unansweredOrders,
  maxCancelAllsInFlight: 8,
  maxSnapshotBytes: 256 * 1024 * 1024,
  snapshotOrdersPerTurn: 250,
  pingEveryMs: 15_000,
  pongWithinMs: 10_000,
  drainWithinMs: 3_000,
  minBytesPerMs: 100,
  closeWithinMs: 2_000,
  slowCloseWithinMs: 4_000,
}
