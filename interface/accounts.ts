import { z } from 'zod'
import { address, integer, sentAddress, type Shape, time } from './values.js'

/** The accounts of an owner as the chain has them. Additive to the interface. */

const OwnerAccount = z
  .object({
    subaccount_id: integer,
    manager_address: address,
    leaving: z
      .boolean()
      .describe(
        'Its owner has asked to take it out of custody: its orders are not matched any more.',
      ),
    markets: z
      .array(z.string())
      .describe(
        'The listed markets that it may trade: those of its manager; of a manager that no market names, the spot markets.',
      ),
  })
  .meta({
    id: 'OwnerAccount',
    description: 'A subaccount in the custody of the matching contract.',
  })

const SessionKey = z
  .object({
    address,
    expiry: integer.describe('Unix seconds, a uint256: the key may sign until then.'),
  })
  .meta({ id: 'SessionKey', description: 'A key that may sign orders for the owner.' })

/** The body of `GET /v1/accounts`. */
export const AccountsBody = z
  .object({
    owner_address: address,
    as_of_block: integer.describe('Everything is as the chain was up to this block.'),
    as_of_time: time.describe('Time of that block.'),
    complete: z
      .boolean()
      .describe('False where the owner has had more accounts or keys than the index keeps.'),
    accounts: z.array(OwnerAccount).describe('By `subaccount_id`.'),
    session_keys: z
      .array(SessionKey)
      .describe('Registered, not expired, and with no deregistration begun; by address.'),
  })
  .meta({ id: 'Accounts', description: 'What an owner may trade with.' })
export type AccountsBody = Shape<typeof AccountsBody>

/** Query of accounts. */
export const AccountsQuery = z.object({ owner_address: sentAddress })
