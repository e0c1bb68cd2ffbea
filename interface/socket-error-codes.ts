import type { SocketError } from './socket.js'

/** Codes of `error` frames of the WebSocket: cause and cure. */
export const SOCKET_CODES: Readonly<Record<SocketError['code'], string>> = {
  bad_json: 'The frame is not JSON. | Send one JSON object as a text frame.',
  bad_op: 'The op is unknown, or a field of it is missing. | See /docs/feed for the frames.',
  bad_channel: 'The channel is unknown. | See /docs/feed for the channels.',
  unknown_market: 'The market did not resolve. | Read the identifiers from /v1/markets.',
  auth_required: 'A private channel was asked for before auth. | Send an auth frame first.',
  auth_failed:
    'The frame does not authenticate its address. | Sign the exact text of /v1/venue, with a nonce that was not used and a fresh expiry.',
  session_key_ended:
    'The session key of the auth frame has ended or is none of the address; a socket that it had opened is closed. | Register a key on the matching contract, or sign as the owner; then connect again.',
  resume_too_old:
    'since_seq is older than what is kept; a snapshot follows. | Discard the local state, and build it from the snapshot.',
  stream_reset: 'The subscription ended. | Subscribe again with since_seq.',
  snapshot_failed: 'The snapshot could not be loaded; the subscription ended. | Subscribe again.',
  slow_consumer:
    'The client read too slowly; the connection is closed. | Connect again and resume with since_seq; read faster.',
  lease_failed:
    'The lease could not be set in every market, or the process has too many. | Ask again; nothing is bound to it.',
  lease_ended:
    'The venue could not renew the lease in time; the orders under it are cancelled. | Ask for another one and place them again.',
}
