import type { Address } from '../core/action.js'

/** What the chain says about a subaccount when asked for an order's custody (decisions C10, C11). */
export interface AccountFacts {
  /** Owner recorded by the matching contract; the zero address when it holds no such account. */
  readonly recordedOwner: Address
  /** Whether the account's NFT is held by the matching contract. */
  readonly inCustody: boolean
  readonly manager: Address
  /** Non-zero once the owner asked to take the account out of custody. */
  readonly withdrawRequestedAtSec: bigint
}

export interface AccountReader {
  /** Facts at most a block old; undefined when the chain cannot be read. */
  readAccount(subaccountId: bigint): Promise<AccountFacts | undefined>
  /** Unix seconds until which the key may sign for the owner, 0 when never registered; undefined when unreadable. */
  readSessionKeyExpiry(owner: Address, key: Address): Promise<bigint | undefined>
}
