import { z } from 'zod'
import { keySourceOf, keyText, localChain, type KeySource } from '../chain/signing/key-file.js'
import { parseStored } from '../core/decimal.js'
import { E18, quoteE18 } from '../core/money.js'
import { busEnv } from '../runtime/bus/nats-access.js'
import { BadConfiguration, MAX_COUNT, parseEnv } from '../runtime/process/config.js'
import { executorSecretEnv, executorSecretOf } from '../runtime/process/shared-secret.js'
import type { DoorRules } from './door.js'
import { LOST_GAS_PER_HOUR } from './lost-gas.js'

/** Text of USDC, read at 1e18; at most a million. */
const usdc = (byDefault: string) =>
  z
    .string()
    .default(byDefault)
    .transform((text) => parseStored(text, 18))
    .refine((amount) => amount !== undefined && amount <= MAX_USDC, 'must be 0 to 1000000 of USDC')
    .transform((amount) => quoteE18(amount ?? 0n))
const MAX_USDC = 1_000_000n * E18

/** Settings of the executor, by the names of its environment. */
export const executorEnv = z.object({
  EXECUTOR_PORT: z.coerce.number().int().min(0).max(65_535).default(8081),
  EXECUTOR_HOST: z.string().default('127.0.0.1'),
  /** File with the key of an account that matching accepts as trade executor, or of the batch executor's operator; it pays the gas. */
  EXECUTOR_KEY_FILE: z.string().min(1).optional(),
  /** The same key in the environment, which more eyes see than a file. */
  EXECUTOR_PRIVATE_KEY: keyText.optional(),
  LOCAL_CHAIN: localChain,
  ...executorSecretEnv,
  /** Further names by which callers reach the executor, separated by commas. */
  EXECUTOR_HOST_NAMES: z
    .string()
    .default('')
    .transform((list) => list.split(',').map((name) => name.trim()))
    .transform((names): readonly string[] => names.filter((name) => name !== '')),
  ...busEnv.shape,
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  DATA_DIR: z.string().min(1),
  /** Longest wait of a request for its receipt. */
  EXECUTE_TIMEOUT_MS: z.coerce.number().int().min(100).max(120_000).default(10_000),
  /** How long a batch waits for more settlements, beyond the simulation of the previous batch. */
  EXECUTOR_BATCH_WINDOW_MS: z.coerce.number().int().min(0).max(1_000).default(0),
  /** Matches whose fee in USDC is less wait at most a block to share a transaction; 0: none waits. */
  EXECUTOR_SHARE_BELOW_FEE: usdc('0'),
  /** Price of a whole token in which the chain takes gas (1e18 wei): what a settlement costs is counted at it. */
  GAS_TOKEN_USDC: usdc('3000'),
  /** Gas that a signer that is code may lose in an hour for one owner, before its matches wait. */
  EXECUTOR_LOST_GAS_PER_HOUR: z
    .string()
    .regex(/^[1-9][0-9]{0,14}$/, 'must be a whole number of gas')
    .transform((text) => BigInt(text))
    .default(LOST_GAS_PER_HOUR),
  /** Balance in wei that the signer keeps for gas; nothing new is sent that would use it. */
  EXECUTOR_GAS_RESERVE_WEI: z
    .string()
    .regex(/^[0-9]{1,30}$/, 'must be a whole number of wei')
    .transform((text) => BigInt(text))
    .default(10n ** 16n),
  /** Nonces of the key that may have been used on chain without being in the journal. */
  EXECUTOR_ACCEPT_NONCES: z.coerce.number().int().min(0).max(MAX_COUNT).default(0),
  LOG_LEVEL: z.string().default('info'),
})

export interface ExecutorConfig extends Readonly<z.infer<typeof executorEnv>> {
  readonly key: KeySource
  readonly door: DoorRules
}

/** Throws BadConfiguration and CannotStart. */
export function readExecutorConfig(): ExecutorConfig {
  const env = parseEnv(executorEnv, process.env)
  const { EXECUTOR_KEY_FILE: file, EXECUTOR_PRIVATE_KEY: privateKey, LOCAL_CHAIN } = env
  const key = keySourceOf({ name: 'EXECUTOR', file, privateKey, localChain: LOCAL_CHAIN })
  if (key === undefined)
    throw new BadConfiguration('there is no key: set EXECUTOR_KEY_FILE (see .env.example)')
  const hosts = [env.EXECUTOR_HOST, ...env.EXECUTOR_HOST_NAMES]
  return { ...env, key, door: { secret: executorSecretOf(env), hosts } }
}

/** Shorter than the deadline of a stop; requests in flight are answered as soon as the executor stops. */
export const STOP_GRACE_MS = 3_500

/** Its clients are matchers, each with a connection for every match in flight. */
export const CONNECTION_LIMITS = { maxConnectionsPerAddress: Infinity }

/** The settings of the executor itself, by the names of its options. */
export const settingsOf = (config: ExecutorConfig) => ({
  rpcUrl: config.RPC_URL,
  dataDir: config.DATA_DIR,
  timeoutMs: config.EXECUTE_TIMEOUT_MS,
  gasReserveWei: config.EXECUTOR_GAS_RESERVE_WEI,
  acceptNonces: config.EXECUTOR_ACCEPT_NONCES,
  windowMs: config.EXECUTOR_BATCH_WINDOW_MS,
  shareBelowFee: config.EXECUTOR_SHARE_BELOW_FEE,
  gasTokenPrice: config.GAS_TOKEN_USDC,
  lostGasPerHour: config.EXECUTOR_LOST_GAS_PER_HOUR,
})
