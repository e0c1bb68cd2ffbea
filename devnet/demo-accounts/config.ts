import { z } from 'zod'
import { parseEnv } from '../../runtime/process/config.js'

const MAX_PORT = 65_535

/** Settings of the process that gives demo accounts, by the names of its environment. */
export const demoAccountsEnv = z.object({
  RPC_URL: z.url(),
  /** JSON file with the devnet's addresses. */
  DEPLOYMENT_FILE: z.string().min(1),
  /** On 127.0.0.1; the gateway asks here. */
  DEMO_ACCOUNTS_PORT: z.coerce.number().int().min(0).max(MAX_PORT),
  /** Owns the contract that gives them, and has no other sender. */
  DEMO_ACCOUNTS_PRIVATE_KEY: z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
  LOG_LEVEL: z.string().default('info'),
})

export type DemoAccountsConfig = Readonly<z.infer<typeof demoAccountsEnv>>

/** Throws BadConfiguration. */
export function readDemoAccountsConfig(): DemoAccountsConfig {
  return parseEnv(demoAccountsEnv, process.env)
}
