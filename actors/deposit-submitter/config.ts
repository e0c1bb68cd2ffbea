import { z } from 'zod'
import { parseEnv } from '../../bus-schemas/parse-env.js'
import {
  GAS_BUDGET_WEI_PER_HOUR,
  GAS_RESERVE_WEI,
  keyText,
  waitMs,
  weiText,
} from '../submitter/gas-settings.js'

/** Settings of deposit-submitter, by the names of its environment. */
export const depositSubmitterEnv = z.object({
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Directory that holds deposits.db and deposit-transactions.db. */
  DATA_DIR: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** Key of an account that matching knows as a trade executor; deposits are off without it. */
  DEPOSIT_SUBMITTER_PRIVATE_KEY: keyText.optional(),
  /** Nothing is submitted that could take the key's balance below this, in wei. */
  DEPOSIT_GAS_RESERVE_WEI: weiText(GAS_RESERVE_WEI),
  /** Most gas paid for deposits and their permits in an hour, in wei. */
  DEPOSIT_GAS_BUDGET_WEI_PER_HOUR: weiText(GAS_BUDGET_WEI_PER_HOUR),
  /** How long a request waits for its receipt before it is answered without. */
  DEPOSIT_WAIT_MS: waitMs,
})

export type DepositSubmitterConfig = Readonly<z.infer<typeof depositSubmitterEnv>>

/** Throws BadConfiguration. */
export function readDepositSubmitterConfig(): DepositSubmitterConfig {
  return parseEnv(depositSubmitterEnv, process.env)
}
