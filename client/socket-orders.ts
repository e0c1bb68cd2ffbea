import type { CancelAll, CancelledOrder, CancelsAnswer } from '../interface/cancels.js'
import type { CancelOrder, NewOrder, OrderRecord } from '../interface/order.js'
import type { ReduceOrder, ReplaceAnswer, ReplaceOrder } from '../interface/order-changes.js'
import { isOpenDuplicate, OutcomeUnknown, VenueError, VenueRefused } from './request.js'
import type { SeenSeqs } from './seen-seqs.js'

/** A frame with the outcome of a request, or the error that answers it. */
export interface ResultFrame {
  readonly type: string
  readonly req_id?: string
  readonly status?: number
  readonly order?: OrderRecord
  readonly replaced?: OrderRecord
  readonly feed_seq?: number
  readonly feed_seqs?: Readonly<Record<string, number>>
  readonly orders?: readonly CancelledOrder[]
  readonly left?: number
  readonly code?: string
  readonly error?: string
  readonly message?: string
  readonly retry_after_seconds?: number
}

/** Which orders a cancel of all means: those of a market, a side (the engine's) or a subaccount; absent: of all. */
export type CancelScope = Pick<CancelAll, 'market' | 'side' | 'subaccount_id' | 'reason'>

/** One order of a batch: as it was placed, with the order that it replaced, or why it was not. */
export type BatchResult =
  { readonly order: OrderRecord; readonly replaced?: OrderRecord } | { readonly error: VenueError }

/**
 * Order entry by the socket. Several requests may be under way, 64 by the venue's bound; each resolves when it is decided. All throw
 * VenueRefused, or OutcomeUnknown when there is no connection, when it breaks, when no answer comes in time or the market has not
 * decided: its `retry` says that the same may be sent again.
 */
export interface SocketOrders {
  /**
   * Places a signed order and returns it. Throws OutcomeUnknown also for the repeat of a decided order, which a socket does not
   * show: look it up over REST.
   */
  placeOrder(body: NewOrder): Promise<OrderRecord>
  /** Replaces an active order by a signed one, in one step of the market; where it throws VenueRefused the other order stays. */
  replaceOrder(body: ReplaceOrder): Promise<ReplaceAnswer>
  /** Sends orders and replacements at once, each by itself; never throws, the results have the order of the bodies. */
  placeOrders(bodies: readonly (NewOrder | ReplaceOrder)[]): Promise<BatchResult[]>
  /** Shrinks an active order to `desired_amount` and returns it; the order keeps its place. */
  reduceOrder(body: ReduceOrder): Promise<OrderRecord>
  /** Cancels an active order and returns it. */
  cancelOrder(body: CancelOrder): Promise<OrderRecord>
  /**
   * Cancels all orders of the address that the client authenticates; needs no further signature. After OutcomeUnknown some markets
   * may have done it: ask again.
   */
  cancelAll(scope?: CancelScope): Promise<CancelsAnswer>
}

export interface SocketOrdersParts {
  /** False when there is no connection, and then nothing is sent. */
  readonly send: (frame: object) => boolean
  /** Why an order may not be sent now; undefined when it may. */
  readonly holdBack?: () => string | undefined
  /** Whether the connection is authenticated; begins that when it is not. */
  readonly authenticated?: () => boolean
  readonly timeoutMs?: number | undefined
  readonly seen?: SeenSeqs | undefined
}

export interface PendingOrders {
  /** What a user of the socket sends. */
  readonly entry: SocketOrders
  /** Takes a frame of the venue; true when it is the outcome of a request. */
  onFrame(frame: ResultFrame): boolean
  /** Whether a request waits for the authentication of a connection. */
  isWaiting(): boolean
  /** The connection is authenticated: what waited for that is sent. */
  onReady(): void
  /** It could not be authenticated: what waited for that fails. */
  onRefused(message: string): void
  /** The connection is gone, and with it every answer under way. */
  onLost(): void
}

const TIMEOUT_MS = 10_000
/** Of the requests of this client among those of its subscriptions. */
const PREFIX = 'order-'

type Op = 'place' | 'replace' | 'reduce' | 'cancel' | 'cancel_all'

interface PendingOrder {
  readonly settle: (outcome: ResultFrame | VenueError) => void
  /** Waits for the authentication of the connection. */
  unsent?: object
}

/** Sends requests and hands out their results, each the frame of a result with status 200. */
function createRequests(parts: SocketOrdersParts) {
  const { send, timeoutMs = TIMEOUT_MS } = parts
  const pending = new Map<string, PendingOrder>()
  let sent = 0

  /** Sends it, or says why not; undefined while it is on its way or waits. */
  function sendOne(op: Op, frame: object, one: PendingOrder): OutcomeUnknown | undefined {
    const why = op === 'place' || op === 'replace' ? parts.holdBack?.() : undefined
    if (why !== undefined) return new OutcomeUnknown(why)
    if (op === 'cancel_all') {
      one.unsent = frame
      if (parts.authenticated?.() === false) return undefined
      delete one.unsent
    }
    return send(frame) ? undefined : new OutcomeUnknown('there is no connection')
  }

  const request = (op: Op, fields: object): Promise<ResultFrame> =>
    new Promise((resolve, reject) => {
      sent += 1
      const id = `${PREFIX}${sent}`
      const timer = setTimeout(() => settle(new OutcomeUnknown('no answer in time')), timeoutMs)
      const settle = (outcome: ResultFrame | VenueError): void => {
        clearTimeout(timer)
        pending.delete(id)
        if (outcome instanceof VenueError) reject(outcome)
        else resolve(outcome)
      }
      const one: PendingOrder = { settle }
      pending.set(id, one)
      const failure = sendOne(op, { op, req_id: id, ...fields }, one)
      if (failure !== undefined) settle(failure)
    })
  return { pending, request }
}

export function createPendingOrders(parts: SocketOrdersParts): PendingOrders {
  const { send, seen } = parts
  const { pending, request } = createRequests(parts)
  const settleAll = (
    error: () => VenueError,
    which: (one: PendingOrder) => boolean = () => true,
  ): void => {
    for (const one of [...pending.values()].filter(which)) one.settle(error())
  }

  return {
    entry: createEntry(request),
    onFrame(frame) {
      const known = pending.get(frame.req_id ?? '')
      if (known === undefined) return frame.type === 'result'
      if (frame.order !== undefined) seen?.note(frame.order.market, frame.feed_seq ?? 0)
      for (const [market, seq] of Object.entries(frame.feed_seqs ?? {})) seen?.note(market, seq)
      known.settle(outcomeOf(frame))
      return true
    },
    isWaiting: () => [...pending.values()].some(({ unsent }) => unsent !== undefined),
    onReady() {
      for (const one of pending.values()) {
        if (one.unsent !== undefined) send(one.unsent)
        delete one.unsent
      }
    },
    onRefused: (message) =>
      settleAll(
        () => new VenueRefused(401, 'auth_failed', message, {}),
        ({ unsent }) => unsent !== undefined,
      ),
    onLost: () => settleAll(() => new OutcomeUnknown('the connection is lost')),
  }
}

function createEntry(request: (op: Op, fields: object) => Promise<ResultFrame>): SocketOrders {
  const orderOf = async (op: Op, order: object): Promise<OrderRecord> =>
    (await request(op, { order })).order as OrderRecord

  const replaceOrder = async (order: ReplaceOrder): Promise<ReplaceAnswer> => {
    const answer = await request('replace', { order })
    return { order: answer.order as OrderRecord, replaced: answer.replaced as OrderRecord }
  }

  const placeOne = async (body: NewOrder | ReplaceOrder): Promise<BatchResult> => {
    try {
      if (isReplacement(body)) return await replaceOrder(body)
      return { order: await orderOf('place', body) }
    } catch (error) {
      if (error instanceof VenueError) return { error }
      throw error
    }
  }

  return {
    placeOrder: (body) => orderOf('place', body),
    replaceOrder,
    placeOrders: (bodies) => Promise.all(bodies.map(placeOne)),
    reduceOrder: (body) => orderOf('reduce', body),
    cancelOrder: (body) => orderOf('cancel', body),
    async cancelAll(scope = {}) {
      const { orders = [], left = 0 } = await request('cancel_all', scope)
      return { orders, left }
    },
  }
}

const isReplacement = (body: NewOrder | ReplaceOrder): body is ReplaceOrder =>
  'replaces_nonce' in body || 'replaces_order_id' in body

function outcomeOf(frame: ResultFrame): ResultFrame | VenueError {
  const { type, status = 400, code = 'unknown', error = code, message = error } = frame
  if (type === 'result' && status === 200) return frame
  const { retry_after_seconds: retryAfterSec } = frame
  const refused = new VenueRefused(status, code, message, { ...frame })
  const isOpen = status >= 500 || isOpenDuplicate(refused)
  return isOpen ? new OutcomeUnknown(message, { cause: refused, retryAfterSec, code }) : refused
}
