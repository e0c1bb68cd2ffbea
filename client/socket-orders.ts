import type { CancelOrder, NewOrder, OrderRecord } from '../interface/order.js'
import { isOpenDuplicate, OutcomeUnknown, VenueRefused } from './request.js'
import type { SeenSeqs } from './seen-seqs.js'

/** A frame with the outcome of an order or a cancel. */
export interface ResultFrame {
  readonly type: string
  readonly req_id?: string
  readonly status?: number
  readonly order?: OrderRecord
  readonly feed_seq?: number
  readonly code?: string
  readonly error?: string
  readonly message?: string
  readonly retry_after_seconds?: number
}

/** Order entry by the socket. Several requests may be under way; each resolves when it is decided. */
export interface SocketOrders {
  /**
   * Places a signed order and returns it. Throws VenueRefused, or OutcomeUnknown when there is no connection, when it breaks,
   * when no answer comes in time or the market has not decided: the same body may then be sent again, because an order id is
   * accepted once. Also OutcomeUnknown for the repeat of a decided order, which a socket does not show: look it up over REST.
   */
  placeOrder(body: NewOrder): Promise<OrderRecord>
  /** Cancels an active order and returns it. Throws as placeOrder does. */
  cancelOrder(body: CancelOrder): Promise<OrderRecord>
}

export interface SocketOrdersParts {
  /** False when there is no connection, and then nothing is sent. */
  readonly send: (frame: object) => boolean
  readonly timeoutMs?: number | undefined
  readonly seen?: SeenSeqs | undefined
}

export interface PendingOrders extends SocketOrders {
  /** Takes a frame of the venue; true when it is the outcome of a request. */
  onFrame(frame: ResultFrame): boolean
  /** The connection is gone, and with it every answer under way. */
  onLost(): void
}

const TIMEOUT_MS = 10_000
/** Of the requests of this client among those of its subscriptions. */
const PREFIX = 'order-'

interface Pending {
  readonly settle: (outcome: OrderRecord | Error) => void
}

export function createPendingOrders({
  send,
  timeoutMs = TIMEOUT_MS,
  seen,
}: SocketOrdersParts): PendingOrders {
  const pending = new Map<string, Pending>()
  let sent = 0

  const request = (op: 'place' | 'cancel', order: object): Promise<OrderRecord> =>
    new Promise((resolve, reject) => {
      sent += 1
      const id = `${PREFIX}${sent}`
      const timer = setTimeout(() => settle(new OutcomeUnknown('no answer in time')), timeoutMs)
      const settle = (outcome: OrderRecord | Error): void => {
        clearTimeout(timer)
        pending.delete(id)
        if (outcome instanceof Error) reject(outcome)
        else resolve(outcome)
      }
      pending.set(id, { settle })
      if (!send({ op, req_id: id, order })) settle(new OutcomeUnknown('there is no connection'))
    })

  return {
    placeOrder: (body) => request('place', body),
    cancelOrder: (body) => request('cancel', body),
    onFrame(frame) {
      const known = pending.get(frame.req_id ?? '')
      if (known === undefined) return frame.type === 'result'
      if (frame.order !== undefined) seen?.note(frame.order.market, frame.feed_seq ?? 0)
      known.settle(outcomeOf(frame))
      return true
    },
    onLost() {
      for (const { settle } of [...pending.values()]) {
        settle(new OutcomeUnknown('the connection is lost'))
      }
    },
  }
}

function outcomeOf(frame: ResultFrame): OrderRecord | Error {
  const { order, status = 400, code = 'unknown', error = code, message = error } = frame
  if (order !== undefined && status === 200) return order
  const refused = new VenueRefused(status, code, message, { ...frame })
  const isOpen = status >= 500 || isOpenDuplicate(refused)
  if (!isOpen) return refused
  return new OutcomeUnknown(message, { cause: refused, retryAfterSec: frame.retry_after_seconds })
}
