import type { OrderRequest } from '../../bus-schemas/orders.js'
import type { MarketReader } from '../../chain/contracts/market-reader.js'
import type { OrderFundsReader } from '../../chain/contracts/observe-account.js'
import type { CacheAnswer } from '../../chain/reads/expiring-cache.js'
import type { SubaccountFacts, AccountReader } from '../../chain/reads/read-account.js'
import type { SignatureVerdict, SignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Action, Address } from '../../core/action.js'
import type { IndexLag } from '../../core/contracts/index-lag.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { crash } from '../../core/crash-point.js'
import { marketRefusals, notUnderManager } from '../../core/entry/market-refusals.js'
import { statesOption } from '../../core/entry/order-body.js'
import {
  type OrRefusal,
  notInCustody,
  notSubaccountOwner,
  refusals,
  type Refusal,
} from '../../core/entry/refusals.js'
import { heldBy } from '../../core/entry/repeated-order.js'
import {
  judgeOrder,
  readSubmittedOrder,
  type ClaimedIdentity,
  type ValidOrder,
} from '../../core/entry/validate-order.js'
import type { Command, RepeatedBy } from '../../core/model/command.js'
import { EXPIRY_MARGIN_MS } from '../../core/model/limits.js'
import type { Market } from '../../core/model/market.js'
import type { MarketObservation, AccountObservation } from '../../core/model/observation.js'
import type { Order } from '../../core/model/order.js'
import type { OrderClaim, IntakeRegistry, TakenOrder } from '../../data/intake-registry.js'
import { fingerprintOf } from '../../data/recent-claims.js'
import { within } from '../../runtime/process/within.js'
import type { MarketHalts } from './market-halts.js'

export interface PlaceOrderDeps {
  readonly markets: readonly Market[]
  readonly registry: Pick<IntakeRegistry, 'findOrder' | 'findNonce'>
  readonly accounts: AccountReader
  readonly funds: OrderFundsReader
  /** What the chain shows of markets whose contract admits orders by it. */
  readonly chainMarkets: MarketReader
  /** The index against a sample from outside; undefined without a limit. */
  readonly indexLag?: (nowMs: number) => IndexLag | undefined
  /** Why a market takes no new order. */
  readonly halts: Pick<MarketHalts, 'refusalOf'>
  readonly verifier: SignatureVerifier
  /** The signing domain, for the detail of a refused signature. */
  readonly domain: Readonly<Record<string, unknown>>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** An order that may enter the log once its claim is taken. */
export interface Placeable {
  readonly order: Order
  readonly claim: OrderClaim
  /** A plain key's signature was recovered. */
  readonly recovered: boolean
  /** Unix seconds at which the session key that signed it ends, where that is before the order's own end. */
  readonly keyEndsSec?: number
  /** The facts of its account; absent when the chain did not answer in time. */
  readonly account?: AccountObservation
  /** What its market admitted it by; absent where a market admits orders by nothing on the chain. */
  readonly observed?: MarketObservation
}

/** A placement that enters no log, or only as the repeat of an earlier one, which its market answers. */
export interface RefusedPlacement {
  readonly refusal: Refusal
  /** The order that holds its id or nonce: it is refused once the log holds that order. */
  readonly holder?: TakenOrder
  readonly repeat?: {
    readonly market: string
    readonly command: Extract<Command, { kind: 'RepeatOrder' }>
  }
}

/**
 * Every check before uniqueness, in the order of ORD-027: fields, the early answer to a repeat, the body's checks,
 * custody, signature. When the chain does not answer, the order is not refused: it enters unchecked, which keeps it out
 * of the book. `mayBeRefused`: the book may refuse such an order, so a repeat of it is passed on.
 */
export function checkPlacement(
  deps: PlaceOrderDeps,
  body: unknown,
  { mayBeRefused = false } = {},
): CacheAnswer<Placeable | RefusedPlacement> {
  const submitted = readSubmittedOrder(body)
  if ('refusal' in submitted) return submitted
  const fingerprint = fingerprintOf(submitted.identity.signedText)
  const repeated = findRepeated(deps.registry, submitted.identity, fingerprint)
  if (repeated !== undefined) {
    const { fields } = submitted
    const isRefusable = mayBeRefused || statesOption(fields, 'post_only')
    const code = isRefusable || withDeadline(deps.verifier.hasCode(fields.signer), undefined)
    const answer = (hasCode: boolean | undefined) =>
      repeatOf(deps.markets, repeated, hasCode !== false)
    return code instanceof Promise ? code.then(answer) : answer(code)
  }

  const nowMs = deps.nowMs()
  const valid = judgeOrder(submitted, { markets: deps.markets, nowMs })
  if ('refusal' in valid) return valid
  const { order, action } = valid
  const isAdmitted = tradingOf(valid.market).admission !== undefined
  const manager = isAdmitted ? valid.market.marginManagerAddress : undefined
  const custody = withDeadline(
    checkCustody(deps.accounts, action, { nowMs, manager }),
    isAdmitted ? UNKNOWN_MANAGER : UNREADABLE,
  )
  const verdict = withDeadline<SignatureVerdict>(
    deps.verifier.verify(action, order.signature),
    VERDICT_TIMED_OUT,
  )
  const account = withDeadline(readFunds(deps, order), undefined)
  const judged = combine(custody, verdict, (knownCustody, knownVerdict) =>
    judgeOwner(deps, { valid, fingerprint }, knownCustody, knownVerdict),
  )
  const funded = combine(judged, account, (placeable, facts) =>
    facts === undefined || 'refusal' in placeable ? placeable : { ...placeable, account: facts },
  )
  return isAdmitted ? admit(deps, valid.market, funded) : funded
}

/**
 * Checks an order against what the chain shows of its market and account; the market is read for each order. The account is
 * read again before it refuses: its facts may be a block old, and the order may follow from what the block changed.
 */
async function admit(
  { chainMarkets, funds, indexLag: lagAt, halts, nowMs }: PlaceOrderDeps,
  market: Market,
  funded: CacheAnswer<OrRefusal<Placeable>>,
): Promise<OrRefusal<Placeable>> {
  const reading = withDeadline<MarketObservation | undefined>(
    chainMarkets.readMarket(market),
    undefined,
  )
  const [placeable, observed] = await Promise.all([funded, reading])
  if ('refusal' in placeable) return placeable
  // An operator's pause comes before what the chain shows, which may be what the market is paused for.
  const closed = halts.refusalOf(market.market)
  if (closed !== undefined) return { refusal: closed }
  const { order, account: seen } = placeable
  const indexLag = lagAt?.(nowMs())
  const refusalWith = (account: AccountObservation | undefined): Refusal | undefined => {
    for (const check of tradingOf(market).admission ?? []) {
      const refusal = check({ market, order, account, observed, indexLag })
      if (refusal !== undefined) return refusal
    }
    return undefined
  }
  const refusal = refusalWith(seen)
  const seenMarket = observed && { observed }
  if (refusal === undefined) return { ...placeable, ...seenMarket }
  const newer = seen && (await withDeadline(funds.readNewer(seen, market), undefined))
  if (newer === undefined || newer === seen) return { refusal }
  const still = refusalWith(newer)
  return still === undefined ? { ...placeable, account: newer, ...seenMarket } : { refusal: still }
}

const UNREADABLE: CustodyVerdict = { kind: 'unreadable' }
const UNKNOWN_MANAGER: CustodyVerdict = { kind: 'unknown_manager' }
/** More than the last seconds in which an order is not matched, by the time that a command takes. */
const HIDDEN_BEFORE_MS = EXPIRY_MARGIN_MS + 2_000

function judgeOwner(
  { domain, nowMs: now }: PlaceOrderDeps,
  { valid, fingerprint }: { readonly valid: ValidOrder; readonly fingerprint: Uint8Array },
  custody: CustodyVerdict,
  verdict: SignatureVerdict,
): OrRefusal<Placeable> {
  crash('intake.after_signature')
  const { order, action } = valid
  if (custody.kind === 'refused') return { refusal: custody.refusal }
  if (custody.kind === 'unknown_manager') return { refusal: marketRefusals.accountUnreadable }
  if (verdict.kind === 'invalid') return { refusal: invalidSignature(domain, action, verdict) }
  const { orderId, owner, nonce } = order
  const nowMs = now()
  order.signatureStatus = signatureStatus(action, custody, verdict)
  if (verdict.kind === 'valid' && verdict.byCode) order.signedByCode = true
  const endsSec = custody.kind === 'held' ? custody.keyEndsSec : NO_EXPIRY
  const endsFirst = endsSec < BigInt(order.goodUntilSec)
  // It would match before its key's end is in the log: it stays hidden until it is checked again.
  if (endsFirst && endsSec * 1_000n <= BigInt(nowMs + HIDDEN_BEFORE_MS)) {
    order.signatureStatus = 'unchecked'
  }
  return {
    order,
    claim: { orderId, owner, nonce, fingerprint },
    recovered: verdict.kind === 'valid' && !verdict.byCode,
    ...(endsFirst && { keyEndsSec: Number(endsSec) }),
  }
}

/** The account facts that the market's contract needs. */
function readFunds(
  { markets, funds }: PlaceOrderDeps,
  { market, subaccountId }: Order,
): CacheAnswer<AccountObservation | undefined> {
  const found = markets.find((each) => each.market === market)
  return found === undefined ? undefined : funds.readFunds(subaccountId, found)
}

/** `checked`: the signature is valid and its signer is known to be authorized by the owner. */
function signatureStatus(
  { owner, signer }: Action,
  custody: CustodyVerdict,
  verdict: SignatureVerdict,
): Order['signatureStatus'] {
  const isAuthorized = signer === owner || custody.kind !== 'unreadable'
  return verdict.kind === 'valid' && isAuthorized ? 'checked' : 'unchecked'
}

/** The answer to a repeat of a stored order. A different order with its id or nonce is refused last, by its claim. */
function findRepeated(
  registry: PlaceOrderDeps['registry'],
  { orderId, owner, nonce, signedText }: ClaimedIdentity,
  fingerprint: Uint8Array,
): RepeatedPlacement | undefined {
  if (signedText === undefined) return undefined
  const sameId = registry.findOrder(orderId)
  if (sameId !== undefined && isRepeat(fingerprint, sameId)) {
    return { by: 'order_id', holder: sameId, fingerprint }
  }
  const sameNonce = registry.findNonce(owner, nonce)
  if (sameNonce !== undefined && isRepeat(fingerprint, sameNonce)) {
    return { by: 'nonce', holder: sameNonce, fingerprint }
  }
  return undefined
}

/** A placement whose id or nonce is taken. */
interface RepeatedPlacement {
  readonly by: RepeatedBy
  readonly holder: TakenOrder
  readonly fingerprint: Uint8Array
}

/**
 * The answer to a placement whose id or nonce is taken. The market may have refused a post-only order, a replacement or an order
 * that code has signed, and any order if it has ever limited the live orders of an account: it answers a repeat of one.
 */
export function repeatOf(
  markets: readonly Market[],
  { by, holder, fingerprint }: RepeatedPlacement,
  isRefusable: boolean,
): RefusedPlacement {
  const refusal = duplicate(by, holder, fingerprint)
  const { market, orderId } = holder
  const limit = markets.find((each) => each.market === market)?.openOrderLimit
  const mayBeRefused = isRefusable || limit !== undefined
  if (!mayBeRefused || !isRepeat(fingerprint, holder)) return { refusal, holder }
  return { refusal, repeat: { market, command: { kind: 'RepeatOrder', orderId, by } } }
}

const isRepeat = (fingerprint: Uint8Array, holder: TakenOrder): boolean =>
  Buffer.compare(fingerprint, holder.fingerprint) === 0

/** The refusal of an order whose id or nonce is taken; it names the stored order only to a repeat of that order. */
export function duplicate(by: RepeatedBy, holder: TakenOrder, fingerprint: Uint8Array): Refusal {
  const refusal = by === 'order_id' ? refusals.duplicateOrderId : refusals.duplicateNonce
  return isRepeat(fingerprint, holder)
    ? { ...refusal, existingOrderId: holder.orderId }
    : heldBy(refusal, 'another_order')
}

function invalidSignature(
  domain: PlaceOrderDeps['domain'],
  action: Action,
  { digest, recovered, fault }: Extract<SignatureVerdict, { kind: 'invalid' }>,
): Refusal {
  const detail = {
    digest,
    domain,
    recovered: recovered ?? null,
    expected: action.signer,
    ...(fault !== undefined && { mistake: `the signature ${fault}` }),
  }
  return { ...refusals.signature, detail }
}

/** The authority of an order's signer, as read from the chain. */
export type CustodyVerdict =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'held'; readonly keyEndsSec: bigint }
  /** Some facts could not be read, and the others do not refuse the order. */
  | { readonly kind: 'unreadable' }
  /** The account must be under a certain manager, and could not be read. */
  | { readonly kind: 'unknown_manager' }

/** What custody is judged by, besides the chain. */
export interface CustodyTerms {
  readonly nowMs: number
  /** The manager that the account must be under, if that matters to the market (PER-009). */
  readonly manager?: Address | undefined
}

/**
 * Checks that the matching contract holds the order's subaccount for its owner and that a signer other than the owner is
 * a registered, unexpired session key (AUT-018, ORD-069, ORD-070), and that the account is under the market's manager where
 * that matters.
 */
export function checkCustody(
  accounts: AccountReader,
  action: Action,
  terms: CustodyTerms,
): CacheAnswer<CustodyVerdict> {
  const { owner, signer, subaccountId } = action
  const facts = accounts.readAccount(subaccountId)
  const key = signer === owner ? NO_EXPIRY : accounts.readSessionKeyExpiry(owner, signer)
  return combine(facts, key, (known, expirySec) => judge(action, terms, known, expirySec))
}

function judge(
  { owner, subaccountId }: Action,
  { nowMs, manager }: CustodyTerms,
  facts: SubaccountFacts | undefined,
  keyExpirySec: bigint | undefined,
): CustodyVerdict {
  if (facts !== undefined && !facts.inCustody) return refused(notInCustody(subaccountId))
  if (facts !== undefined && facts.recordedOwner !== owner) {
    return refused(notSubaccountOwner(subaccountId))
  }
  if (facts !== undefined && manager !== undefined && facts.manager !== manager) {
    return refused(notUnderManager(subaccountId, manager))
  }
  if (keyExpirySec !== undefined && keyExpirySec * 1_000n <= BigInt(nowMs)) {
    return refused(refusals.sessionKey)
  }
  if (facts === undefined && manager !== undefined) return UNKNOWN_MANAGER
  if (facts === undefined || keyExpirySec === undefined) return UNREADABLE
  return { kind: 'held', keyEndsSec: keyExpirySec }
}

/** The expiry of the owner's own key: never. */
const NO_EXPIRY = 2n ** 64n

const refused = (refusal: Refusal): CustodyVerdict => ({ kind: 'refused', refusal })

/** How long a request waits for the chain: half of its caller's timeout. */
const CHAIN_WAIT_MS = 1_500

/** The verdict when the node does not answer within CHAIN_WAIT_MS. */
export const VERDICT_TIMED_OUT = {
  kind: 'unknown',
  cause: new Error(`no verdict within ${CHAIN_WAIT_MS} ms`),
} as const

/** The answer, or `late` when the chain takes longer than CHAIN_WAIT_MS. An answer that is known stays synchronous. */
export function withDeadline<T>(answer: CacheAnswer<T>, late: T): CacheAnswer<T> {
  return answer instanceof Promise ? within(answer, CHAIN_WAIT_MS, late) : answer
}

/** Combines two answers; synchronous when both are known. */
function combine<A, B, T>(
  a: CacheAnswer<A>,
  b: CacheAnswer<B>,
  combined: (a: A, b: B) => T,
): CacheAnswer<T> {
  if (!(a instanceof Promise) && !(b instanceof Promise)) return combined(a, b)
  return Promise.all([a, b]).then(([knownA, knownB]) => combined(knownA, knownB))
}

/** Undefined for text that is not JSON; the checks refuse it like every other body that is not an object. */
export function parseBody({ body }: OrderRequest): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}
