import { z } from 'zod'
import { parseEnv } from '../../bus-schemas/parse-env.js'

/** Settings of a matcher, by the names of its environment. */
export const matcherEnv = z.object({
  /** Canonical name of the market this process runs. */
  MARKET: z.string().min(1),
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  DEPLOYMENT_FILE: z.string().min(1),
  EXECUTOR_URL: z.url(),
  EXECUTOR_SECRET: z.string().min(1).optional(),
  /** How long to wait for one answer of the executor; longer than it waits for a receipt itself. */
  EXECUTOR_TIMEOUT_MS: z.coerce.number().int().positive().default(40_000),
  LOG_LEVEL: z.string().default('info'),
})

export type MatcherConfig = Readonly<z.infer<typeof matcherEnv>>

/** Throws BadConfiguration. */
export function readMatcherConfig(): MatcherConfig {
  return parseEnv(matcherEnv, process.env)
}
