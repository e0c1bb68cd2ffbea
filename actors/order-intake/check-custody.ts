import type { Answer } from '../../chain/expiring-cache.js'
import type { AccountFacts, AccountReader } from '../../chain/read-account.js'
import type { Action } from '../../core/action.js'
import { type Refusal, notInCustody, notSubaccountOwner, refusals } from '../../core/refusals.js'
import { both } from './soon.js'

/** What the chain says about who may place an order. */
export type CustodyVerdict =
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  | { readonly kind: 'held' }
  /** Something could not be read, and what could be read speaks not against the order. */
  | { readonly kind: 'unreadable' }

/**
 * Asks whether the matching contract holds the order's subaccount for its owner and, when somebody else signed,
 * whether that is a registered, unexpired session key of the owner (decisions C10, C11).
 */
export function checkCustody(
  accounts: AccountReader,
  action: Action,
  nowMs: number,
): Answer<CustodyVerdict> {
  const { owner, signer, subaccountId } = action
  const facts = accounts.readAccount(subaccountId)
  const key = signer === owner ? NO_KEY_NEEDED : accounts.readSessionKeyExpiry(owner, signer)
  return both(facts, key, (known, expirySec) => judge(action, nowMs, known, expirySec))
}

function judge(
  { owner, subaccountId }: Action,
  nowMs: number,
  facts: AccountFacts | undefined,
  keyExpirySec: bigint | undefined,
): CustodyVerdict {
  if (facts !== undefined && !facts.inCustody) return refused(notInCustody(subaccountId))
  if (facts !== undefined && facts.recordedOwner !== owner) {
    return refused(notSubaccountOwner(subaccountId))
  }
  if (keyExpirySec !== undefined && keyExpirySec * 1_000n <= BigInt(nowMs)) {
    return refused(refusals.sessionKey)
  }
  return { kind: facts === undefined || keyExpirySec === undefined ? 'unreadable' : 'held' }
}

/** The owner's own signature never expires. */
const NO_KEY_NEEDED = 2n ** 64n

const refused = (refusal: Refusal): CustodyVerdict => ({ kind: 'refused', refusal })
