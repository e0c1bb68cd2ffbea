import { z } from 'zod'
import type { ExecutorAddress } from './ask-executor.js'
import { parseEnv } from '../../bus-schemas/parse-env.js'

const positiveInt = z.coerce.number().int().positive()

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
  EXECUTOR_TIMEOUT_MS: positiveInt.default(40_000),
  /** A settlement that has had no outcome for so long is told in the log and on the health page. */
  SETTLEMENT_LATE_SECONDS: positiveInt.default(60),
  /** `1`: follows the market's leader and takes over when it is gone. */
  STANDBY: z.enum(['0', '1']).default('0'),
  /** A checkpoint is written after so many commands, or so many seconds, whichever comes first. */
  CHECKPOINT_COMMANDS: positiveInt.default(100_000),
  CHECKPOINT_SECONDS: positiveInt.default(600),
  /** How long the command log is kept at least. */
  COMMANDS_KEEP_HOURS: positiveInt.default(168),
  LOG_LEVEL: z.string().default('info'),
})

export type MatcherConfig = Readonly<z.infer<typeof matcherEnv>>

/** Throws BadConfiguration. */
export function readMatcherConfig(): MatcherConfig {
  return parseEnv(matcherEnv, process.env)
}

/** Where the executor is, and how long it is waited for. */
export function executorOf(config: MatcherConfig): ExecutorAddress {
  return {
    url: config.EXECUTOR_URL,
    secret: config.EXECUTOR_SECRET,
    timeoutMs: config.EXECUTOR_TIMEOUT_MS,
  }
}
