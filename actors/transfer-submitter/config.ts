import { z } from 'zod'
import { SUBMITTER_ANSWERS_WITHIN_MS } from '../../bus-schemas/transfers.js'
import {
  GAS_BUDGET_WEI_PER_HOUR,
  GAS_RESERVE_WEI,
  weiText,
} from '../../chain/sender/gas-settings.js'
import { keySourceOf, keyText, localChain, type KeySource } from '../../chain/signing/key-file.js'
import type { TransferKind } from '../../core/transfer.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import { parseEnv } from '../../runtime/process/config.js'

/** Shorter than the gateway's wait for the submitter's answer. */
const waitMs = z.coerce.number().int().min(100).max(SUBMITTER_ANSWERS_WITHIN_MS).default(10_000)

/** Which process this is; set in its Procfile line. */
export const kindEnv = z.object({ TRANSFER_KIND: z.enum(['deposit', 'withdrawal']) })

const sharedEnv = z.object({
  ...busEnv.shape,
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Directory of the two databases: `<kind>s.db` and `<kind>-transactions.db`. */
  DATA_DIR: z.string().min(1),
  LOCAL_CHAIN: localChain,
  LOG_LEVEL: z.string().default('info'),
})

/** Settings of deposit-submitter, by the names of its environment. */
export const depositEnv = sharedEnv.extend({
  /** File with the key of an account that matching accepts as a trade executor; deposits are off without a key. */
  DEPOSIT_SUBMITTER_KEY_FILE: z.string().min(1).optional(),
  /** The same key in the environment. */
  DEPOSIT_SUBMITTER_PRIVATE_KEY: keyText.optional(),
  /** Nothing is submitted that could take the key's balance below this, in wei. */
  DEPOSIT_GAS_RESERVE_WEI: weiText(GAS_RESERVE_WEI),
  /** Most gas paid for deposits and their permits in an hour, in wei. */
  DEPOSIT_GAS_BUDGET_WEI_PER_HOUR: weiText(GAS_BUDGET_WEI_PER_HOUR),
  /** How long a request waits for its receipt before it is answered without one. */
  DEPOSIT_WAIT_MS: waitMs,
})

/** Settings of withdrawal-submitter, with the same meanings. */
export const withdrawalEnv = sharedEnv.extend({
  WITHDRAWAL_SUBMITTER_KEY_FILE: z.string().min(1).optional(),
  WITHDRAWAL_SUBMITTER_PRIVATE_KEY: keyText.optional(),
  WITHDRAWAL_GAS_RESERVE_WEI: weiText(GAS_RESERVE_WEI),
  WITHDRAWAL_GAS_BUDGET_WEI_PER_HOUR: weiText(GAS_BUDGET_WEI_PER_HOUR),
  WITHDRAWAL_WAIT_MS: waitMs,
})

/** The settings of one submitter, under names that do not depend on its kind. */
export interface SubmitterConfig extends Readonly<z.infer<typeof sharedEnv>> {
  readonly kind: TransferKind
  readonly key: KeySource | undefined
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  readonly answerWithinMs: number
}

/** Reads the settings of the kind that TRANSFER_KIND names. Throws BadConfiguration and CannotStart. */
export function readSubmitterConfig(): SubmitterConfig {
  const { TRANSFER_KIND: kind } = parseEnv(kindEnv, process.env)
  if (kind === 'deposit') {
    const env = parseEnv(depositEnv, process.env)
    return {
      ...env,
      kind,
      key: keySourceOf({
        name: 'DEPOSIT_SUBMITTER',
        file: env.DEPOSIT_SUBMITTER_KEY_FILE,
        privateKey: env.DEPOSIT_SUBMITTER_PRIVATE_KEY,
        localChain: env.LOCAL_CHAIN,
      }),
      reserveWei: env.DEPOSIT_GAS_RESERVE_WEI,
      hourBudgetWei: env.DEPOSIT_GAS_BUDGET_WEI_PER_HOUR,
      answerWithinMs: env.DEPOSIT_WAIT_MS,
    }
  }
  const env = parseEnv(withdrawalEnv, process.env)
  return {
    ...env,
    kind,
    key: keySourceOf({
      name: 'WITHDRAWAL_SUBMITTER',
      file: env.WITHDRAWAL_SUBMITTER_KEY_FILE,
      privateKey: env.WITHDRAWAL_SUBMITTER_PRIVATE_KEY,
      localChain: env.LOCAL_CHAIN,
    }),
    reserveWei: env.WITHDRAWAL_GAS_RESERVE_WEI,
    hourBudgetWei: env.WITHDRAWAL_GAS_BUDGET_WEI_PER_HOUR,
    answerWithinMs: env.WITHDRAWAL_WAIT_MS,
  }
}
