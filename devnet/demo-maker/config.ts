import { z } from 'zod'
import { parseEnv } from '../../runtime/process/config.js'

/** Settings of the demo market maker, by the names of its environment. */
export const demoMakerEnv = z.object({
  GATEWAY_URL: z.url(),
  /** JSON file with `chain_id` and `matching`, for the domain that orders are signed on. */
  DEPLOYMENT_FILE: z.string().min(1),
  DEMO_MAKER_PRIVATE_KEY: z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
  DEMO_MAKER_SUBACCOUNT_ID: z.string().regex(/^[0-9]+$/),
  DEMO_MAKER_MARKET: z.string().min(1).default('cNGN-USDC'),
  /** An account under the perpetual's manager; without it, only the spot market is quoted. */
  DEMO_MAKER_PERP_SUBACCOUNT_ID: z
    .string()
    .regex(/^[0-9]+$/)
    .optional(),
  DEMO_MAKER_PERP_MARKET: z.string().min(1).default('cNGN-PERP'),
  LOG_LEVEL: z.string().default('info'),
})

export type DemoMakerConfig = Readonly<z.infer<typeof demoMakerEnv>>

/** Throws BadConfiguration. */
export function readDemoMakerConfig(): DemoMakerConfig {
  return parseEnv(demoMakerEnv, process.env)
}
