import { z } from 'zod'
import { GAS_BUDGET_WEI_PER_HOUR, GAS_RESERVE_WEI, weiText } from '../../chain/lane/gas-settings.js'
import { keySourceOf, keyText, localChain, type KeySource } from '../../chain/signing/key-file.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import { parseEnv } from '../../runtime/process/config.js'

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
  LOG_LEVEL: z.string().default('info'),
})

export interface KeeperConfig extends Readonly<z.infer<typeof keeperEnv>> {
  /** Undefined where the keeper is off. */
  readonly key: KeySource | undefined
}

/** Throws BadConfiguration and CannotStart. */
export function readKeeperConfig(): KeeperConfig {
  const env = parseEnv(keeperEnv, process.env)
  const { KEEPER_KEY_FILE: file, KEEPER_PRIVATE_KEY: privateKey, LOCAL_CHAIN } = env
  return {
    ...env,
    key: keySourceOf({ name: 'KEEPER', file, privateKey, localChain: LOCAL_CHAIN }),
  }
}
