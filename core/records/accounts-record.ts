import type { AccountsBody } from '../../interface/accounts.js'
import type { Address } from '../action.js'
import { marketsUnder } from '../contracts/registry.js'
import type { Market } from '../model/market.js'
import type { OwnerAccounts } from '../owner-accounts.js'
import { isoTime } from '../time.js'

/** Presents what the index of accounts has of an owner; `markets` are those that are listed. */
export const accountsRecord = (
  owner: Address,
  { asOf, accounts, keys, isComplete }: OwnerAccounts,
  markets: readonly Market[],
): AccountsBody => ({
  owner_address: owner,
  as_of_block: asOf.number.toString(),
  as_of_time: isoTime(asOf.timeSec * 1_000),
  complete: isComplete,
  accounts: accounts.map(({ subaccountId, manager, leaving }) => ({
    subaccount_id: subaccountId.toString(),
    manager_address: manager,
    leaving,
    markets: marketsUnder(markets, manager)
      .map(({ market }) => market)
      .sort(),
  })),
  session_keys: keys.map(({ key, expirySec }) => ({
    address: key,
    expiry: expirySec.toString(),
  })),
})
