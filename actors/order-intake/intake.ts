import { commandMessages } from '../../bus-schemas/commands.js'
import {
  decodeOrderRequest,
  encodeOrderAnswer,
  type OrderRequest,
} from '../../bus-schemas/orders.js'
import {
  askCancelOrder,
  askPlaceOrder,
  askValidateOrder,
  commandsStream,
} from '../../bus-schemas/subjects.js'
import { createMarketReader, type MarketReader } from '../../chain/contracts/market-reader.js'
import { createFundsReader, type FundsReader } from '../../chain/contracts/observe-account.js'
import { readWiring } from '../../chain/contracts/wiring.js'
import { checkClock, createHeadReader } from '../../chain/reads/blocks.js'
import { createChainClient, createCircuitBreaker } from '../../chain/reads/client.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { createAccountReader, type AccountReader } from '../../chain/reads/read-account.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import { InvariantBroken } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import type { IndexLagGate } from '../../core/contracts/index-lag.js'
import { crash } from '../../core/crash-point.js'
import type { Command } from '../../core/engine/command.js'
import type { Hex } from '../../core/action.js'
import type { Order } from '../../core/engine/order.js'
import { refusals, type Refusal } from '../../core/entry/refusals.js'
import type { LogEntry, IntakeRegistry } from '../../data/intake-registry.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { LogMissing, openMarketLog } from '../../runtime/bus/market-log.js'
import { createMissingLogs } from '../../runtime/bus/missing-logs.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'
import { answerPing, type Running, type Standing } from '../../runtime/process/process.js'
import type { Admission } from './admission.js'
import { checkCancel, type CancelOrderDeps } from './cancel-order.js'
import {
  LogMismatch,
  type CommandLog,
  type SubmitOutcome,
  createCommandLog,
} from './command-log.js'
import { checkWirings, type ReadWiring } from './check-wiring.js'
import { openIndexGate } from './index-gate.js'
import { createMarketGate, type MarketGate } from './market-gate.js'
import { type OrderWatch, createOrderWatch, digestOfOrder } from './order-watch.js'
import { checkPlacement, type PlaceOrderDeps, type Refused, repeatOf } from './place-order.js'
import { createValidation } from './validate.js'
import { watchSignatures } from './watch-signatures.js'

/** Most requests in flight; beyond it they are refused at once. */
export const MAX_IN_FLIGHT = 4_096

export interface IntakeDeps extends PlaceOrderDeps, CancelOrderDeps {
  readonly bus: Pick<Bus, 'reply'>
  readonly registry: PlaceOrderDeps['registry']
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, CommandLog>
  readonly watch: Pick<OrderWatch, 'reserve' | 'recovered'>
  /** Why a market takes no new order or no cancel. */
  readonly gate: Pick<MarketGate, 'refusalOf' | 'cancelRefusalOf'>
  /** Absent: new orders are always accepted. */
  readonly admission?: Pick<Admission, 'trouble'>
  readonly log: Logger
}

/** Handles requests from the bus. A request that enters the log is answered by its market's matcher. */
export interface Intake {
  /** Resolves when the request is refused and answered, or durable in its market's log. */
  place(data: Uint8Array, replyTo: string): Promise<void>
  cancel(data: Uint8Array, replyTo: string): Promise<void>
}

/** Resolves with a refusal, or with undefined when the request is in the log. */
type Decide = (body: unknown, to: Origin, serviceAuth?: string) => Promise<Refusal | undefined>
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
      answer(failed)
    } finally {
      inFlight -= 1
    }
  }

  const place: Kind = { decide: placeDecision(deps), failed: refusals.outcomeUnknown }
  const cancel: Kind = { decide: cancelDecision(deps), failed: refusals.cancelTarget }
  return {
    place: (data, replyTo) => handle(data, replyTo, place),
    cancel: (data, replyTo) => handle(data, replyTo, cancel),
  }
}

interface Kind {
  readonly decide: Decide
  /** The answer when handling it failed. */
  readonly failed: Refusal
}

/** Undefined for text that is not JSON; the checks refuse it like every other body that is not an object. */
export function parseBody({ body }: OrderRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function placeDecision(deps: IntakeDeps): Decide {
  return async (body, origin) => {
    const checking = checkPlacement(deps, body)
    // Without a question to the chain, the order enters the log in the same turn of the event loop.
    const checked = checking instanceof Promise ? await checking : checking
    if ('refusal' in checked) return passRepeat(deps, checked, origin)
    const { order, claim, recovered, account, keyEndsSec } = checked
    const refusal = deps.gate.refusalOf(order.market)
    if (refusal !== undefined) return refusal
    if (deps.admission?.trouble(order.market) !== undefined) return refusals.overloaded
    const release = order.signatureStatus === 'checked' ? NOTHING : reserve(deps, order)
    if (release === undefined) return refusals.tooManyUnchecked
    const kind = 'PlaceOrder'
    const command =
      account === undefined ? ({ kind, order } as const) : ({ kind, order, account } as const)
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
      return passRepeat(deps, repeatOf(repeated, order.postOnly), origin)
    }
    if (keyEndsSec !== undefined) {
      await logOf(deps, order.market).submit({ command: keyEndOf(order, keyEndsSec) })
    }
    // If the matcher's block came before this line, the signature is recovered once more: harmless.
    if (recovered) deps.watch.recovered(order.orderId)
    return undefined
  }
}

/** Refuses a placement, or asks its market what it answered before. */
async function passRepeat(
  deps: IntakeDeps,
  { refusal, repeat }: Refused,
  { replyTo, requestId }: Origin,
): Promise<Refusal | undefined> {
  if (repeat === undefined) return refusal
  const { market, command } = repeat
  const stopped = deps.gate.cancelRefusalOf(market)
  if (stopped !== undefined) return stopped
  const outcome = await logOf(deps, market).submit({ command, replyTo, requestId })
  return outcome.kind === 'busy' ? refusals.overloaded : undefined
}

const keyEndOf = ({ orderId }: Order, endsSec: number): Command => ({
  kind: 'SessionKeyObserved',
  orderId,
  endsSec,
})

const NOTHING = (): void => undefined

/** Counts the order as unchecked before it appears in the feed. */
const reserve = ({ watch }: IntakeDeps, { market, orderId }: Order) =>
  watch.reserve(market, orderId)

function cancelDecision(deps: IntakeDeps): Decide {
  return async (body, origin, serviceAuth) => {
    const checking = checkCancel(deps, body, serviceAuth)
    const checked = checking instanceof Promise ? await checking : checking
    if ('refusal' in checked) return checked.refusal
    const { market, command } = checked
    const refusal = deps.gate.cancelRefusalOf(market)
    if (refusal !== undefined) return refusal
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

export const PROCESS_NAME = 'order-intake'

export interface OrderIntakeOptions extends Omit<
  IntakeDeps,
  'commandLogs' | 'bus' | 'registry' | 'watch' | 'gate' | 'indexLag'
> {
  readonly bus: Bus
  /** Rows of the market file. */
  readonly markets: readonly Market[]
  /** Reads a row of the market file again; by default the rows that were given. */
  readonly readRow?: (market: string) => Market | undefined
  readonly registry: IntakeRegistry
  /** By default no wiring is compared. */
  readonly readWiring?: ReadWiring
  /** By default there is no gate. */
  readonly indexGate?: IndexLagGate | undefined
  readonly log: Logger
  /** Pause between two rounds of signature checks. Defaults to the chain's block time. */
  readonly recheckEveryMs?: number
  /** The intake cannot go on: a feed cannot be followed, or log and registry contradict each other. */
  readonly onFatal: (error: unknown) => void
}

export interface OrderIntake extends Running {
  /** Takes the orders of one market more. */
  follow(row: Market): Promise<void>
}

/** Time between two blocks of the target chain. */
const BLOCK_TIME_MS = 2_000

/**
 * Publishes what an earlier run left in the outbox, then accepts requests. Stopping accepts nothing new, lets requests in
 * flight reach the log, and leaves bus and registry open.
 */
export async function startOrderIntake(options: OrderIntakeOptions): Promise<OrderIntake> {
  const { bus, registry, log, verifier, recheckEveryMs = BLOCK_TIME_MS } = options
  const commandLogs = new Map<string, CommandLog>()
  const readRow = (name: string) => options.markets.find(({ market }) => market === name)
  const gate = createMarketGate({ readRow, ...options })
  const { markets } = gate
  const { readWiring = () => Promise.resolve(undefined) } = options
  const wirings = checkWirings({ readWiring, gate, log })
  const digestOf = (order: Order): Hex => digestOfOrder(verifier, markets, order)
  const watch = createOrderWatch(digestOf)
  const signatures = watchSignatures({
    ...options,
    recheckEveryMs,
    commandLogs,
    watch,
    digestOf,
    gate,
  })
  const missingLogs = createMissingLogs({ bus, onError: options.onFatal })
  const open = async (row: Market): Promise<void> => {
    const { market, contractType } = row
    const onRaised = (what: string) => log.warn(what)
    await openMarketLog(bus, row, { nowMs: options.nowMs, onRaised })
    const { version } = commandMessages(row)
    await recordVersions(bus, new Map([[commandsStream(market), version]]), onRaised)
    const commandLog = createCommandLog({ ...options, market, contractType })
    await commandLog.recover()
    await wirings.check(row)
    commandLogs.set(market, commandLog)
    await signatures.follow(market)
  }
  const follow = async (row: Market): Promise<void> => {
    const { market } = row
    gate.add(row)
    try {
      await open(row)
    } catch (error) {
      if (!(error instanceof LogMissing)) throw error
      log.error({ err: error, market }, 'the market is stopped, the others go on')
      gate.stop(market, error.message)
      missingLogs.await(market, async () => {
        await open(row)
        gate.release(market)
        log.info({ market }, 'the log is restored, the market goes on')
      })
    }
  }
  for (const row of options.markets) await follow(row)
  const { lag: indexLag, ...indexGate } = await openIndexGate(bus, PROCESS_NAME, options.indexGate)
  const intake = createIntake({ ...options, markets, gate, commandLogs, watch, indexLag })
  const validate = createValidation({ ...options, markets, gate, indexLag })
  // A rejected handler is a broken invariant: left unhandled, it ends the process.
  const subscriptions = await Promise.all([
    bus.answer(askPlaceOrder, PROCESS_NAME, (data, to) => void intake.place(data, to)),
    bus.answer(askCancelOrder, PROCESS_NAME, (data, to) => void intake.cancel(data, to)),
    bus.answer(askValidateOrder, PROCESS_NAME, (data, to) => void validate(data, to)),
    answerPing(bus, PROCESS_NAME, () => standing(options, gate, commandLogs)),
  ])
  log.info({ markets: [...commandLogs.keys()], command_no: registry.lastNo() }, 'taking orders')
  return {
    follow,
    stop: async () => {
      await Promise.all([...subscriptions, indexGate, missingLogs].map((each) => each.stop()))
      await Promise.all([signatures.stop(), wirings.stop()])
      crash('intake.shutdown_mid_drain')
      await Promise.all([...commandLogs.values()].map((commandLog) => commandLog.stop()))
    },
  }
}

function standing(
  { registry, admission }: OrderIntakeOptions,
  gate: MarketGate,
  commandLogs: ReadonlyMap<string, CommandLog>,
): Standing {
  const troubles = [
    ...gate.stopped(),
    ...Array.from(commandLogs.values(), (each) => each.trouble()),
    ...Array.from(commandLogs.keys(), (market) => admission?.trouble(market)),
  ]
  const trouble = troubles.find((each) => each !== undefined)
  return {
    ready: trouble === undefined,
    detail: trouble ?? 'taking orders',
    positions: { command_no: registry.lastNo() },
  }
}

/** The chain clients of order-intake. */
export interface IntakeChain {
  readonly accounts: AccountReader
  readonly funds: FundsReader
  readonly chainMarkets: MarketReader
  readonly readWiring: ReadWiring
  readonly verifier: SignatureVerifier
  /** The signing domain, for the detail of a refusal. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that does not answer is accepted. */
export async function openChain(
  rpcUrl: string,
  deployment: Deployment,
  onWarning: (message: string) => void,
): Promise<IntakeChain> {
  const probe = createChainClient(rpcUrl, 'probe')
  await checkClock({ client: probe, nowMs: Date.now, onWarning })
  const breaker = createCircuitBreaker()
  const judge = createChainClient(rpcUrl, 'judge')
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  const readHead = createHeadReader(probe)
  const reads = createSignatureReads({ judge, probe, breaker, readHead })
  const options = { client: probe, breaker, deployment, readHead, cacheMs: BLOCK_TIME_MS }
  return {
    accounts: createAccountReader(options),
    funds: createFundsReader(options),
    chainMarkets: createMarketReader({ ...options, nowMs: Date.now }),
    readWiring: (market) => readWiring({ client: probe, deployment }, market),
    verifier: createSignatureVerifier({ domain, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
  }
}
