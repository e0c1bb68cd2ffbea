import type { AccountReader } from '../../chain/read-account.js'
import type { Action } from '../../core/action.js'
import { type Refusal, notInCustody, notSubaccountOwner, refusals } from '../../core/refusals.js'

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
export async function checkCustody(
  accounts: AccountReader,
  { owner, signer, subaccountId }: Action,
  nowMs: number,
): Promise<CustodyVerdict> {
  const [facts, keyExpirySec] = await Promise.all([
    accounts.readAccount(subaccountId),
    signer === owner ? NO_KEY_NEEDED : accounts.readSessionKeyExpiry(owner, signer),
  ])
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
