import { createHash } from 'node:crypto'
import {
  decodeCancelsRequest,
  encodeCancelsAnswer,
  type CancelsReply,
  type CancelsRequest,
} from '../../bus-schemas/cancels.js'
import { askCancels, cancelProofs } from '../../bus-schemas/subjects.js'
import type { Hex } from '../../core/action.js'
import { cancelsRefusals, optionRefusals } from '../../core/entry/order-refusals.js'
import {
  proofTimeFault,
  readCancelAll,
  readCancelAllAfter,
  readCancelOrders,
  readSocketLease,
  type CancelAllProof,
  type CancelOrdersTerms,
  type CancelsBody,
} from '../../core/entry/read-cancels.js'
import { refusals, type OrRefusal, type Refusal } from '../../core/entry/refusals.js'
import type { Command } from '../../core/model/command.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { AppendRefused, AppendUnknown, BusUnavailable, type Bus } from '../../runtime/bus/bus.js'
import { readQuestion, warnOfUnreadable } from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { judgeSigned, refuseFrame, type CancelProofDeps } from './cancel-order.js'
import { isFinal, type CommandLogWriter } from './command-log.js'
import { LogMismatch } from './fold-log.js'
import { createKnownLeases, type KnownLeases } from './known-leases.js'
import type { MarketHalts } from './market-halts.js'
import type { UnderWay } from './under-way.js'

/** Most requests in flight; beyond it they are refused at once. */
const MAX_IN_FLIGHT = 1_024
/** How long the use of a proof is remembered: longer than one can be valid, with the clocks' difference. */
const KEEP_PROOFS_MS = 5 * 60_000

export interface CancelsDeps extends CancelProofDeps {
  readonly bus: Pick<Bus, 'reply' | 'claimOnce'>
  readonly registry: Pick<IntakeRegistry, 'findOrder' | 'hasOrderOf'>
  /** By market. */
  readonly commandLogs: ReadonlyMap<string, Pick<CommandLogWriter, 'submit'>>
  readonly halts: Pick<MarketHalts, 'cancelRefusalOf' | 'stop'>
  readonly underWay: Pick<UnderWay, 'waitForId'>
  readonly log: Logger
}

/** Declares the bucket of used proofs and answers requests. Throws BusMisconfigured or BusUnavailable. */
export async function answerCancels(
  deps: CancelsDeps & { readonly bus: Bus },
  queue: string,
): Promise<RunningProcess> {
  await deps.bus.declareClaims({
    bucket: cancelProofs,
    keepMs: KEEP_PROOFS_MS,
    description: 'Digests of the signed cancels of many orders that were used',
  })
  const handle = createCancels(deps)
  // A rejected handler is a broken invariant: left unhandled, it ends the process.
  return deps.bus.answer(askCancels, queue, (data, to) => void handle(data, to))
}

/** What a request comes to: a command for the market's log, or an answer without one. */
type CancelDecision = { readonly command: Command } | { readonly answer: CancelsReply }

const NOTHING: CancelDecision = { answer: { kind: 'cancels', feed_seq: 0, outcomes: [], left: 0 } }

/**
 * Handles cancels of many orders and leases, one market in each request. What enters the log is answered by the market's
 * matcher. Every request proves its owner, also where the single cancel of an order needs no proof.
 */
export function createCancels(
  deps: CancelsDeps,
): (data: Uint8Array, replyTo: string) => Promise<void> {
  const leases = createKnownLeases(deps.nowMs)
  let inFlight = 0
  return async (data, replyTo) => {
    const answer = (given: CancelsReply): void => {
      deps.bus.reply(replyTo, encodeCancelsAnswer(given))
    }
    const refuse = (refusal: Refusal): void => answer({ kind: 'refused', refusal })
    if (inFlight >= MAX_IN_FLIGHT) return refuse(refusals.overloaded)
    const request = readQuestion(decodeCancelsRequest, data, warnOfUnreadable(deps.log))
    if (request === undefined) return
    inFlight += 1
    try {
      const decided = await decide(deps, leases, request)
      if ('refusal' in decided) return refuse(decided.refusal)
      if ('answer' in decided) return answer(decided.answer)
      const refusal = await submit(deps, leases, { request, replyTo, command: decided.command })
      if (refusal !== undefined) refuse(refusal)
    } catch (error) {
      if (error instanceof LogMismatch) deps.halts.stop(error.market, error.message)
      else if (isFinal(error)) throw error
      deps.log.error({ err: error, request_id: request.request_id }, 'request failed')
      refuse(refusals.cancelTarget)
    } finally {
      inFlight -= 1
    }
  }
}

interface CancelSubmission {
  readonly request: CancelsRequest
  readonly replyTo: string
  readonly command: Command
}

async function submit(
  { commandLogs }: CancelsDeps,
  leases: KnownLeases,
  { request: { market, request_id: requestId }, replyTo, command }: CancelSubmission,
): Promise<Refusal | undefined> {
  const commandLog = commandLogs.get(market)
  if (commandLog === undefined) throw new Error(`no command log of market ${market}`)
  const outcome = await commandLog.submit({ command, replyTo, requestId })
  if (outcome.kind === 'busy') return refusals.overloaded
  leases.logged(market, command)
  return undefined
}

async function decide(
  deps: CancelsDeps,
  leases: KnownLeases,
  request: CancelsRequest,
): Promise<OrRefusal<CancelDecision>> {
  const read = readRequest(deps, request)
  if ('refusal' in read) return read
  const { body, toDecision } = read
  const proven = await prove(deps, request, body)
  if (proven !== undefined && 'refusal' in proven) return proven
  const stopped = deps.halts.cancelRefusalOf(request.market)
  if (stopped !== undefined) return { refusal: stopped }
  // Also where nothing is written: a proof that was answered says nothing later.
  const used = proven && (await useProof(deps, proven.digest, request.market))
  return used === undefined ? toDecision(leases) : { refusal: used }
}

/** A request with what it comes to once it is proven. */
interface ReadRequest {
  readonly body: CancelsBody<unknown>
  readonly toDecision: (leases: KnownLeases) => CancelDecision | Promise<CancelDecision>
}

function readRequest(deps: CancelsDeps, request: CancelsRequest): OrRefusal<ReadRequest> {
  const body = parseBody(request)
  switch (request.kind) {
    case 'cancel_all': {
      const read = readCancelAll(body, request)
      if ('refusal' in read) return read
      const { owner, terms } = read
      return asked(read, () => ({ command: { kind: 'CancelAll', owner, ...terms } }))
    }
    case 'cancel_orders': {
      const read = readCancelOrders(body)
      if ('refusal' in read) return read
      return asked(read, () => cancelOrders(deps, request.market, read))
    }
    case 'cancel_all_after': {
      const read = readCancelAllAfter(body, request)
      if ('refusal' in read) return read
      const { owner, terms } = read
      return asked(read, (leases) => leaseOfAll(deps, leases, { ...request, owner, ...terms }))
    }
    default:
      return readLeaseRequest(request, body)
  }
}

const asked = (body: CancelsBody<unknown>, toDecision: ReadRequest['toDecision']): ReadRequest => ({
  body,
  toDecision,
})

/** Waits for those orders that are still being placed, and asks for a cancel of those that are of the market. */
async function cancelOrders(
  { registry, underWay }: CancelsDeps,
  market: string,
  { owner, terms: { orderIds: named, reason } }: CancelsBody<CancelOrdersTerms>,
): Promise<CancelDecision> {
  const ids = [...new Set(named)]
  const placed = ids
    .filter((id) => registry.findOrder(id) === undefined)
    .map((id) => underWay.waitForId(owner, id, market))
  if (placed.includes('too_many')) {
    return { answer: { kind: 'refused', refusal: refusals.cancelTarget } }
  }
  await Promise.all(placed.filter((each) => each instanceof Promise))
  const orderIds = ids.filter((id) => registry.findOrder(id)?.market === market)
  if (orderIds.length === 0) return NOTHING
  return { command: { kind: 'CancelOrders', owner, orderIds, reason } }
}

/** Undefined for text that is not JSON; the checks refuse it like every other body that is not an object. */
function parseBody({ body }: CancelsRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

type LeaseOfAll = Pick<CancelsRequest, 'market'> & Pick<CancelsBody<unknown>, 'owner'>

/** A lease that is less than half spent is not written again. */
function leaseOfAll(
  { nowMs, registry }: CancelsDeps,
  leases: KnownLeases,
  { market, owner, seconds }: LeaseOfAll & { readonly seconds: number },
): CancelDecision {
  if (seconds === 0) return { command: { kind: 'EndLease', owner, cancels: false } }
  const endsAtMs = leases.unspent(market, { owner, seconds, nowMs: nowMs() })
  if (endsAtMs !== undefined) return { answer: { kind: 'lease', ends_at_ms: endsAtMs } }
  if (!registry.hasOrderOf(owner) && !leases.admitsNewcomer(market, owner)) {
    return { answer: { kind: 'refused', refusal: cancelsRefusals.tooManyLeases } }
  }
  return { command: { kind: 'SetLease', owner, seconds, opens: true } }
}

/** The fan-out keeps the leases of its sockets and writes them when they are half spent. */
function readLeaseRequest(request: CancelsRequest, body: unknown): OrRefusal<ReadRequest> {
  const { kind, authenticated: owner } = request
  const lease = readSocketLease(body)
  if (lease === undefined) return { refusal: optionRefusals.lease_id }
  if (owner === undefined) return { refusal: refusals.cancelProofRequired }
  const { leaseId, seconds } = lease
  const command: Command =
    kind === 'end_lease'
      ? { kind: 'EndLease', owner, leaseId, cancels: true }
      : { kind: 'SetLease', owner, leaseId, seconds, opens: kind === 'open_lease' }
  return asked({ owner, terms: lease, scope: '' }, () => ({ command }))
}

/** The digest of a proof that counts once; undefined when the owner is proven in another way. */
async function prove(
  deps: CancelsDeps,
  { authenticated, service_auth }: CancelsRequest,
  { owner, scope, proof }: CancelsBody<unknown>,
): Promise<OrRefusal<{ readonly digest: Hex }> | undefined> {
  if (authenticated !== undefined) {
    return authenticated === owner ? undefined : { refusal: refusals.cancelProofOwner }
  }
  if (service_auth !== undefined) {
    const refusal = await refuseFrame(deps, { owner }, service_auth)
    if (refusal !== undefined) return { refusal }
  }
  if (proof !== undefined) return proveSigned(deps, { owner, scope, proof })
  return service_auth === undefined ? { refusal: refusals.cancelProofRequired } : undefined
}

interface SignedScope extends Pick<CancelsBody<unknown>, 'owner' | 'scope'> {
  readonly proof: CancelAllProof
}

async function proveSigned(
  deps: CancelsDeps,
  { owner, scope, proof }: SignedScope,
): Promise<OrRefusal<{ readonly digest: Hex }>> {
  const late = proofTimeFault(proof, deps.nowMs())
  if (late !== undefined) return { refusal: late }
  const { signer, issuedAtSec: issuedAt, expirySec: expiry, signature } = proof
  const digest = deps.verifier.cancelAllDigest({ owner, signer, scope, issuedAt, expiry })
  const proven = await judgeSigned(deps, { owner, signer, digest, signature })
  if (proven === 'proven') return { digest }
  if (proven === 'unreadable') return { refusal: refusals.cancelProofUnreadable }
  const { refusal } = proven
  const { code, detail } = refusal
  const isOfSignature = code === refusals.cancelProofSignature.code
  return { refusal: isOfSignature ? { ...refusal, detail: { scope, digest, ...detail } } : refusal }
}

/** Notes the use of a proof in a market, on the bus, so that it counts once whatever restarts. */
async function useProof(
  { bus }: CancelsDeps,
  digest: Hex,
  market: string,
): Promise<Refusal | undefined> {
  const key = createHash('sha256').update(`${digest} ${market}`).digest('hex')
  try {
    return (await bus.claimOnce(cancelProofs, key)) ? undefined : cancelsRefusals.proofUsed
  } catch (error) {
    const isUnknown = [AppendUnknown, AppendRefused, BusUnavailable].some(
      (kind) => error instanceof kind,
    )
    if (isUnknown) return cancelsRefusals.proofUseUnknown
    throw error
  }
}
