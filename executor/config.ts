import { z } from 'zod'
import { parseEnv } from '../bus-schemas/parse-env.js'
import type { Hex } from '../core/action.js'

const LOOPBACK = new Set(['127.0.0.1', '::1', 'localhost'])

/** Settings of the executor, by the names of its environment. */
export const executorEnv = z
  .object({
    EXECUTOR_PORT: z.coerce.number().int().min(0).max(65_535).default(8081),
    EXECUTOR_HOST: z.string().default('127.0.0.1'),
    /** Key of an account that matching knows as a trade executor; it pays the gas. */
    EXECUTOR_PRIVATE_KEY: z.custom<Hex>(
      (value) => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value),
      'must be 0x and 64 hex digits',
    ),
    /** What callers must show as `Authorization: Bearer …`. */
    EXECUTOR_SECRET: z.string().min(1).optional(),
    RPC_URL: z.url(),
    DEPLOYMENT_FILE: z.string().min(1),
    DATA_DIR: z.string().min(1),
    /** How long a request waits for the receipt before it is answered without. */
    EXECUTE_TIMEOUT_MS: z.coerce.number().int().min(100).max(120_000).default(10_000),
    /** How long a batch is gathered beyond what comes while the last one is tried out. */
    EXECUTOR_BATCH_WINDOW_MS: z.coerce.number().int().min(0).max(1_000).default(0),
    /** Gas money in wei that the signer keeps; nothing new is sent that would touch it. */
    EXECUTOR_GAS_RESERVE_WEI: z
      .string()
      .regex(/^[0-9]{1,30}$/, 'must be a whole number of wei')
      .transform((text) => BigInt(text))
      .default(10n ** 16n),
    /** Nonces of the key that the chain may have seen used without the journal knowing of them. */
    EXECUTOR_ACCEPT_NONCES: z.coerce.number().int().min(0).default(0),
    LOG_LEVEL: z.string().default('info'),
  })
  .refine((env) => env.EXECUTOR_SECRET !== undefined || LOOPBACK.has(env.EXECUTOR_HOST), {
    path: ['EXECUTOR_SECRET'],
    message: 'is required unless EXECUTOR_HOST is a loopback address',
  })

export type ExecutorConfig = Readonly<z.infer<typeof executorEnv>>

/** Throws BadConfiguration. */
export function readExecutorConfig(): ExecutorConfig {
  return parseEnv(executorEnv, process.env)
}
