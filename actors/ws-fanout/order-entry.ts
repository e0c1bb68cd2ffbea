import { randomUUID } from 'node:crypto'
import type { OrderReply } from '../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
} from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { StandingOrder } from '../../core/model/command-answer.js'
import type { Market } from '../../core/model/market.js'
import { refusalBody, refusals, type Refusal } from '../../core/entry/refusals.js'
import { isUndecided } from '../../core/entry/repeated-order.js'
import { mayBeSentAgain, RETRY_AFTER_SEC } from '../../core/entry/sent-again.js'
import { jsonText, parseAddress } from '../../core/json.js'
import type { OrderStand } from '../../core/engine/feed.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import type { RateLimit } from '../../interface/socket-orders.js'
import { askIntake } from '../../runtime/bus/ask-intake.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { admitOrderOf, type OrderRate, type RateLeft } from '../../runtime/process/order-rate.js'
import { cancelAll, type AskedMarkets } from './cancel-all.js'
import type { ClientFrame, OrderOp } from './client-frames.js'
import type { ClientConnection } from './connection.js'
import type { SessionLimits } from './limits.js'
import { authRequired, errorFrame } from './server-frames.js'

export type OrderEntryFrame = Extract<ClientFrame, { readonly op: OrderOp }>
export type CancelAllFrame = Extract<ClientFrame, { readonly op: 'cancel_all' }>

export interface OrderEntryParts {
  readonly connection: ClientConnection
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  /** A market by its canonical name, disabled ones included. */
  readonly marketNamed: (name: string) => Market | undefined
  /** How an order stands by the feed, if that shows it. */
  readonly standOf: (market: string, orderId: string) => OrderStand | undefined
  readonly limits: Pick<SessionLimits, 'maxOrdersInFlight' | 'maxCancelAllsInFlight'>
  /** How many orders an owner may send; undefined: any number. */
  readonly orderRate?: OrderRate | undefined
  readonly log: Logger
}

/** What the intake is asked, and what is answered when it does not answer: as over REST. */
const KINDS = {
  place: { subject: askPlaceOrder, unknown: refusals.outcomeUnknown },
  replace: { subject: askReplaceOrder, unknown: refusals.outcomeUnknown },
  cancel: { subject: askCancelOrder, unknown: refusals.cancelTarget },
  reduce: { subject: askReduceOrder, unknown: refusals.cancelTarget },
} as const satisfies Record<OrderOp, { readonly subject: string; readonly unknown: Refusal }>

/** What counts against the orders of an owner; the others only take away. */
const isPlacement = (op: OrderOp): boolean => op === 'place' || op === 'replace'

/** The requests of one connection. */
export interface OrderEntry {
  enter(frame: OrderEntryFrame): void
  /** Of the owner that the socket has authenticated, if it has. */
  cancelAll(frame: CancelAllFrame, owner: Address | undefined): void
}

/**
 * Takes the orders and cancels of one connection. Each is answered by one `result` frame when it is decided, whatever came
 * before it. Beyond the bound of unanswered ones a request is refused, and nothing of it is sent on.
 */
export function createOrderEntry(parts: OrderEntryParts & AskedMarkets): OrderEntry {
  const { connection, bus, limits, log } = parts
  const admit = createAdmit(parts)
  let inFlight = 0
  let cancelAllsInFlight = 0

  const refuse = (
    frame: OrderEntryFrame | CancelAllFrame,
    requestId: string,
    refusal: Refusal,
    left?: RateLeft,
  ): void => connection.send(refusedFrame(frame, refusal, { requestId, left }))

  async function ask(frame: OrderEntryFrame, requestId: string): Promise<void> {
    const { subject, unknown } = KINDS[frame.op]
    const admitted = admit(frame)
    if ('left' in admitted) return refuse(frame, requestId, refusals.tooManyOrders, admitted.left)
    try {
      const request = { request_id: requestId, body: frame.body }
      const answer = await askIntake(bus, subject, request)
      const left = admitted.end(answer)
      if (answer?.kind === 'order') connection.send(takenFrame(frame, parts, answer, left))
      else refuse(frame, requestId, knownTo(answer, unknown), left)
    } catch (error) {
      admitted.end(undefined)
      log.error({ err: error, request_id: requestId }, 'request failed')
      refuse(frame, requestId, unknown)
    }
  }

  async function askAll(frame: CancelAllFrame, owner: Address, requestId: string): Promise<void> {
    try {
      const answer = await cancelAll(parts, { fields: frame.fields, owner, requestId })
      if (answer === 'unknown_market') {
        const { reqId } = frame
        return connection.send(errorFrame(answer, { reqId }))
      }
      connection.send(
        'refusal' in answer
          ? refusedFrame(frame, answer.refusal, { requestId, beside: answer.beside })
          : JSON.stringify({ ...headOf(frame), status: 200, ...answer }),
      )
    } catch (error) {
      log.error({ err: error, request_id: requestId }, 'request failed')
      refuse(frame, requestId, refusals.cancelTarget)
    }
  }

  /** Takes a request unless too many are under way. */
  function take(
    frame: OrderEntryFrame | CancelAllFrame,
    answer: (requestId: string) => Promise<void>,
  ): void {
    const requestId = randomUUID()
    const ofAll = frame.op === 'cancel_all' ? 1 : 0
    const isFull =
      inFlight >= limits.maxOrdersInFlight ||
      cancelAllsInFlight + ofAll > limits.maxCancelAllsInFlight
    if (isFull) return refuse(frame, requestId, refusals.overloaded)
    inFlight += 1
    cancelAllsInFlight += ofAll
    void answer(requestId).finally(() => {
      inFlight -= 1
      cancelAllsInFlight -= ofAll
    })
  }

  return {
    enter: (frame) => take(frame, (requestId) => ask(frame, requestId)),
    cancelAll(frame, owner) {
      if (owner === undefined) return connection.send(authRequired(frame.op, frame.reqId))
      take(frame, (requestId) => askAll(frame, owner, requestId))
    },
  }
}

const headOf = ({ op, reqId }: OrderEntryFrame | CancelAllFrame) => ({
  type: 'result',
  op,
  req_id: reqId,
})

/** The refusal of an answer. There is no history here: a repeat is refused as one once its market has decided the first. */
function knownTo(
  answer: Extract<OrderReply, { readonly kind: 'refused' }> | undefined,
  unknown: Refusal,
): Refusal {
  return answer === undefined || isUndecided(answer.refusal) ? unknown : answer.refusal
}

/** An order or a cancel that was admitted; `end` is told its answer once, or that there is none. */
interface AdmittedFrame {
  readonly end: (answer: OrderReply | undefined) => RateLeft | undefined
}

const UNCOUNTED: AdmittedFrame = { end: () => undefined }

/** Counts the orders of this connection by their owner. Those that are not answered count as well, for this connection alone. */
function createAdmit({ orderRate }: OrderEntryParts) {
  const unanswered = new Map<Address, number>()
  return ({ op, body }: OrderEntryFrame): AdmittedFrame | { readonly left: RateLeft } => {
    if (orderRate === undefined || !isPlacement(op)) return UNCOUNTED
    const owner = ownerOf(body)
    if (owner === undefined) return UNCOUNTED
    const ahead = unanswered.get(owner) ?? 0
    const admitted = admitOrderOf(orderRate, owner, ahead)
    if ('left' in admitted) return admitted
    unanswered.set(owner, ahead + 1)
    return {
      end(answer) {
        const others = (unanswered.get(owner) ?? 1) - 1
        if (others === 0) unanswered.delete(owner)
        else unanswered.set(owner, others)
        if (answer === undefined) return undefined
        return admitted.answered(answer.kind === 'refused' ? answer.refusal : undefined)
      },
    }
  }
}

const ownerOf = (body: string): Address | undefined =>
  parseAddress((JSON.parse(body) as { readonly owner_address?: unknown } | null)?.owner_address)

const rateFields = ({ limit, remaining, resetSec }: RateLeft): RateLimit => ({
  limit,
  remaining,
  reset_seconds: resetSec,
})

function takenFrame(
  { op, reqId }: OrderEntryFrame,
  { marketNamed, standOf }: Pick<OrderEntryParts, 'marketNamed' | 'standOf'>,
  { market: name, replaced, ...taken }: Extract<OrderReply, { readonly kind: 'order' }>,
  left: RateLeft | undefined,
): string {
  const market = marketNamed(name)
  assert(market !== undefined, `an order of the unlisted market ${name}`)
  const recordOf = ({ order, progress }: StandingOrder): string =>
    orderRecordJson(market, { order, progress, sums: standOf(name, order.orderId)?.sums })
  const other = replaced === undefined ? '' : `,"replaced":${recordOf(replaced)}`
  const rate = left === undefined ? '' : `,"rate_limit":${JSON.stringify(rateFields(left))}`
  const head = `"type":"result","op":"${op}","req_id":${jsonText(reqId)},"status":200`
  return `{${head},"feed_seq":${taken.feed_seq},"order":${recordOf(taken)}${other}${rate}}`
}

interface Refused {
  readonly requestId: string
  readonly left?: RateLeft | undefined
  /** What stands beside the refusal. */
  readonly beside?: object
}

function refusedFrame(
  frame: OrderEntryFrame | CancelAllFrame,
  refusal: Refusal,
  { requestId, left, beside }: Refused,
): string {
  const { status } = refusal
  return JSON.stringify({
    ...headOf(frame),
    status,
    ...refusalBody(refusal, requestId),
    ...(left !== undefined && { rate_limit: rateFields(left) }),
    ...(mayBeSentAgain(refusal) && { retry_after_seconds: RETRY_AFTER_SEC }),
    ...(refusal === refusals.tooManyOrders && { retry_after_seconds: left?.nextSec }),
    ...beside,
  })
}

/**
 * The order that is placed under the lease of its socket, so that it ends with the socket. Orders of another owner, and those that
 * name a lease themselves, stay as they came.
 */
export function underLease(
  frame: OrderEntryFrame,
  owner: Address | undefined,
  leaseId: string | undefined,
): OrderEntryFrame {
  if (owner === undefined || leaseId === undefined || !isPlacement(frame.op)) return frame
  const order: unknown = JSON.parse(frame.body)
  if (typeof order !== 'object' || order === null || 'lease_id' in order) return frame
  const { owner_address: placedFor } = order as { readonly owner_address?: unknown }
  if (typeof placedFor !== 'string' || placedFor.toLowerCase() !== owner) return frame
  return { ...frame, body: JSON.stringify({ ...order, lease_id: leaseId }) }
}
