import { z } from 'zod'
import type { AccountObservation } from '../core/account.js'
import { amountE18, quoteE18 } from '../core/money.js'
import { addressText, asAddress, intText, uintText, wholeNumber } from './wire.js'

/** What a subaccount has on the chain at one block; balances at 1e18 in decimal text, signed. */
export const accountWire = z.strictObject({
  subaccount_id: uintText,
  base: intText,
  quote: intText,
  custody_owner: addressText.exactOptional(),
  leaving: z.boolean(),
  block_number: uintText,
  block_time_sec: wholeNumber,
})
export type AccountWire = z.infer<typeof accountWire>

export function accountToWire(account: AccountObservation): AccountWire {
  return {
    subaccount_id: String(account.subaccountId),
    base: String(account.base),
    quote: String(account.quote),
    ...(account.custodyOwner !== undefined && { custody_owner: account.custodyOwner }),
    leaving: account.leaving,
    block_number: String(account.blockNumber),
    block_time_sec: account.blockTimeSec,
  }
}

/** The inverse of accountToWire. */
export function accountFromWire(wire: AccountWire): AccountObservation {
  return {
    subaccountId: BigInt(wire.subaccount_id),
    base: amountE18(BigInt(wire.base)),
    quote: quoteE18(BigInt(wire.quote)),
    ...(wire.custody_owner !== undefined && { custodyOwner: asAddress(wire.custody_owner) }),
    leaving: wire.leaving,
    blockNumber: BigInt(wire.block_number),
    blockTimeSec: wire.block_time_sec,
  }
}
