import type { AccountReader } from '../../chain/read-account.js'
import type { SignatureVerifier } from '../../chain/verify-signature.js'
import type { Command } from '../../core/command.js'
import { EXPIRY_MARGIN_MS } from '../../core/matching-limits.js'
import type { OrderWatch, WatchedOrder } from './order-watch.js'

/** Signers of either sort that one round asks the chain about. */
const MAX_SIGNERS_PER_ROUND = 500
/** Orders that are looked at side by side; their questions travel together. */
const SIDE_BY_SIDE = 100

export interface RecheckDeps {
  readonly watch: OrderWatch
  readonly verifier: Pick<SignatureVerifier, 'hasCode' | 'verifyDigest'>
  readonly accounts: Pick<AccountReader, 'readSessionKeyExpiry'>
  /** Puts a command into a market's log; false when it did not take it. */
  readonly tell: (market: string, command: Command) => Promise<boolean>
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/**
 * Asks the chain once more about live orders: those that entered unchecked, those of wallet contracts and of session
 * keys, and whether a plain key has become a contract. What the chain says differently than before goes into the log;
 * what it does not say leaves things as they are. Resolves when the round is over; rejects with what `tell` throws.
 */
export async function recheckSignatures(deps: RecheckDeps): Promise<void> {
  const orders = deps.watch.next(MAX_SIGNERS_PER_ROUND)
  for (let at = 0; at < orders.length; at += SIDE_BY_SIDE) {
    await Promise.all(orders.slice(at, at + SIDE_BY_SIDE).map((order) => recheck(deps, order)))
  }
}

async function recheck(deps: RecheckDeps, order: WatchedOrder): Promise<void> {
  const { watch, tell } = deps
  const [signature, key] = await Promise.all([judgeSignature(deps, order), judgeKey(deps, order)])
  const isValid = signature === 'valid' && key === 'valid'
  const isInvalid = signature === 'invalid' || key === 'invalid'
  const found = isValid ? 'valid' : isInvalid ? 'invalid' : undefined
  if (found === undefined || found === order.told || !watch.has(order)) return
  if (found === 'valid' && !order.unchecked) return
  const { market, orderId } = order
  const told = await tell(market, { kind: 'SignatureChecked', orderId, valid: isValid })
  if (told) order.told = found
}

type Judgement = 'valid' | 'invalid' | 'unknown'

async function judgeSignature(
  { verifier, watch }: RecheckDeps,
  order: WatchedOrder,
): Promise<Judgement> {
  const { signer, owner, digest, signature } = order
  const contract = await verifier.hasCode(signer)
  if (contract === undefined) return 'unknown'
  watch.attend(order, contract || order.unchecked || signer !== owner)
  if (!contract && order.recovered) return 'valid'
  const verdict = await verifier.verifyDigest(signer, digest(), signature())
  if (verdict.kind === 'valid' && verdict.path === 'ecdsa') order.recovered = true
  return verdict.kind
}

/** A key whose time ends within the last seconds in which an order is not matched counts as lapsed. */
async function judgeKey(
  { accounts, nowMs }: RecheckDeps,
  { owner, signer }: WatchedOrder,
): Promise<Judgement> {
  if (signer === owner) return 'valid'
  const expirySec = await accounts.readSessionKeyExpiry(owner, signer)
  if (expirySec === undefined) return 'unknown'
  return expirySec * 1_000n <= BigInt(nowMs() + EXPIRY_MARGIN_MS) ? 'invalid' : 'valid'
}
