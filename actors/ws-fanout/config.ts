import { z } from 'zod'
import { originsEnv } from '../../runtime/http/origins.js'
import { busEnv } from '../../runtime/bus/nats-access.js'
import {
  MAX_COUNT,
  ordersPerSecond,
  parseEnv,
  trustedProxies,
} from '../../runtime/process/config.js'
import { SESSION_LIMITS } from './limits.js'

const MAX_PORT = 65_535
const MAX_WORKERS = 64

/** Settings of the fan-out, by the names of its environment. */
export const wsFanoutEnv = z.object({
  WS_FANOUT_PORT: z.coerce.number().int().min(0).max(MAX_PORT),
  /** Address to listen on; the gateway's relay uses loopback. Beyond it a TLS proxy belongs in front. */
  WS_FANOUT_HOST: z.string().default('127.0.0.1'),
  /** Processes that share the port; each holds what all of them show. */
  WS_FANOUT_WORKERS: z.coerce.number().int().min(1).max(MAX_WORKERS).default(1),
  /** The number of a worker, from 1; set for each of several. */
  WS_FANOUT_WORKER: z.coerce.number().int().min(1).max(MAX_WORKERS).default(1),
  /**
   * Number of trusted proxies in front, besides the gateway; they wrote the last so many entries of X-Forwarded-For. One on
   * this machine is trusted in any case.
   */
  WS_FANOUT_TRUSTED_PROXIES: trustedProxies,
  ...busEnv.shape,
  /** The archive of the feeds; absent: they are read from the bus alone. */
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Without it balances are not served. */
  RPC_URL: z.url().optional(),
  ...originsEnv.shape,
  /** The same as of the gateway. */
  GATEWAY_ORDERS_PER_SECOND_PER_OWNER: ordersPerSecond,
  /** Open sockets of this process, and of one client address that is not loopback. */
  WS_MAX_SOCKETS: z.coerce.number().int().min(1).max(MAX_COUNT).default(SESSION_LIMITS.maxSockets),
  WS_MAX_SOCKETS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_COUNT)
    .default(SESSION_LIMITS.maxSocketsPerAddress),
  /** When deprecated market identifiers stop resolving, as an ISO time. */
  ALIAS_CUTOFF: z.iso
    .datetime({ offset: true })
    .default('2027-01-06T00:00:00Z')
    .transform((time) => Date.parse(time)),
  /** The domain and the product's name in the text of auth frames. */
  AUTH_DOMAIN: z.string().min(1).default('localhost'),
  AUTH_PRODUCT: z.string().min(1).default('service'),
  LOG_LEVEL: z.string().default('info'),
})

export type WsFanoutConfig = Readonly<z.infer<typeof wsFanoutEnv>>

/** Throws BadConfiguration. */
export function readWsFanoutConfig(): WsFanoutConfig {
  return parseEnv(wsFanoutEnv, process.env)
}
