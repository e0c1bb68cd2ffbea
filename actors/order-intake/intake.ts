import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import { decodeOrderRequest, encodeOrderAnswer } from '../../bus-schemas/order-requests.js'
import type { OrderRequest } from '../../bus-schemas/order-requests.js'
import { InvariantBroken } from '../../core/assert.js'
import { crash } from '../../core/crash-point.js'
import type { Order } from '../../core/order.js'
import { type Refusal, refusals } from '../../core/refusals.js'
import type { LogEntry } from '../../data/intake-registry.js'
import type { Admission } from './admission.js'
import { type CancelOrderDeps, checkCancel } from './cancel-order.js'
import { type CommandLog, LogMismatch, type SubmitOutcome } from './command-log.js'
import type { OrderWatch } from './order-watch.js'
import { type PlaceOrderDeps, checkPlacement, duplicate } from './place-order.js'

/** Most requests in the making at once; beyond it they are refused before anything is looked at. */
export const MAX_IN_FLIGHT = 4_096

export interface IntakeDeps extends PlaceOrderDeps, CancelOrderDeps {
  readonly bus: Pick<Bus, 'reply'>
  readonly registry: PlaceOrderDeps['registry']
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, CommandLog>
  readonly watch: Pick<OrderWatch, 'reserve' | 'recovered'>
  /** Whether new orders find room; always, where nobody watches. */
  readonly admission?: Pick<Admission, 'trouble'>
  readonly log: Logger
}

/** Takes requests as they come from the bus; what enters the log is answered by its market's matcher. */
export interface Intake {
  /** Resolves when the request is refused and answered, or durable in its market's log. */
  place(data: Uint8Array, replyTo: string): Promise<void>
  cancel(data: Uint8Array, replyTo: string): Promise<void>
}

/** Decides what becomes of a request: refused here, or left to the matcher. */
type Decide = (body: unknown, to: Origin, serviceAuth?: string) => Promise<Refusal | undefined>
type Origin = Readonly<Required<Pick<LogEntry, 'replyTo' | 'requestId'>>>

export function createIntake(deps: IntakeDeps): Intake {
  const { log } = deps
  let inFlight = 0

  const handle = async (data: Uint8Array, replyTo: string, { decide, unknown }: Kind) => {
    const answer = (refusal: Refusal): void => {
      deps.bus.reply(replyTo, encodeOrderAnswer({ kind: 'refused', refusal }))
    }
    if (inFlight >= MAX_IN_FLIGHT) return answer(refusals.overloaded)
    crash('intake.before_checks')
    const request = decodeOrderRequest(data)
    inFlight += 1
    try {
      const { request_id, service_auth } = request
      const origin = { replyTo, requestId: request_id }
      const refusal = await decide(parseBody(request), origin, service_auth)
      log.debug({ request_id, code: refusal?.code ?? 'logged' }, 'request decided')
      if (refusal !== undefined) answer(refusal)
    } catch (error) {
      if (error instanceof InvariantBroken || error instanceof LogMismatch) throw error
      log.error({ err: error, request_id: request.request_id }, 'request failed')
      answer(unknown)
    } finally {
      inFlight -= 1
    }
  }

  const place: Kind = { decide: placeDecision(deps), unknown: refusals.outcomeUnknown }
  const cancel: Kind = { decide: cancelDecision(deps), unknown: refusals.cancelTarget }
  return {
    place: (data, replyTo) => handle(data, replyTo, place),
    cancel: (data, replyTo) => handle(data, replyTo, cancel),
  }
}

interface Kind {
  readonly decide: Decide
  /** What is answered when it failed on our side. */
  readonly unknown: Refusal
}

/** Undefined for text that is not JSON, which the checks refuse like any other body that is no object. */
function parseBody({ body }: OrderRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function placeDecision(deps: IntakeDeps): Decide {
  return async (body, origin) => {
    const checking = checkPlacement(deps, body)
    // What is known at once goes into the log in the same turn.
    const checked = checking instanceof Promise ? await checking : checking
    if ('refusal' in checked) return checked.refusal
    const { order, claim, recovered, account } = checked
    if (deps.admission?.trouble(order.market) !== undefined) return refusals.overloaded
    const giveBack = order.signatureStatus === 'checked' ? NOTHING : reserve(deps, order)
    if (giveBack === undefined) return refusals.tooManyUnchecked
    const kind = 'PlaceOrder'
    const command =
      account === undefined ? ({ kind, order } as const) : ({ kind, order, account } as const)
    const { replyTo, requestId } = origin
    let outcome: SubmitOutcome | undefined
    try {
      outcome = await logOf(deps, order.market).submit({ command, claim, replyTo, requestId })
    } finally {
      if (outcome?.kind !== 'logged') giveBack()
    }
    if (outcome.kind === 'busy') return refusals.overloaded
    if (outcome.kind === 'taken') return duplicate(outcome.by, outcome.holder, claim.fingerprint)
    // The matcher's block comes later than the acknowledgement; where it does not, the signature is recovered twice.
    if (recovered) deps.watch.recovered(order.orderId)
    return undefined
  }
}

const NOTHING = (): void => undefined

/** Counts the order before the feed tells of it. */
const reserve = ({ watch }: IntakeDeps, { owner, orderId }: Order) => watch.reserve(owner, orderId)

function cancelDecision(deps: IntakeDeps): Decide {
  return async (body, origin, serviceAuth) => {
    const checking = checkCancel(deps, body, serviceAuth)
    const checked = checking instanceof Promise ? await checking : checking
    if ('refusal' in checked) return checked.refusal
    const { market, command } = checked
    const outcome = await logOf(deps, market).submit({
      command,
      replyTo: origin.replyTo,
      requestId: origin.requestId,
    })
    return outcome.kind === 'busy' ? refusals.overloaded : undefined
  }
}

function logOf({ commandLogs }: IntakeDeps, market: string): CommandLog {
  const commandLog = commandLogs.get(market)
  if (commandLog === undefined) throw new Error(`no command log of market ${market}`)
  return commandLog
}
