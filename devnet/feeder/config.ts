import { z } from 'zod'
import { MAX_TIMER_SEC, parseEnv } from '../../runtime/process/config.js'

/** Settings of the price feeder, by the names of its environment. */
export const feederEnv = z.object({
  RPC_URL: z.url(),
  /** JSON file with the devnet's addresses. */
  DEPLOYMENT_FILE: z.string().min(1),
  /** `prices.json` is looked for here. */
  DATA_DIR: z.string().min(1),
  /** Signs the prices and pays for their transactions. */
  FEEDER_PRIVATE_KEY: z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
  /** Seconds between updates of unchanged prices; shorter than the feeds' heartbeat. */
  FEEDER_EVERY_S: z.coerce.number().int().min(1).max(MAX_TIMER_SEC).default(60),
  LOG_LEVEL: z.string().default('info'),
})

export type FeederConfig = Readonly<z.infer<typeof feederEnv>>

/** Throws BadConfiguration. */
export function readFeederConfig(): FeederConfig {
  return parseEnv(feederEnv, process.env)
}
