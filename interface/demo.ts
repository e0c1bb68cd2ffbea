import { z } from 'zod'
import { address, integer, type Shape } from './values.js'

/** Accounts with play money, on a development chain alone. Additive. */

/** The body of `POST /v1/devnet/demo`. */
export const DemoRequest = z
  .object({
    address: z
      .string()
      .regex(/^0x[0-9a-fA-F]{40}$/)
      .describe('Who gets them.'),
  })
  .meta({ id: 'DemoRequest', description: 'Who asks for accounts with play money.' })
export type DemoRequest = Shape<typeof DemoRequest>

/** What it answers. */
export const DemoAccounts = z
  .object({
    address,
    spot_subaccount_id: integer.describe(
      'Trades spot and futures; opened with 1,000,000 USDC and 1,000,000,000 cNGN.',
    ),
    perp_subaccount_id: integer.describe('Trades the perpetual; opened with 100,000 USDC.'),
  })
  .meta({ id: 'DemoAccounts', description: 'The accounts that an address was given.' })
export type DemoAccounts = Shape<typeof DemoAccounts>
