/**
 * What cancels an owner's orders when its program is gone, kept up over the connections of one socket: a lease, under which the
 * orders of the socket end with its connection, and a dead man's switch over all orders of the owner.
 */

/** Asks for a lease on each connection: the orders that are placed by it are cancelled when it ends. */
export interface LeaseOptions {
  /** How long the orders outlive a venue that is down; 10 to 86,400, by default 30. */
  readonly seconds?: number
  /** Orders may be placed from now on; again on each further connection, where the orders of the one before are cancelled. */
  onHeld?(leaseId: string): void
  /** The venue could not renew the lease, and its orders are cancelled; another one is asked for. */
  onEnded?(): void
  /** The venue refuses it, for example with `lease_failed`; it is asked again. */
  onRefused?(code: string, message: string): void
}

export interface DeadManOptions {
  /** All orders are cancelled so long after the last renewal; 10 to 86,400. It is renewed three times in that. */
  readonly seconds: number
  /** Only the orders of this market. */
  readonly market?: string
  /** The venue has taken a renewal. */
  onArmed?(endsAt: string): void
  /** It has refused one; the next is sent at its time. */
  onRefused?(code: string, message: string): void
}

/** Keeps the switch from going off until the returned function is called, which disarms it. */
export type DeadMan = (options: DeadManOptions) => () => void

export interface SocketGuards {
  /** The connection is authenticated. */
  onReady(): void
  /** It could not be authenticated. */
  onRefused(message: string): void
  onLost(): void
  /** Takes a frame of the venue; true when it is of a lease. */
  onFrame(frame: GuardFrame): boolean
  /** Whether the connection must be authenticated for it. */
  isNeeded(): boolean
  /** Why no order may be placed now: its lease is not held yet. */
  holdBack(): string | undefined
  deadMan: DeadMan
  close(): void
}

export interface GuardFrame {
  readonly type: string
  readonly req_id?: string
  readonly code?: string
  readonly message?: string
  readonly lease_id?: string
  readonly ends_at?: string
  readonly seconds?: number
}

export interface SocketGuardsParts {
  readonly lease: LeaseOptions | undefined
  readonly send: (frame: object) => void
  /** Whether the connection is authenticated; begins that when it is not. */
  readonly authenticated: () => boolean
}

const LEASE_ID = 'lease'
const DEAD_MAN = 'dead-man-'
const RETRY_MS = 1_000
/** Renewals of a switch in its time. */
const RENEWALS = 3

export function createSocketGuards(parts: SocketGuardsParts): SocketGuards {
  const lease = createHeldLease(parts)
  const switches = createSwitches(parts)
  return {
    onReady() {
      lease.ask()
      switches.renewAll()
    },
    onRefused(message) {
      parts.lease?.onRefused?.('auth_failed', message)
      switches.onRefused(message)
    },
    onLost: () => lease.lose(),
    onFrame: (frame) => switches.onFrame(frame) || lease.onFrame(frame),
    isNeeded: () => parts.lease !== undefined || switches.isAny(),
    holdBack: () =>
      parts.lease === undefined || lease.isHeld()
        ? undefined
        : 'not sent: the lease of this connection is not held yet',
    deadMan: switches.deadMan,
    close() {
      lease.lose()
      switches.close()
    },
  }
}

function createHeldLease({ lease, send, authenticated }: SocketGuardsParts) {
  let leaseId: string | undefined
  let retry: ReturnType<typeof setTimeout> | undefined

  function ask(): void {
    clearTimeout(retry)
    if (lease === undefined || leaseId !== undefined || !authenticated()) return
    const { seconds } = lease
    send({ op: 'cancel_on_disconnect', seconds, req_id: LEASE_ID })
  }
  function onAnswer({ type, lease_id, code = '', message = '' }: GuardFrame): void {
    if (type === 'lease' && lease_id !== undefined) {
      leaseId = lease_id
      lease?.onHeld?.(lease_id)
    } else if (type === 'error') {
      lease?.onRefused?.(code, message)
      clearTimeout(retry)
      retry = setTimeout(ask, RETRY_MS)
    }
  }
  return {
    ask,
    isHeld: () => leaseId !== undefined,
    lose() {
      clearTimeout(retry)
      leaseId = undefined
    },
    onFrame(frame: GuardFrame): boolean {
      const isAnswer = frame.req_id === LEASE_ID
      if (isAnswer) onAnswer(frame)
      else if (frame.code === 'lease_ended') {
        leaseId = undefined
        lease?.onEnded?.()
        ask()
      }
      return isAnswer || frame.code === 'lease_ended'
    },
  }
}

function createSwitches({ send, authenticated }: SocketGuardsParts) {
  const armed = new Map<string, DeadManOptions>()
  const timers = new Map<string, ReturnType<typeof setInterval>>()
  let started = 0

  function renew(id: string): void {
    const options = armed.get(id)
    if (options === undefined || !authenticated()) return
    const { seconds, market } = options
    send({ op: 'cancel_all_after', seconds, market, req_id: id })
  }
  function stop(id: string): void {
    clearInterval(timers.get(id))
    timers.delete(id)
    const options = armed.get(id)
    if (options === undefined) return
    // It stays known until the venue has taken this: a connection that is away disarms when it is back.
    armed.set(id, { ...options, seconds: 0 })
    renew(id)
  }
  const deadMan: DeadMan = (options) => {
    started += 1
    const id = `${DEAD_MAN}${started}`
    armed.set(id, options)
    renew(id)
    const everyMs = (options.seconds * 1_000) / RENEWALS
    timers.set(
      id,
      setInterval(() => renew(id), everyMs),
    )
    return () => stop(id)
  }
  return {
    deadMan,
    isAny: () => armed.size > 0,
    renewAll: () => [...armed.keys()].forEach(renew),
    onRefused(message: string): void {
      for (const options of armed.values()) options.onRefused?.('auth_failed', message)
    },
    onFrame(frame: GuardFrame): boolean {
      const { type, req_id: id = '', seconds, ends_at, code = '', message = '' } = frame
      if (!id.startsWith(DEAD_MAN)) return false
      const options = armed.get(id)
      if (type === 'error') options?.onRefused?.(code, message)
      else if (seconds === 0) armed.delete(id)
      else if (ends_at !== undefined && options?.seconds !== 0) options?.onArmed?.(ends_at)
      return true
    },
    close() {
      for (const timer of timers.values()) clearInterval(timer)
    },
  }
}
