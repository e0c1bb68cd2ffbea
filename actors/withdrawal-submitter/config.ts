import { z } from 'zod'
import { parseEnv } from '../../bus-schemas/parse-env.js'
import {
  GAS_BUDGET_WEI_PER_HOUR,
  GAS_RESERVE_WEI,
  keyText,
  waitMs,
  weiText,
} from '../submitter/gas-settings.js'

/** Settings of withdrawal-submitter, by the names of its environment. */
export const withdrawalSubmitterEnv = z.object({
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Directory that holds withdrawals.db and withdrawal-transactions.db. */
  DATA_DIR: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** Key of an account that matching knows as a trade executor; withdrawals are off without it. */
  WITHDRAWAL_SUBMITTER_PRIVATE_KEY: keyText.optional(),
  /** Nothing is submitted that could take the key's balance below this, in wei. */
  WITHDRAWAL_GAS_RESERVE_WEI: weiText(GAS_RESERVE_WEI),
  /** Most gas paid for withdrawals in an hour, in wei. */
  WITHDRAWAL_GAS_BUDGET_WEI_PER_HOUR: weiText(GAS_BUDGET_WEI_PER_HOUR),
  /** How long a request waits for its receipt before it is answered without. */
  WITHDRAWAL_WAIT_MS: waitMs,
})

export type WithdrawalSubmitterConfig = Readonly<z.infer<typeof withdrawalSubmitterEnv>>

/** Throws BadConfiguration. */
export function readWithdrawalSubmitterConfig(): WithdrawalSubmitterConfig {
  return parseEnv(withdrawalSubmitterEnv, process.env)
}
