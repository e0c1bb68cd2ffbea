import type { AccountObservation } from '../core/account.js'
import { amountE18, quoteE18 } from '../core/money.js'
import {
  assertClosed,
  fieldsOf,
  one,
  readAddress,
  readBoolean,
  readInt,
  readUint,
  readWhole,
} from './read-fields.js'

/** What a subaccount has on the chain at one block; balances at 1e18 in decimal text, signed. */
interface AccountWire {
  readonly subaccount_id: string
  readonly base: string
  readonly quote: string
  readonly custody_owner?: string | undefined
  readonly leaving: boolean
  readonly block_number: string
  readonly block_time_sec: number
}

/** An observation as JSON; equal ones give equal JSON. */
export function accountJson(account: AccountObservation): string {
  const { custodyOwner } = account
  const custody = custodyOwner === undefined ? '' : `,"custody_owner":"${custodyOwner}"`
  return `{"subaccount_id":"${account.subaccountId}","base":"${account.base}","quote":"${account.quote}"${custody},"leaving":${account.leaving},"block_number":"${account.blockNumber}","block_time_sec":${account.blockTimeSec}}`
}

/** The inverse of accountJson for parsed JSON. Throws MalformedMessage unless it is an account's wire form. */
export function accountFromWire(value: unknown): AccountObservation {
  const wire = fieldsOf<AccountWire>(value, 'account')
  const { custody_owner } = wire
  const account: { -readonly [K in keyof AccountObservation]: AccountObservation[K] } = {
    subaccountId: readUint(wire.subaccount_id, 'subaccount_id'),
    base: amountE18(readInt(wire.base, 'base')),
    quote: quoteE18(readInt(wire.quote, 'quote')),
    leaving: readBoolean(wire.leaving, 'leaving'),
    blockNumber: readUint(wire.block_number, 'block_number'),
    blockTimeSec: readWhole(wire.block_time_sec, 'block_time_sec'),
  }
  if (custody_owner !== undefined) {
    account.custodyOwner = readAddress(custody_owner, 'custody_owner')
  }
  assertClosed(wire, 6 + one(custody_owner), 'account')
  return account
}
