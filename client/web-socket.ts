/** What the client needs of a WebSocket: browsers and Node from 22 on have one, elsewhere a package's fits. */
export interface WebSocketLike {
  readonly readyState: number
  onopen: ((event: never) => void) | null
  onmessage: ((event: never) => void) | null
  onclose: ((event: never) => void) | null
  onerror: ((event: never) => void) | null
  send(data: string): void
  close(code?: number, reason?: string): void
}

export type WebSocketConstructor = new (url: string) => WebSocketLike

export const OPEN = 1

/** The platform's own WebSocket. Throws when there is none. */
export function platformWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { WebSocket?: WebSocketConstructor }
  if (WebSocket === undefined) {
    throw new Error('this platform has no WebSocket: pass one, for example that of the package ws')
  }
  return WebSocket
}
