import { z } from 'zod'
import { addressText } from '../../chain/reads/deployment.js'
import { readFrameHeader } from '../../chain/signing/verify-frame.js'
import type { IndexLagLimit } from '../../core/contracts/index-lag.js'
import { checkOperator, operatorKeys } from '../../runtime/bus/check-operator.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import { MAX_COUNT, parseEnv, standby } from '../../runtime/process/config.js'

/** What a file system can hold. */
const MAX_DISK_BYTES = BigInt(Number.MAX_SAFE_INTEGER)

/** Settings of order-intake, by the names of its environment. */
export const orderIntakeEnv = z.object({
  ...busEnv.shape,
  /** The archive of the feeds; absent: they are read from the bus alone. */
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** From where matches are sent; contract wallets are asked in a call of it. Absent: of the zero address. */
  EXECUTOR_ADDRESS: addressText.optional(),
  /** The market file that a venue without a register begins with; absent: the one that ships with the venue. */
  MARKETS_FILE: z.string().min(1).optional(),
  /** Who may register markets; without any no registration is taken. */
  OPERATOR_KEYS: operatorKeys,
  /** Directory that holds intake.db. */
  DATA_DIR: z.string().min(1),
  /** Whether new orders of perpetuals wait for the index to agree with samples from outside: `watch` only shows it. */
  INDEX_LAG: z.enum(['off', 'watch', 'enforce']).default('off'),
  INDEX_LAG_MAX_BPS: z.coerce.number().int().min(0).max(10_000).default(100),
  /** An older sample counts as none. */
  INDEX_LAG_MAX_AGE_SECONDS: z.coerce.number().int().min(1).max(MAX_COUNT).default(300),
  /** Free bytes, and per mille of the file system, below which no new orders are taken: the greater of both. */
  DISK_RESERVE_BYTES: z.coerce.bigint().min(0n).max(MAX_DISK_BYTES).default(1_073_741_824n),
  DISK_RESERVE_PERMILLE: z.coerce.bigint().min(0n).max(1_000n).default(20n),
  /** `1`: follows the intake that takes orders, and takes over when it is gone. */
  STANDBY: standby,
  LOG_LEVEL: z.string().default('info'),
  /** `required` refuses cancels without a proof; recommended wherever the gateway is public. */
  CANCEL_AUTH: z.enum(['open', 'required']).default('open'),
  /** The domain and the product's name in the text of message-signed frames. */
  AUTH_DOMAIN: z.string().min(1).default('localhost'),
  AUTH_PRODUCT: z.string().min(1).default('service'),
  /** Comma-separated prefixes of order ids that a service-tagged cancel may not touch. */
  PROTECTED_ORDER_ID_PREFIXES: z
    .string()
    .default('validation:,smoke:,manual:')
    .transform((list) => list.split(',').map((prefix) => prefix.trim()))
    .transform((prefixes) => prefixes.filter((prefix) => prefix !== '')),
})

export type OrderIntakeConfig = Readonly<z.infer<typeof orderIntakeEnv>>

/** Throws BadConfiguration. */
export function readOrderIntakeConfig(): OrderIntakeConfig {
  return parseEnv(orderIntakeEnv, process.env)
}

/** Undefined when the lag of the index is not looked at. */
const indexLimitOf = (config: OrderIntakeConfig): IndexLagLimit | undefined =>
  config.INDEX_LAG === 'off'
    ? undefined
    : {
        enforced: config.INDEX_LAG === 'enforce',
        maxBps: config.INDEX_LAG_MAX_BPS,
        maxAgeMs: config.INDEX_LAG_MAX_AGE_SECONDS * 1_000,
      }

/** Who may register markets and cancel which orders, how a frame shows who asks, and what a perpetual's index must be for an order. */
export function rulesOf(config: OrderIntakeConfig) {
  const words = { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT }
  return {
    operators: checkOperator({ keys: config.OPERATOR_KEYS, nowMs: Date.now }),
    protectedPrefixes: config.PROTECTED_ORDER_ID_PREFIXES,
    cancelAuth: config.CANCEL_AUTH,
    indexLimit: indexLimitOf(config),
    readFrame: (header: string) => readFrameHeader(header, { words, nowMs: Date.now }),
  }
}
