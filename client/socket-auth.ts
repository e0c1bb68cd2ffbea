import type { SignedFrame } from './sign-frame.js'
import { wordsOf } from './words-of.js'

/** Authenticates each new connection while a private subscription needs it. */
export interface SocketAuth {
  /** A new connection is not authenticated. */
  onOpen(): void
  /** Nor is one that is gone. */
  onLost(): void
  /** Handles the answers to auth frames; false for all other frames. */
  onFrame(frame: AuthAnswer): boolean
  isReady(): boolean
  /** Authenticates this connection, unless it is authenticated or in progress. */
  start(): void
}

export interface AuthAnswer {
  readonly type: string
  readonly req_id?: string
  readonly message?: string
}

export interface SocketAuthParts {
  /** Signs a new frame; undefined when the client has no key. */
  readonly sign: (() => Promise<SignedFrame>) | undefined
  readonly send: (frame: object) => void
  readonly onReady: () => void
  /** The venue or the signer refused MAX_ATTEMPTS times in a row, or the owner has declined to sign. */
  readonly onRefused: (message: string) => void
}

const REQ_ID = 'auth'
const MAX_ATTEMPTS = 3
const RETRY_MS = 500

export function createSocketAuth({ sign, send, onReady, onRefused }: SocketAuthParts): SocketAuth {
  let connection = 0
  let state: 'unknown' | 'asking' | 'ready' = 'unknown'
  let refusals = 0
  /** A prompt that is open in the wallet outlives its connection, and serves the next one. */
  let signing: Promise<SignedFrame> | undefined

  function start(): void {
    if (state !== 'unknown') return
    if (sign === undefined) return onRefused('this client was given no way to authenticate')
    state = 'asking'
    const mine = connection
    signing ??= sign().finally(() => (signing = undefined))
    signing.then(
      (frame) => mine === connection && send({ op: 'auth', ...frame, req_id: REQ_ID }),
      (error: unknown) => {
        if (mine === connection) refused(wordsOf(error), isDeclined(error))
      },
    )
  }

  function refused(message: string, isFinal = false): void {
    state = 'unknown'
    refusals += 1
    if (isFinal || refusals >= MAX_ATTEMPTS) return onRefused(message)
    const mine = connection
    setTimeout(() => mine === connection && start(), RETRY_MS)
  }

  const begin = (): void => {
    connection += 1
    state = 'unknown'
  }

  return {
    onOpen: begin,
    onLost: begin,
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

/** The owner has read the request in the wallet and has rejected it: by EIP-1193, and as ethers says it. */
const REJECTED: readonly unknown[] = [4001, 'ACTION_REJECTED']
/** Errors wrap each other so deep at most. */
const MAX_DEPTH = 8

/** Whether the owner has declined to sign: to ask again would prompt them again. Libraries wrap what the wallet throws. */
function isDeclined(error: unknown, depth = 0): boolean {
  if (typeof error !== 'object' || error === null || depth > MAX_DEPTH) return false
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  return REJECTED.includes(code) || isDeclined(cause, depth + 1)
}
