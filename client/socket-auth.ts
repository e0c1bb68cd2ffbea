import type { AuthFrameRecord } from './sign-frame.js'

/** Keeps one connection after the other authenticated while somebody needs it. */
export interface SocketAuth {
  /** A new connection knows nobody yet. */
  onOpen(): void
  /** Takes the answers to its own frames; false for all others. */
  onFrame(frame: AuthAnswer): boolean
  isReady(): boolean
  /** Authenticates this connection unless that is done or under way. */
  start(): void
}

export interface AuthAnswer {
  readonly type: string
  readonly req_id?: string
  readonly message?: string
}

export interface SocketAuthParts {
  /** Signs a new frame; undefined when the client has no key. */
  readonly sign: (() => Promise<AuthFrameRecord>) | undefined
  readonly send: (frame: object) => void
  readonly onReady: () => void
  /** The venue or the signer refused so often that it is no accident. */
  readonly onRefused: (message: string) => void
}

const REQ_ID = 'auth'
const MAX_TRIES = 3
const TRY_AGAIN_MS = 500

export function createSocketAuth({ sign, send, onReady, onRefused }: SocketAuthParts): SocketAuth {
  let connection = 0
  let state: 'unknown' | 'asking' | 'ready' = 'unknown'
  let refusals = 0

  function start(): void {
    if (state !== 'unknown') return
    if (sign === undefined) return onRefused('this client was given no way to authenticate')
    state = 'asking'
    const mine = connection
    sign().then(
      (frame) => mine === connection && send({ op: 'auth', ...frame, req_id: REQ_ID }),
      (error: unknown) => mine === connection && refused(String(error)),
    )
  }

  function refused(message: string): void {
    state = 'unknown'
    refusals += 1
    if (refusals >= MAX_TRIES) return onRefused(message)
    const mine = connection
    setTimeout(() => mine === connection && start(), TRY_AGAIN_MS)
  }

  return {
    onOpen() {
      connection += 1
      state = 'unknown'
    },
    onFrame({ type, req_id, message = '' }) {
      if (req_id !== REQ_ID) return false
      if (type === 'error') refused(message)
      if (type === 'ack') {
        state = 'ready'
        refusals = 0
        onReady()
      }
      return true
    },
    isReady: () => state === 'ready',
    start,
  }
}
