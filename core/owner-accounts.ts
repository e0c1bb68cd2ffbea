import type { Address, Hex } from './action.js'

// What the chain shows of the accounts of owners: an index of the events of the matching contract and of SubAccounts.

/** An event that concerns an account in custody. */
export type AccountEvent = {
  readonly blockNumber: bigint
  readonly logIndex: number
  readonly subaccountId: bigint
} & (
  | { readonly kind: 'deposited'; readonly owner: Address; readonly manager: Address }
  | { readonly kind: 'managed'; readonly manager: Address }
  | { readonly kind: 'withdrawn' }
  | { readonly kind: 'leaving' }
)

/** A session key was registered, or its deregistration has begun: then `expirySec` is 0. */
export interface KeyEvent {
  readonly blockNumber: bigint
  readonly logIndex: number
  readonly owner: Address
  readonly key: Address
  readonly expirySec: bigint
}

/** Events of a run of blocks. */
export interface IndexedEvents {
  readonly accounts: readonly AccountEvent[]
  readonly keys: readonly KeyEvent[]
}

/** A block up to which everything was read. */
export interface IndexedBlock {
  readonly number: bigint
  readonly hash: Hex
  /** Unix seconds. */
  readonly timeSec: number
}

/** An account in the custody of the matching contract. */
export interface OwnedAccount {
  readonly subaccountId: bigint
  readonly manager: Address
  /** Its owner has asked to take it out of custody. */
  readonly leaving: boolean
}

/** A session key that is registered and not expired. */
export interface OwnedKey {
  readonly key: Address
  /** Unix seconds, a uint256. */
  readonly expirySec: bigint
}

/** What an index has of an owner. */
export interface OwnerAccounts {
  readonly asOf: IndexedBlock
  /** By number. */
  readonly accounts: readonly OwnedAccount[]
  /** By address. */
  readonly keys: readonly OwnedKey[]
  /** False where the owner has had more accounts or keys than an index keeps. */
  readonly isComplete: boolean
}
