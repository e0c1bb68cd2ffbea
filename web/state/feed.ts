import {
  createSeenSeqs,
  createSocketClient,
  type SocketClient,
  type SocketClientOptions,
} from '../../client/index.js'

/** The connection that everyone's data comes by. */
export interface Feed {
  readonly socket: SocketClient
  /** How it was made, for further connections to the same venue. */
  readonly options: SocketClientOptions & Required<Pick<SocketClientOptions, 'seen'>>
}

/** Pings come so often: a venue that lives is never quiet for long. */
const PING_MS = 2_000

/** Opens it before the page knows the markets, so that it is there when the page does. */
export function openFeed(base: string): Feed {
  const url = new URL('v1/ws', base).href.replace(/^http/, 'ws')
  const timing = { pingEveryMs: PING_MS, maxBackoffMs: 2_000 }
  const options = { url, timing, seen: createSeenSeqs() }
  return { socket: createSocketClient(options), options }
}
