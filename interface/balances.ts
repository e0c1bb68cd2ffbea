import { z } from 'zod'
import { outlookFields } from './position.js'
import {
  address,
  decimal,
  integer,
  type Shape,
  signedDecimal,
  signedOrEmpty,
  time,
} from './values.js'

/** What an owner's accounts hold, and what of it is spoken for. What cannot be priced, because a feed is stale, is empty text. */

/** Most accounts of one request. */
export const MAX_BALANCE_ACCOUNTS = 20

const TokenBalance = z
  .object({
    token: z.string().describe('For example `USDC`.'),
    asset_address: address.describe('The asset in the account that holds it.'),
    total: signedDecimal.describe('On chain, at `block_number`, up to 18 decimals.'),
    reserved_by_orders: decimal.describe(
      'What all open orders would take if they were hit, each at its own limit.',
    ),
    reserved_by_matches: decimal.describe(
      'What matches take that await settlement, or are settled in a later block than `block_number`; fees included.',
    ),
    available: decimal.describe('`total` less both, not below 0.'),
    ui_total: signedDecimal.describe('The same at the token’s own 6 decimals, rounded down.'),
    ui_available: decimal,
  })
  .meta({ id: 'TokenBalance', description: 'One token of an account.' })

const MarginBalance = z
  .object({
    market: z.string(),
    position: signedDecimal.describe('Signed size in the engine’s amounts; positive is long.'),
    balance: signedDecimal.describe('USDC that counts as margin.'),
    collateral_value: signedOrEmpty.describe(
      'What other assets count as initial margin, in USDC; a debt is negative.',
    ),
    unrealized_pnl: signedOrEmpty.describe(
      'Profit that is not paid yet, in USDC. On futures it is variation margin with positions at their marks; `collateral_value` counts no more of it than the index leaves.',
    ),
    initial_margin: signedOrEmpty.describe('What the account’s positions require, in USDC.'),
    maintenance_margin: signedOrEmpty,
    initial_margin_surplus: signedOrEmpty.describe('USDC above initial margin.'),
    maintenance_margin_surplus: signedOrEmpty.describe(
      'USDC above maintenance margin; below zero the account is liquidated.',
    ),
    ...outlookFields,
    reserved_by_orders: signedOrEmpty.describe(
      'Initial margin that the open orders would add if all of one side were hit: the worse side.',
    ),
    reserved_by_matches: signedOrEmpty.describe(
      'Initial margin and losses of matches that await settlement, fees included.',
    ),
    free: signedOrEmpty.describe('`initial_margin_surplus` less both, not below 0.'),
    price_status: z
      .enum(['ok', 'stale'])
      .describe('`stale` while a price that margin needs cannot be read on chain.'),
  })
  .meta({ id: 'MarginBalance', description: 'Margin of an account in one market, in USDC.' })

/** What one account holds. */
export const AccountBalances = z
  .object({
    subaccount_id: integer,
    manager_address: address,
    block_number: z.int().min(0).describe('Every number of the chain is of this block.'),
    block_time: time,
    facts: z
      .enum(['current', 'stale'])
      .describe('`stale` when the chain was last read more than 15 seconds before.'),
    tokens: z.array(TokenBalance),
    margin: z
      .array(MarginBalance)
      .describe('One item for each market with positions that the account may trade.'),
  })
  .meta({ id: 'AccountBalances', description: 'One subaccount, as one block shows it.' })
export type AccountBalances = Shape<typeof AccountBalances>
export type TokenBalance = Shape<typeof TokenBalance>
export type MarginBalance = Shape<typeof MarginBalance>

/** The body of `GET /v1/balances`. */
export const BalancesBody = z
  .object({
    owner_address: address,
    accounts: z
      .array(AccountBalances)
      .describe(
        'By `subaccount_id`, ascending. An account that has left the custody of the matching contract is left out.',
      ),
  })
  .meta({ id: 'Balances', description: 'What an owner’s accounts hold, and what is spoken for.' })
export type BalancesBody = Shape<typeof BalancesBody>

/** Query of balances. */
export const BalancesQuery = z.object({
  subaccount_id: z
    .string()
    .optional()
    .describe(
      'Accounts by number, at most 20, separated by commas. Absent: those that have placed an order here.',
    ),
})
