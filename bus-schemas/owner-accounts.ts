import type { Address } from '../core/action.js'
import type { IndexedBlock, OwnedAccount, OwnedKey, OwnerAccounts } from '../core/owner-accounts.js'
import { address, flag, hex, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** A question on `askOwnerAccounts`. */
export interface OwnerAccountsQuestion {
  readonly owner: Address
}

/** Most keys of one question. */
export const MAX_ASKED_KEYS = 256

/** A session key and the owner whose it may be. */
export interface AskedKey {
  readonly owner: Address
  readonly key: Address
}

/** A question on `askSessionKeys`: of at most MAX_ASKED_KEYS keys. */
export interface SessionKeysQuestion {
  readonly keys: readonly AskedKey[]
}

/**
 * When each of the keys ends, in the order in which they were asked for: unix seconds, 0 for one that is no session key of the owner
 * or whose deregistration has begun. Nothing until the index has reached the newest block once, nor when it has read no further one
 * for a while.
 */
export interface SessionKeysAnswer {
  readonly endsSec?: readonly bigint[]
}

/** What the chain reader's index has of the owner; nothing until it has reached the newest block once. */
export interface OwnerAccountsAnswer {
  readonly found?: OwnerAccounts
}

export const { encode: encodeOwnerAccountsQuestion, decode: decodeOwnerAccountsQuestion } = message(
  'owner accounts question',
  since(WIRE_VERSION, struct<OwnerAccountsQuestion>({ owner: address })),
)

export const { encode: encodeOwnerAccountsAnswer, decode: decodeOwnerAccountsAnswer } = message(
  'owner accounts answer',
  since(
    WIRE_VERSION,
    struct<OwnerAccountsAnswer>({
      found: optional(
        struct<OwnerAccounts>({
          asOf: struct<IndexedBlock>({ number: uint, hash: hex, timeSec: whole }),
          accounts: list(
            struct<OwnedAccount>({ subaccountId: uint, manager: address, leaving: flag }),
          ),
          keys: list(struct<OwnedKey>({ key: address, expirySec: uint })),
          isComplete: flag,
        }),
      ),
    }),
  ),
)

export const { encode: encodeSessionKeysQuestion, decode: decodeSessionKeysQuestion } = message(
  'session keys question',
  since(
    WIRE_VERSION,
    struct<SessionKeysQuestion>({
      keys: list(struct<AskedKey>({ owner: address, key: address })),
    }),
  ),
)

export const { encode: encodeSessionKeysAnswer, decode: decodeSessionKeysAnswer } = message(
  'session keys answer',
  since(WIRE_VERSION, struct<SessionKeysAnswer>({ endsSec: optional(list(uint)) })),
)
