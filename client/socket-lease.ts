import type { LeaseFrame, SocketError } from '../interface/socket.js'
import { platformWebSocket, type WebSocketConstructor } from './reconnecting-socket.js'
import type { SignedFrame } from './sign-frame.js'

/** A socket whose orders end with it: those that are placed with its `leaseId`. */
export interface SocketLease {
  readonly leaseId: string
  /** Resolves when the lease has ended: the socket was closed by either side, or the venue could not renew in time. */
  readonly ended: Promise<void>
  /** Closes the socket, which cancels its orders. */
  close(): void
}

export interface SocketLeaseOptions {
  /** For example `ws://127.0.0.1:8080/v1/ws`. */
  readonly url: string
  /** Of the purpose `socket`. */
  readonly frame: SignedFrame
  /** How long the orders outlive a venue that is down; 10 to 86,400. */
  readonly seconds?: number
  /** Default: the platform's own. */
  readonly WebSocket?: WebSocketConstructor
}

type LeaseReply =
  | LeaseFrame
  | SocketError
  | { readonly type: 'ack' | 'pong'; readonly message?: string; readonly req_id?: string }

/** Opens a socket of its own and asks for its lease. Rejects when the venue refuses, or closes the socket before. */
export function openSocketLease(options: SocketLeaseOptions): Promise<SocketLease> {
  const { url, frame, seconds = 30, WebSocket = platformWebSocket() } = options
  const socket = new WebSocket(url)
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const close = (): void => socket.close(1000)
  return new Promise((resolve, reject) => {
    const take = (answer: LeaseReply): void => {
      if (answer.type === 'error') {
        reject(new Error(`${answer.code}: ${answer.message}`))
        close()
      } else if (answer.type === 'lease' && answer.lease_id !== undefined) {
        resolve({ leaseId: answer.lease_id, ended, close })
      } else if (answer.type === 'ack') {
        socket.send(JSON.stringify({ op: 'cancel_on_disconnect', seconds }))
      }
    }
    socket.onopen = () => socket.send(JSON.stringify({ op: 'auth', ...frame }))
    socket.onmessage = ({ data }: { readonly data: unknown }) =>
      take(JSON.parse(String(data)) as LeaseReply)
    // A close follows each error.
    socket.onerror = () => undefined
    socket.onclose = () => {
      end()
      reject(new Error('the socket was closed'))
    }
  })
}
