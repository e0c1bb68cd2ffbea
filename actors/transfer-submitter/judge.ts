import type { TransferAnswer } from '../../bus-schemas/transfers.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { TransferReader } from '../../chain/reads/read-transfer.js'
import type { SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Action, Address, Hex } from '../../core/action.js'
import {
  chainUnreadable,
  tooManyAMinute,
  tooManyDepositsAnHour,
  transferInProgress,
  transferRefusals,
  transfersPaused,
  transfersUnavailable,
  transferUnknown,
  type TransferRefusal,
} from '../../core/entry/transfer-refusals.js'
import { readTransferBody, type TransferBody } from '../../core/entry/validate-transfer.js'
import type { TransferKind, TransferRecord } from '../../core/transfer.js'
import type { RequestCounts, TransferStore } from '../../data/transfer-store.js'
import type { Jobs } from './carry-out.js'
import type { RecordBook } from './records.js'
import type { ExpiryClock, SignedTransfer, TransferRules } from './rules.js'
import type { GasWallet } from '../sending/gas-wallet.js'

export interface JudgeDeps<Transfer extends SignedTransfer> extends SignatureDeps {
  readonly rules: TransferRules<Transfer>
  readonly verifier: SignatureVerifier
  readonly records: RecordBook
  readonly jobs: Pick<Jobs<Transfer>, 'giveUp'>
  readonly limits: Limits
  readonly gas: GasWallet
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly clock: ExpiryClock
  readonly reader: Pick<TransferReader, 'blockTimeSec'>
}

/** One request from the bus. */
export interface IncomingRequest {
  /** The client's JSON text. */
  readonly body: string
  readonly clientAddress: string
  /** Whether the request was already answered as timed out; then nothing may be claimed for it. */
  readonly isLate: () => boolean
}

export interface JudgedRequest extends IncomingRequest {
  /** Called when the action is about to be claimed: from then on it may be in the journal's stream. */
  readonly onClaim: () => void
}

/** The answer, or a new claim that the caller carries out now. */
export type TransferJudgement<Transfer> =
  | TransferAnswer
  | { readonly kind: 'claimed'; readonly record: TransferRecord; readonly transfer: Transfer }

/**
 * Checks requests in the order of TRA-002 and claims them: form, record, limits, signature, chain, claim. Concurrent
 * requests with the same action are judged once and share the outcome.
 */
export function createJudge<Transfer extends SignedTransfer>(deps: JudgeDeps<Transfer>) {
  const { rules, verifier, records, limits, clock } = deps
  /** Bounded by the requests that are open. */
  const judging = new Map<Hex, OpenJudgement<Transfer>>()
  const join = async (
    { judged, tellOfClaim }: OpenJudgement<Transfer>,
    { onClaim }: JudgedRequest,
  ): Promise<TransferAnswer> => {
    tellOfClaim(onClaim)
    return afterSame(await judged)
  }

  const answerable = (actionHash: Hex): TransferAnswer | undefined => {
    const record = records.find(actionHash)
    return record === undefined || record.status === 'rejected'
      ? undefined
      : { kind: 'record', record }
  }

  return async (request: JudgedRequest): Promise<TransferJudgement<Transfer>> => {
    const body = readTransferBody(rules.kind, parseJson(request.body))
    if ('refusal' in body) return refused(body.refusal)
    const actionHash = verifier.digest(body.action)
    const recorded = answerable(actionHash)
    if (recorded !== undefined) return recorded
    // Before the limits, which the first of two equal requests may have used up.
    const judgedNow = judging.get(actionHash)
    if (judgedNow !== undefined) return join(judgedNow, request)
    const transfer = rules.validate(body, clock.latestMs())
    if ('refusal' in transfer) return refused(transfer.refusal)
    const { action, signature } = transfer
    const limited = limits.refuse(action.owner, actionHash)
    if (limited !== undefined) return refused(limited)

    const fault = await checkSignature(deps, action, signature)
    if (fault?.kind === 'unreadable') return refused(fault.refusal)
    if (fault !== undefined)
      return refused(limits.countBadSignature(request.clientAddress) ?? fault.refusal)
    const same = judging.get(actionHash)
    if (same !== undefined) return join(same, request)
    const meanwhile = answerable(actionHash)
    if (meanwhile !== undefined) return meanwhile
    const { onClaim, tellOfClaim } = createClaimNews(request)
    const first = { ...request, onClaim }
    const judged = judgeSigned(deps, { request: first, actionHash, body, transfer }).finally(() =>
      judging.delete(actionHash),
    )
    judging.set(actionHash, { judged, tellOfClaim })
    return judged
  }
}

/** An action that is being judged, for every request that asks for it. */
interface OpenJudgement<Transfer> {
  readonly judged: Promise<TransferJudgement<Transfer>>
  /** Also of a claim that has begun. */
  readonly tellOfClaim: (onClaim: () => void) => void
}

/** Tells each request for one action of its claim. Bounded by the requests that are open. */
function createClaimNews({ onClaim }: JudgedRequest) {
  const callers = [onClaim]
  let isClaiming = false
  return {
    onClaim: (): void => {
      isClaiming = true
      for (const each of callers) each()
    },
    tellOfClaim: (each: () => void): void => {
      if (isClaiming) each()
      else callers.push(each)
    },
  }
}

/** The claim of one request is a plain record to the others. */
const afterSame = <Transfer>(judged: TransferJudgement<Transfer>): TransferAnswer =>
  judged.kind === 'claimed' ? { kind: 'record', record: judged.record } : judged

const refused = (refusal: TransferRefusal): TransferAnswer => ({ kind: 'refused', refusal })

/** Undefined for text that is not JSON; it is refused like every other body that is not an object. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

interface SignedRequest<Transfer> {
  readonly request: JudgedRequest
  readonly actionHash: Hex
  readonly body: TransferBody
  readonly transfer: Transfer
}

async function judgeSigned<Transfer extends SignedTransfer>(
  deps: JudgeDeps<Transfer>,
  signed: SignedRequest<Transfer>,
): Promise<TransferJudgement<Transfer>> {
  const { rules, records, limits, jobs } = deps
  const { request, actionHash, transfer } = signed
  const { kind } = rules
  const { action, asset, amount } = transfer
  const { owner, nonce, subaccountId } = action
  const limited = limits.refuse(owner, actionHash)
  if (limited !== undefined) return refused(limited)
  limits.countOwner(owner)

  const against = await askChain(deps, signed)
  if (against !== undefined) return refused(against)
  if (request.isLate()) return refused(chainUnreadable(kind))
  const hourly = limits.refuseHourly(owner, actionHash)
  if (hourly !== undefined) return refused(hourly)
  const atMs = deps.nowMs()
  const record: TransferRecord = {
    kind,
    actionHash,
    status: 'pending',
    owner,
    nonce,
    asset,
    amount,
    subaccountIdRequested: subaccountId,
    createdAtMs: atMs,
    updatedAtMs: atMs,
  }
  const claiming = records.claim(record, request.body)
  request.onClaim()
  const claimed = await claiming
  if (claimed === 'taken') return refused(transferInProgress(kind))
  if (claimed === 'unavailable') return refused(transfersUnavailable(kind))
  if (claimed === 'unknown') return refused(transferUnknown(kind))
  if (!request.isLate()) return { kind: 'claimed', record, transfer }
  // The caller does not wait any more: what it was told is that the outcome is unknown.
  const given = await jobs.giveUp(actionHash, transfersUnavailable(kind))
  return given.kind === 'refused' ? given : refused(transferUnknown(kind))
}

async function askChain<Transfer extends SignedTransfer>(
  { rules, gas, clock, reader }: JudgeDeps<Transfer>,
  { body, transfer }: SignedRequest<Transfer>,
): Promise<TransferRefusal | undefined> {
  try {
    const [blockSec, against] = await Promise.all([reader.blockTimeSec(), rules.preCheck(transfer)])
    clock.saw(blockSec)
    // The newest block may be ahead of our clock, so that the action has expired on chain.
    const late = rules.validate(body, clock.latestMs())
    if ('refusal' in late) return late.refusal
    if (against !== undefined) return against
    // The cost is not known before the simulation; this checks whether any gas can be paid.
    const pause = gas.pauseFor(1n, await gas.read())
    return pause === undefined ? undefined : transfersPaused(rules.kind, pause)
  } catch (error) {
    if (error instanceof ChainUnreachable) return chainUnreadable(rules.kind)
    throw error
  }
}

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
/** Requests a minute with a wrong signature from one network address. */
const BAD_SIGNATURES_PER_MINUTE = 3

export interface LimitsDeps {
  readonly kind: TransferKind
  readonly perMinute: number
  readonly perHour?: number
  readonly store: Pick<TransferStore, 'othersInProgress' | 'submittedAfter'>
  readonly owners: RequestCounts
  readonly clients: RequestCounts
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** Request limits of owners, and of addresses that send wrong signatures. An action's own record does not count. */
export interface Limits {
  /** Why the owner has to wait; undefined when the request is within the limits. */
  refuse(owner: Address, actionHash: Hex): TransferRefusal | undefined
  /** The hourly limit alone; checked again right before the claim. */
  refuseHourly(owner: Address, actionHash: Hex): TransferRefusal | undefined
  /** Counts a request with a good signature. */
  countOwner(owner: Address): void
  /** Counts a request with a wrong signature; returns the refusal when this address has sent too many. */
  countBadSignature(clientAddress: string): TransferRefusal | undefined
}

export function createLimits(deps: LimitsDeps): Limits {
  const { kind, perMinute, perHour, store, owners, clients, nowMs } = deps

  function refuse(owner: Address, actionHash: Hex): TransferRefusal | undefined {
    if (store.othersInProgress(owner, actionHash)) return transferInProgress(kind)
    const now = nowMs()
    const minute = waitMs(owners.within(owner, now), perMinute, MINUTE_MS, now)
    if (minute !== undefined) return tooManyAMinute(kind, perMinute, seconds(minute))
    return refuseHourly(owner, actionHash)
  }

  function refuseHourly(owner: Address, actionHash: Hex): TransferRefusal | undefined {
    if (perHour === undefined) return undefined
    const now = nowMs()
    const submitted = store.submittedAfter(owner, now - HOUR_MS, actionHash)
    const hour = waitMs(submitted, perHour, HOUR_MS, now)
    return hour === undefined ? undefined : tooManyDepositsAnHour(perHour, seconds(hour))
  }

  return {
    refuse,
    refuseHourly,
    countOwner: (owner) => owners.count(owner, nowMs()),
    countBadSignature(clientAddress) {
      const now = nowMs()
      const wait = waitMs(
        clients.within(clientAddress, now),
        BAD_SIGNATURES_PER_MINUTE,
        MINUTE_MS,
        now,
      )
      if (wait !== undefined) return tooManyAMinute(kind, BAD_SIGNATURES_PER_MINUTE, seconds(wait))
      clients.count(clientAddress, now)
      return undefined
    },
  }
}

/**
 * Time until fewer than `limit` of the moments lie within the window; undefined when that is so now. Moments in the
 * future were counted before the clock was set back, and do not count: they would for as long as the clock was ahead.
 */
function waitMs(
  moments: readonly number[],
  limit: number,
  windowMs: number,
  nowMs: number,
): number | undefined {
  const freedBy = moments.filter((atMs) => atMs <= nowMs).at(-limit)
  return freedBy === undefined ? undefined : freedBy + windowMs - nowMs
}

/** Whole seconds, rounded up: a client that waits so long is within the limit. */
const seconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1_000))

export interface SignatureDeps {
  readonly kind: TransferKind
  readonly verifier: Pick<SignatureVerifier, 'hasCode' | 'verify'>
  /** The signing domain as a refusal shows it. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** `wrong`: the signature does not authorize the action. `unreadable`: the chain did not answer; not counted. */
export type SignatureFault = {
  readonly kind: 'wrong' | 'unreadable'
  readonly refusal: TransferRefusal
}

/** The fault of the signature; undefined when it is valid. Fails closed: `unknown` counts as a fault. */
export async function checkSignature(
  { kind, verifier, domain }: SignatureDeps,
  action: Action,
  signature: Hex,
): Promise<SignatureFault | undefined> {
  const unreadable = { kind: 'unreadable', refusal: chainUnreadable(kind) } as const
  // A plain key's signature is valid only while the signer is known to have no code.
  if ((await verifier.hasCode(action.signer)) === undefined) return unreadable
  const verdict = await verifier.verify(action, signature)
  if (verdict.kind === 'valid') return undefined
  if (verdict.kind === 'unknown') return unreadable
  const { digest, recovered = null, fault: inForm } = verdict
  const detail = {
    digest,
    domain,
    recovered,
    expected: action.signer,
    ...(inForm !== undefined && { mistake: `the signature ${inForm}` }),
  }
  return { kind: 'wrong', refusal: { ...transferRefusals.signature, detail } }
}
