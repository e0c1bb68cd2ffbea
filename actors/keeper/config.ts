import { z } from 'zod'
import {
  GAS_BUDGET_WEI_PER_HOUR,
  GAS_RESERVE_WEI,
  weiText,
} from '../../chain/sender/gas-settings.js'
import { keySourceOf, keyText, localChain, type KeySource } from '../../chain/signing/key-file.js'
import { parseDecimal } from '../../core/decimal.js'
import { E18 } from '../../core/money.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import {
  accountList,
  BadConfiguration,
  futuresCalendar,
  parseEnv,
} from '../../runtime/process/config.js'
import type { Rescue } from './round.js'

/** A decimal at 1e18. */
const usdc = z.string().transform((text, context) => {
  const value = text === '' ? 0n : parseDecimal(text, 18)
  if (value !== undefined && value >= 0n && value <= MOST_USDC) return value
  context.addIssue({ code: 'custom', message: 'must be an amount of USDC, such as 1000' })
  return z.NEVER
})
const MOST_USDC = 10n ** 9n * E18

/** Settings of the keeper, by the names of its environment. */
export const keeperEnv = z.object({
  ...busEnv.shape,
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Directory of `keeper.db` and `keeper-transactions.db`. */
  DATA_DIR: z.string().min(1),
  LOCAL_CHAIN: localChain,
  /** File with the key that pays for upkeep, and has the contracts' role for what is not open to any caller; off without a key. */
  KEEPER_KEY_FILE: z.string().min(1).optional(),
  /** The same key in the environment. */
  KEEPER_PRIVATE_KEY: keyText.optional(),
  /** Nothing is sent that could take the key's balance below this, in wei. */
  KEEPER_GAS_RESERVE_WEI: weiText(GAS_RESERVE_WEI),
  /** Most gas paid for upkeep in an hour, in wei. */
  KEEPER_GAS_BUDGET_WEI_PER_HOUR: weiText(GAS_BUDGET_WEI_PER_HOUR),
  FUTURES_CALENDAR: futuresCalendar,
  /** Accounts that the key owns, with which it takes over what others cannot carry; it takes over nothing without. */
  KEEPER_SUBACCOUNT_IDS: accountList,
  /** Most that one takeover binds of an account, in USDC. */
  KEEPER_MOST_USDC: usdc.default(0n),
  LOG_LEVEL: z.string().default('info'),
})

export interface KeeperConfig extends Readonly<z.infer<typeof keeperEnv>> {
  /** Undefined where the keeper is off. */
  readonly key: KeySource | undefined
  readonly rescue: Rescue
}

/** Throws BadConfiguration and CannotStart. */
export function readKeeperConfig(): KeeperConfig {
  const env = parseEnv(keeperEnv, process.env)
  const { KEEPER_KEY_FILE: file, KEEPER_PRIVATE_KEY: privateKey, LOCAL_CHAIN } = env
  const { KEEPER_SUBACCOUNT_IDS: accounts, KEEPER_MOST_USDC: mostUsd } = env
  if (accounts.length > 0 && mostUsd < E18)
    throw new BadConfiguration(
      'KEEPER_SUBACCOUNT_IDS needs KEEPER_MOST_USDC of at least 1, the bound of a takeover',
    )
  return {
    ...env,
    rescue: { accounts, mostUsd },
    key: keySourceOf({ name: 'KEEPER', file, privateKey, localChain: LOCAL_CHAIN }),
  }
}
