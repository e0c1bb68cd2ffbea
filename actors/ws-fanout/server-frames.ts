/** Frames the fan-out sends besides updates: their texts once, and how text becomes bytes on the wire. */

const ERROR_MESSAGES = {
  bad_json: 'invalid frame',
  bad_op: 'unknown op',
  bad_channel: 'unknown channel',
  unknown_market: 'no such market',
  auth_required: 'authenticate before subscribing to orders',
  auth_failed: 'the frame does not authenticate its address',
  resume_too_old: 'snapshot follows',
  stream_reset: 'resubscribe with since_seq',
  snapshot_failed: 'could not load snapshot',
  slow_consumer: 'reconnect and resume with since_seq',
} as const

export type ErrorCode = keyof typeof ERROR_MESSAGES

/** What a reply may add to its fixed fields; absent values are left out. */
export interface ReplyContext {
  readonly reqId?: string | undefined
  readonly channel?: string | undefined
  readonly market?: string | undefined
  readonly field?: string | undefined
  readonly seq?: number | undefined
  /** Replaces an error's usual text. */
  readonly message?: string | undefined
}

/** The error frame of a code. */
export function errorFrame(code: ErrorCode, context: ReplyContext = {}): string {
  const { reqId: req_id, channel, market, field, message = ERROR_MESSAGES[code] } = context
  return JSON.stringify({ type: 'error', code, message, field, channel, market, req_id })
}

/** Acknowledges something that needs no data. */
export function ackFrame(message: string, context: ReplyContext = {}): string {
  const { reqId: req_id, channel, market, seq } = context
  return JSON.stringify({ type: 'ack', channel, market, message, seq, req_id })
}

export function pongFrame(reqId: string | undefined): string {
  return JSON.stringify({ type: 'pong', req_id: reqId })
}

/** A snapshot frame around data that is JSON already, so that it is serialised once for all who ask. */
export function snapshotFrame(
  head: { readonly channel: string; readonly market: string; readonly seq: number },
  data: Buffer,
  reqId: string | undefined,
): Buffer {
  const { channel, market, seq } = head
  const opening = JSON.stringify({ type: 'snapshot', channel, market, seq, req_id: reqId })
  return textFrame(Buffer.concat([Buffer.from(`${opening.slice(0, -1)},"data":`), data, CLOSING]))
}

const CLOSING = Buffer.from('}')
const FINAL_TEXT = 0x81

/**
 * A complete unmasked text message (RFC 6455, 5.2). A server's frames are the same for every client, so they are
 * framed once and written to each socket as they are, many of them in one write.
 */
export function textFrame(payload: string | Buffer): Buffer {
  const length = Buffer.byteLength(payload)
  const start = headerLength(length)
  const frame = Buffer.allocUnsafe(start + length)
  writeHeader(frame, length)
  if (typeof payload === 'string') frame.write(payload, start)
  else payload.copy(frame, start)
  return frame
}

/** Lengths that a header's second byte holds, or that it says the width of. */
const SHORT = 126
const MEDIUM = 65_536

const headerLength = (length: number): number => (length < SHORT ? 2 : length < MEDIUM ? 4 : 10)

function writeHeader(frame: Buffer, length: number): void {
  frame[0] = FINAL_TEXT
  if (length < SHORT) {
    frame[1] = length
  } else if (length < MEDIUM) {
    frame[1] = 126
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = 127
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
}
