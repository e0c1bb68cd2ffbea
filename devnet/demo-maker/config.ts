import { z } from 'zod'
import { parseEnv } from '../../runtime/process/config.js'

/** A subaccount, or two: the second one takes quotes of the first. */
const subaccounts = z
  .string()
  .regex(/^[0-9]{1,78}(,[0-9]{1,78})?$/, 'must be one subaccount id, or two')

/** Settings of the demo market maker, by the names of its environment. */
export const demoMakerEnv = z.object({
  GATEWAY_URL: z.url(),
  /** JSON file with `chain_id` and `matching`, for the domain that orders are signed on. */
  DEPLOYMENT_FILE: z.string().min(1),
  /** Holds the count of the orders that have taken quotes. */
  DATA_DIR: z.string().min(1).default('./var'),
  DEMO_MAKER_PRIVATE_KEY: z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
  /** For spot markets and futures, which share an account. */
  DEMO_MAKER_SUBACCOUNT_ID: subaccounts,
  /** Under the perpetual's manager; without it perpetuals are not quoted. */
  DEMO_MAKER_PERP_SUBACCOUNT_ID: subaccounts.optional(),
  /** Whether the second accounts take quotes. */
  DEMO_FLOW: z
    .enum(['0', '1'])
    .default('1')
    .transform((text) => text === '1'),
  /** Seed of the prices and of the orders that take quotes. */
  DEMO_SEED: z.coerce.number().int().min(0).max(4_294_967_295).default(1),
  LOG_LEVEL: z.string().default('info'),
})

export type DemoMakerConfig = Readonly<z.infer<typeof demoMakerEnv>>

/** Throws BadConfiguration. */
export function readDemoMakerConfig(): DemoMakerConfig {
  return parseEnv(demoMakerEnv, process.env)
}
