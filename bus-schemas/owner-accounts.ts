import type { Address } from '../core/action.js'
import type { IndexedBlock, OwnedAccount, OwnedKey, OwnerAccounts } from '../core/owner-accounts.js'
import { address, flag, hex, uint, whole } from '../core/wire/codec.js'
import { list, optional, struct } from '../core/wire/compound.js'
import { message, since, WIRE_VERSION } from './envelope.js'

/** A question on `askOwnerAccounts`. */
export interface OwnerAccountsQuestion {
  readonly owner: Address
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
