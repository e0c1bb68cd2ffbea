import { randomUUID } from 'node:crypto'
import type { OrderAnswer } from '../../bus-schemas/orders.js'
import { askCancelOrder, askPlaceOrder } from '../../bus-schemas/subjects.js'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import { refusalBody, refusals, type Refusal } from '../../core/entry/refusals.js'
import { jsonText } from '../../core/json.js'
import { orderRecordJson } from '../../core/records/order-record.js'
import { askIntake } from '../../runtime/bus/ask-order.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { ClientFrame } from './client-frames.js'
import type { Connection } from './connection.js'
import type { SessionLimits } from './limits.js'

export type OrderFrame = Extract<ClientFrame, { readonly op: 'place' | 'cancel' }>

export interface OrderEntryParts {
  readonly connection: Connection
  readonly bus: Pick<Bus, 'ask' | 'isConnected'>
  /** A market by its canonical name, disabled ones included. */
  readonly marketNamed: (name: string) => Market | undefined
  readonly limits: Pick<SessionLimits, 'maxOrdersInFlight'>
  readonly log: Logger
}

/** What the intake is asked, and what is answered when it does not answer: as over REST. */
const KINDS = {
  place: { subject: askPlaceOrder, unknown: refusals.outcomeUnknown },
  cancel: { subject: askCancelOrder, unknown: refusals.cancelTarget },
} as const

/**
 * Takes the orders and cancels of one connection. Each is answered by one `result` frame when it is decided, whatever came
 * before it. Beyond the bound of unanswered ones a request is refused, and nothing of it is sent on.
 */
export function createOrderEntry(parts: OrderEntryParts): (frame: OrderFrame) => void {
  const { connection, bus, limits, log } = parts
  let inFlight = 0

  const refuse = (frame: OrderFrame, requestId: string, refusal: Refusal): void =>
    connection.send(refusedFrame(frame, refusal, requestId))

  async function ask(frame: OrderFrame, requestId: string): Promise<void> {
    const { subject, unknown } = KINDS[frame.op]
    try {
      const request = { request_id: requestId, body: frame.body }
      const answer = await askIntake(bus, subject, request)
      if (answer?.kind === 'order') connection.send(takenFrame(frame, parts, answer))
      else refuse(frame, requestId, answer?.refusal ?? unknown)
    } catch (error) {
      log.error({ err: error, request_id: requestId }, 'request failed')
      refuse(frame, requestId, unknown)
    }
  }

  return (frame) => {
    const requestId = randomUUID()
    if (inFlight >= limits.maxOrdersInFlight) return refuse(frame, requestId, refusals.overloaded)
    inFlight += 1
    void ask(frame, requestId).finally(() => (inFlight -= 1))
  }
}

function takenFrame(
  { op, reqId }: OrderFrame,
  { marketNamed }: Pick<OrderEntryParts, 'marketNamed'>,
  { market: name, order, progress }: Extract<OrderAnswer, { readonly kind: 'order' }>,
): string {
  const market = marketNamed(name)
  assert(market !== undefined, `an order of the unlisted market ${name}`)
  const record = orderRecordJson(market, order, progress)
  return `{"type":"result","op":"${op}","req_id":${jsonText(reqId)},"status":200,"order":${record}}`
}

function refusedFrame({ op, reqId }: OrderFrame, refusal: Refusal, requestId: string): string {
  const { status } = refusal
  return JSON.stringify({
    ...{ type: 'result', op, req_id: reqId, status },
    ...refusalBody(refusal, requestId),
  })
}

/**
 * The order under the lease of its socket, so that it ends with the socket. Orders of another owner, and those that name a
 * lease themselves, stay as they came.
 */
export function underLease(
  frame: OrderFrame,
  owner: Address | undefined,
  leaseId: string | undefined,
): OrderFrame {
  if (owner === undefined || leaseId === undefined) return frame
  const order: unknown = JSON.parse(frame.body)
  if (typeof order !== 'object' || order === null || 'lease_id' in order) return frame
  const { owner_address: placedFor } = order as { readonly owner_address?: unknown }
  if (typeof placedFor !== 'string' || placedFor.toLowerCase() !== owner) return frame
  return { ...frame, body: JSON.stringify({ ...order, lease_id: leaseId }) }
}
