import { randomUUID } from 'node:crypto'
import { decodeOrderRequest, encodeOrderAnswer } from '../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askReduceOrder,
  askReplaceOrder,
  askValidateOrder,
} from '../../bus-schemas/subjects.js'
import type { CacheAnswer } from '../../chain/reads/expiring-cache.js'
import type { Market } from '../../core/model/market.js'
import type { IndexLagLimit } from '../../core/contracts/index-lag.js'
import { crash } from '../../core/crash-point.js'
import type { Command } from '../../core/model/command.js'
import type { Hex } from '../../core/action.js'
import type { Order } from '../../core/model/order.js'
import { changeRefusals } from '../../core/entry/order-refusals.js'
import { type OrRefusal, refusals, type Refusal } from '../../core/entry/refusals.js'
import type { AccountObservation } from '../../core/model/observation.js'
import type { TouchedIds } from '../../core/touched-blocks.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { leadStreamActor, takeNextTerm } from '../../runtime/actor/lead-stream.js'
import type { LeadershipTerm } from '../../runtime/actor/leadership.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import { endSpan } from '../../runtime/process/trace-spans.js'
import { answerPing, type RunningProcess } from '../../runtime/process/process.js'
import type { OrderAdmission } from './admission.js'
import { BLOCK_TIME_MS, checkWirings, takeTouched, type ReadWiring } from './chain-clients.js'
import { checkCancel, type Cancellable, type CancelOrderDeps } from './cancel-order.js'
import { answerCancels } from './cancels.js'
import {
  checkReduction,
  checkReplacement,
  type Reducible,
  type Replacement,
} from './change-order.js'
import {
  type CommandLogWriter,
  CommandUnderivable,
  isFinal,
  type LogEntry,
  type SubmitOutcome,
} from './command-log.js'
import { LogMismatch } from './fold-log.js'
import { answerKnownOrders } from './known-orders.js'
import { createMarketHalts, openIndexLagWatch, type MarketHalts } from './market-halts.js'
import { createMarketLogs } from './market-logs.js'
import { type OrderWatch, createOrderWatch, digestOfOrder } from './order-watch.js'
import {
  checkPlacement,
  repeatOf,
  parseBody,
  type Placeable,
  type PlaceOrderDeps,
  type RefusedPlacement,
} from './place-order.js'
import { standingOf } from './standing.js'
import { createUnderWay, type UnderWay } from './under-way.js'
import { createValidation } from './validate.js'
import { watchSignatures } from './watch-signatures.js'

/** Most requests in flight; beyond it they are refused at once. */
export const MAX_IN_FLIGHT = 4_096

export interface IntakeDeps extends PlaceOrderDeps, CancelOrderDeps {
  readonly bus: Pick<Bus, 'reply'>
  readonly registry: PlaceOrderDeps['registry']
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, CommandLogWriter>
  readonly watch: Pick<OrderWatch, 'reserve' | 'recovered'>
  /** Why a market takes no new order or no cancel. */
  readonly halts: Pick<MarketHalts, 'refusalOf' | 'cancelRefusalOf' | 'stop'>
  readonly underWay: UnderWay
  /** Absent: new orders are always accepted. */
  readonly admission?: Pick<OrderAdmission, 'trouble' | 'listen'>
  readonly log: Logger
}

/** Handles requests from the bus. A request that enters the log is answered by its market's matcher. */
export interface Intake {
  /** Resolves when the request is refused and answered, or durable in its market's log. */
  place(data: Uint8Array, replyTo: string): Promise<void>
  replace(data: Uint8Array, replyTo: string): Promise<void>
  cancel(data: Uint8Array, replyTo: string): Promise<void>
  reduce(data: Uint8Array, replyTo: string): Promise<void>
}

/** Resolves with a refusal, or with undefined when the request is in the log. */
type DecideRequest = (
  body: unknown,
  to: Origin,
  serviceAuth?: string,
) => Promise<Refusal | undefined>
type Origin = Readonly<Required<Pick<LogEntry, 'replyTo' | 'requestId'>>>

export function createIntake(deps: IntakeDeps): Intake {
  const { log } = deps
  let inFlight = 0

  const handle = async (data: Uint8Array, replyTo: string, { decide, failed }: Kind) => {
    const answer = (refusal: Refusal): void => {
      deps.bus.reply(replyTo, encodeOrderAnswer({ kind: 'refused', refusal }))
    }
    if (inFlight >= MAX_IN_FLIGHT) return answer(refusals.overloaded)
    crash('intake.before_checks')
    const request = readQuestion(decodeOrderRequest, data, warnOfUnreadable(log))
    if (request === undefined) return
    inFlight += 1
    try {
      const { request_id, service_auth } = request
      const origin = { replyTo, requestId: request_id }
      endSpan('taken', [origin])
      const refusal = await decide(parseBody(request), origin, service_auth)
      log.debug({ request_id, code: refusal?.code ?? 'logged' }, 'request decided')
      if (refusal !== undefined) answer(refusal)
    } catch (error) {
      if (error instanceof LogMismatch) deps.halts.stop(error.market, error.message)
      else if (isFinal(error)) throw error
      log.error({ err: error, request_id: request.request_id }, 'request failed')
      answer(error instanceof CommandUnderivable ? changeRefusals.commandRefused : failed)
    } finally {
      inFlight -= 1
    }
  }

  const failed = refusals.outcomeUnknown
  const { underWay } = deps
  const place: Kind = {
    decide: underWay.during(placeDecision(deps, (body) => checkPlacement(deps, body))),
    failed,
  }
  const replace: Kind = {
    decide: underWay.during(placeDecision(deps, (body) => checkReplacement(deps, body))),
    failed,
  }
  const cancel: Kind = {
    decide: cancelDecision(deps, (body, auth) => checkCancel(deps, body, auth)),
    failed: refusals.cancelTarget,
  }
  const reduce: Kind = {
    decide: cancelDecision(deps, (body, auth) => checkReduction(deps, body, auth)),
    failed: refusals.cancelTarget,
  }
  return {
    place: (data, replyTo) => handle(data, replyTo, place),
    replace: (data, replyTo) => handle(data, replyTo, replace),
    cancel: (data, replyTo) => handle(data, replyTo, cancel),
    reduce: (data, replyTo) => handle(data, replyTo, reduce),
  }
}

interface Kind {
  readonly decide: DecideRequest
  /** The answer when handling it failed. */
  readonly failed: Refusal
}

/** A placement that passed every check but uniqueness, alone or in the place of another order. */
type PlacementCheck = CacheAnswer<
  (Placeable & Partial<Pick<Replacement, 'replaces'>>) | RefusedPlacement
>

function placeDecision(deps: IntakeDeps, check: (body: unknown) => PlacementCheck): DecideRequest {
  return async (body, origin) => {
    const checking = check(body)
    // Without a question to the chain, the order enters the log in the same turn of the event loop.
    const checked = checking instanceof Promise ? await checking : checking
    endSpan('verified', [origin])
    if ('refusal' in checked) return passRepeat(deps, checked, origin)
    const { order, claim, recovered, account, keyEndsSec, replaces } = checked
    const refusal = deps.halts.refusalOf(order.market)
    if (refusal !== undefined) return refusal
    if (deps.admission?.trouble(order.market) !== undefined) return refusals.overloaded
    // Counted before it appears in the feed.
    const release = order.signatureStatus === 'checked' ? NOTHING : deps.watch.reserve(order)
    if (typeof release !== 'function') return release
    const command = placementOf(order, account, replaces)
    const { replyTo, requestId } = origin
    let outcome: SubmitOutcome | undefined
    try {
      outcome = await logOf(deps, order.market).submit({ command, claim, replyTo, requestId })
    } finally {
      if (outcome?.kind !== 'logged') release()
    }
    if (outcome.kind === 'busy') return refusals.overloaded
    if (outcome.kind === 'taken') {
      const repeated = { ...outcome, fingerprint: claim.fingerprint }
      const byMarket = [order.postOnly, order.signedByCode, replaces]
      const mayBeRefused = byMarket.some((each) => each !== undefined)
      return passRepeat(deps, repeatOf(deps.markets, repeated, mayBeRefused), origin)
    }
    if (keyEndsSec !== undefined) {
      await logOf(deps, order.market).submit({ command: keyEndOf(order, keyEndsSec) })
    }
    if (recovered) deps.watch.recovered(order.market, order.orderId)
    return undefined
  }
}

/** Written out, because spreading costs every order. */
function placementOf(
  order: Order,
  account: AccountObservation | undefined,
  replaces: bigint | undefined,
): Command {
  const kind = 'PlaceOrder'
  if (replaces !== undefined) return { kind, order, ...(account && { account }), replaces }
  return account === undefined ? { kind, order } : { kind, order, account }
}

/** Refuses a placement, or asks its market what it answered before. */
async function passRepeat(
  deps: IntakeDeps,
  { refusal, holder, repeat }: RefusedPlacement,
  { replyTo, requestId }: Origin,
): Promise<Refusal | undefined> {
  if (holder !== undefined) {
    const commandLog = deps.commandLogs.get(holder.market)
    // Until the log holds it, the first placement may still be lost.
    await commandLog?.settled()
    const seq = refusal.existingOrderId === undefined ? undefined : commandLog?.decidedBy(holder)
    return seq === undefined ? refusal : { ...refusal, decided: { market: holder.market, seq } }
  }
  if (repeat === undefined) return refusal
  const { market, command } = repeat
  // The first may be in the log already, so no refusal may say that nothing was placed.
  if (deps.halts.cancelRefusalOf(market) !== undefined) return refusals.outcomeUnknown
  const outcome = await logOf(deps, market).submit({ command, replyTo, requestId })
  return outcome.kind === 'busy' ? refusals.outcomeUnknown : undefined
}

const keyEndOf = ({ orderId }: Order, endsSec: number): Command => ({
  kind: 'SessionKeyObserved',
  orderId,
  endsSec,
})

const NOTHING = (): void => undefined

type CheckCancel = (
  body: unknown,
  serviceAuth: string | undefined,
) => CacheAnswer<OrRefusal<Cancellable | Reducible>>

function cancelDecision(deps: IntakeDeps, check: CheckCancel): DecideRequest {
  return async (body, origin, serviceAuth) => {
    const checking = check(body, serviceAuth)
    const checked = checking instanceof Promise ? await checking : checking
    endSpan('verified', [origin])
    if ('refusal' in checked) return checked.refusal
    const { market, command } = checked
    const refusal = deps.halts.cancelRefusalOf(market)
    if (refusal !== undefined) return refusal
    const outcome = await logOf(deps, market).submit({ command, ...origin })
    return outcome.kind === 'busy' ? refusals.overloaded : undefined
  }
}

function logOf({ commandLogs }: IntakeDeps, market: string): CommandLogWriter {
  const commandLog = commandLogs.get(market)
  if (commandLog === undefined) throw new Error(`no command log of market ${market}`)
  return commandLog
}

export const PROCESS_NAME = 'order-intake'

export interface OrderIntakeOptions extends Omit<
  IntakeDeps,
  'commandLogs' | 'bus' | 'registry' | 'watch' | 'halts' | 'indexLag' | 'underWay'
> {
  readonly bus: Bus
  /** Registered markets. */
  readonly markets: readonly Market[]
  readonly registry: IntakeRegistry
  /** Unique to the process; random by default. */
  readonly id?: string
  /** By default no wiring is compared. */
  readonly readWiring?: ReadWiring
  /** By default there is no limit. */
  readonly indexLimit?: IndexLagLimit | undefined
  /** Takes what the newest blocks touched; absent, no facts are kept for longer than a block's time. */
  readonly touched?: Pick<TouchedIds, 'take'>
  /** Pause between two rounds of signature checks. Defaults to the chain's block time. */
  readonly recheckEveryMs?: number
  /** The intake cannot go on: a feed cannot be followed, or another intake has taken over. */
  readonly onFatal: (error: unknown) => void
}

export interface OrderIntake extends RunningProcess {
  /** Checked commands that wait to be written into each market's log. */
  waiting(): (readonly [market: string, commands: number])[]
  /** Takes the orders of one market more, or the new texts of a known one. */
  follow(row: Market): Promise<void>
}

/**
 * Folds what the logs hold beyond the registry, takes a term and begins it in each, then accepts requests. Stopping accepts nothing new,
 * lets requests in flight reach the log, and leaves bus and registry open. Throws Fenced when another intake leads.
 */
export async function startOrderIntake(options: OrderIntakeOptions): Promise<OrderIntake> {
  const { bus, log, verifier, id = randomUUID(), recheckEveryMs = BLOCK_TIME_MS } = options
  const actor = leadStreamActor({ bus, log, name: PROCESS_NAME, id })
  let lead: LeadershipTerm | undefined
  const halts = createMarketHalts(options)
  const { markets } = halts
  const { readWiring = () => Promise.resolve(undefined) } = options
  const wirings = checkWirings({ readWiring, halts, log, onFatal: options.onFatal })
  const logs = createMarketLogs({
    ...options,
    id,
    halts,
    check: (row) => wirings.check(row),
    takeTerm: async (above) => {
      lead = await takeNextTerm(actor, { above, onFenced: options.onFatal })
      return lead.term
    },
    onOpen: (market) => signatures.follow(market),
  })
  const commandLogs = logs.open
  const digestOf = (order: Order): Hex => digestOfOrder(verifier, markets, order)
  const watch = createOrderWatch(digestOf)
  const signatures = watchSignatures({
    ...options,
    recheckEveryMs,
    commandLogs,
    watch,
    digestOf,
    halts,
  })
  const stopLogs = async (): Promise<void> => {
    await logs.stopLooking()
    await Promise.all([signatures.stop(), wirings.stop()])
    crash('intake.shutdown_mid_drain')
    await logs.stop()
    // Last: a standby takes over when nothing is left to append.
    await lead?.stop()
  }
  const term = await logs.begin(options.markets).catch(async (error: unknown) => {
    await stopLogs()
    throw error
  })
  const { lag: indexLag, ...indexLimit } = await openIndexLagWatch(options, PROCESS_NAME)
  const deps = { ...options, halts, commandLogs, underWay: createUnderWay() }
  const intake = createIntake({ ...deps, markets, watch, indexLag })
  const validate = createValidation({ ...options, markets, halts, indexLag })
  const subscriptions = await Promise.all([
    ...answerRequests(bus, intake),
    answerKnownOrders(options, PROCESS_NAME),
    answerCancels(deps, PROCESS_NAME),
    bus.answer(askValidateOrder, PROCESS_NAME, (data, to) => void validate(data, to)),
    takeTouched(options, PROCESS_NAME, (news) => {
      options.touched?.take(news)
      watch.prioritiseSigners(news.keys ?? [])
    }),
    answerPing(bus, PROCESS_NAME, () => standingOf(options, halts, commandLogs)),
  ])
  options.admission?.listen((market, taken) => commandLogs.get(market)?.heard(taken))
  log.info({ markets: [...commandLogs.keys()], term }, 'taking orders')
  return {
    waiting: () => Array.from(commandLogs, ([market, each]) => [market, each.waiting()] as const),
    follow: (row) => logs.follow(row),
    stop: async () => {
      await Promise.all([...subscriptions, indexLimit].map((each) => each.stop()))
      await stopLogs()
    },
  }
}

/** A rejected handler is a broken invariant: left unhandled, it ends the process. */
const answerRequests = (bus: Bus, intake: Intake) => [
  bus.answer(askPlaceOrder, PROCESS_NAME, (data, to) => void intake.place(data, to)),
  bus.answer(askReplaceOrder, PROCESS_NAME, (data, to) => void intake.replace(data, to)),
  bus.answer(askCancelOrder, PROCESS_NAME, (data, to) => void intake.cancel(data, to)),
  bus.answer(askReduceOrder, PROCESS_NAME, (data, to) => void intake.reduce(data, to)),
]
