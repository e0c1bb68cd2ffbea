import type { AccountBalances } from '../../client/index.js'
import { formatE18 } from './format.js'
import { readSigned } from './numbers.js'

/** A token of an account as its row shows it; rounded down to two decimals. */
export interface TokenRow {
  readonly token: string
  readonly total: string
  readonly reserved: string
  readonly free: string
}

const TOKEN_DECIMALS = 2
const NOT_KNOWN = '–'

export const tokenRows = ({ tokens }: AccountBalances): readonly TokenRow[] =>
  tokens.map((held) => ({
    token: held.token,
    total: shown(held.total),
    reserved: shown(sum(held.reserved_by_orders, held.reserved_by_matches)),
    free: shown(held.available),
  }))

/** The margin of an account in one market, in USDC. */
export interface MarginRow {
  readonly market: string
  readonly balance: string
  /** Profit that is not paid yet; on futures variation margin at the marks. */
  readonly unpaid: string
  readonly required: string
  readonly reserved: string
  readonly free: string
  readonly aboveMaintenance: string
}

export const marginRows = ({ margin }: AccountBalances): readonly MarginRow[] =>
  margin.map((one) => ({
    market: one.market,
    balance: shown(one.balance),
    unpaid: shown(one.unrealized_pnl),
    required: shown(one.initial_margin),
    reserved: shown(sum(one.reserved_by_orders, one.reserved_by_matches)),
    free: shown(one.free),
    aboveMaintenance: shown(one.maintenance_margin_surplus),
  }))

function shown(text: string | bigint | undefined): string {
  const value = typeof text === 'bigint' ? text : readSigned(text)
  return value === undefined ? NOT_KNOWN : formatE18(value, TOKEN_DECIMALS, 'down')
}

function sum(one: string, other: string): bigint | undefined {
  const a = readSigned(one)
  const b = readSigned(other)
  return a === undefined || b === undefined ? undefined : a + b
}
