import { join } from 'node:path'
import { z } from 'zod'
import { busEnv } from '../runtime/bus/nats-access.js'
import {
  futuresCalendar,
  MAX_COUNT,
  ordersPerSecond,
  parseEnv,
  trustedProxies,
  urlList,
} from '../runtime/process/config.js'
import { allowedOrigins, originsEnv } from '../runtime/http/origins.js'
import { SERVER_LIMITS, type ServerLimits } from '../runtime/http/server.js'
import type { GatewayDeps } from './context.js'
import { createOrderRate } from '../runtime/process/order-rate.js'
import { LARGE_READ_LIMITS } from './reads-in-flight.js'

const MAX_PORT = 65_535

const unifiedId = z.coerce.number().int().min(1).max(MAX_COUNT).optional()

/** Settings of the gateway, by the names of its environment. */
export const gatewayEnv = z.object({
  GATEWAY_PORT: z.coerce.number().int().min(0).max(MAX_PORT).default(8080),
  /** Address to listen on; beyond loopback a TLS proxy belongs in front. */
  GATEWAY_HOST: z.string().default('127.0.0.1'),
  /** Number of trusted proxies in front; they wrote the last so many entries of X-Forwarded-For. */
  TRUSTED_PROXIES: trustedProxies,
  /** Open connections of one client address that is not of this machine; behind a proxy, which sees the address, none. */
  GATEWAY_MAX_CONNECTIONS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_COUNT)
    .default(SERVER_LIMITS.maxConnectionsPerAddress),
  /** Whole books and pages of history in flight for one client address. */
  GATEWAY_MAX_LARGE_READS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_COUNT)
    .default(LARGE_READ_LIMITS.maxPerAddress),
  GATEWAY_ORDERS_PER_SECOND_PER_OWNER: ordersPerSecond,
  ...originsEnv.shape,
  ...busEnv.shape,
  /** Directory of history.db, which the gateway only reads. */
  DATA_DIR: z.string().min(1),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Without it, market entries show nothing of the chain. */
  RPC_URL: z.url().optional(),
  /**
   * What wallets are told of the chain: its name, a public node and a block explorer. The node of RPC_URL is the venue's own and is
   * named to no one.
   */
  CHAIN_NAME: z.string().min(1).max(64).optional(),
  CHAIN_RPC_URL: z.url().optional(),
  CHAIN_EXPLORER_URL: z.url().optional(),
  /** The tokens' ids at CoinMarketCap, which listing sites are told; without them none are. */
  UNIFIED_ID_USDC: unifiedId,
  UNIFIED_ID_CNGN: unifiedId,
  /** Several, separated by commas: one of them leads. */
  EXECUTOR_URL: urlList,
  /** Comma-separated URLs of the fan-out's workers. */
  WS_FANOUT_URL: urlList,
  /** Where demo accounts are given; set by the launcher of a devnet. Without it there are none. */
  DEMO_ACCOUNTS_URL: z.url().optional(),
  /** When deprecated market identifiers stop resolving, as an ISO time. */
  ALIAS_CUTOFF: z.iso
    .datetime({ offset: true })
    .default('2027-01-06T00:00:00Z')
    .transform((time) => Date.parse(time)),
  /** Which series of dated futures follow each other: the next one is shown as a metric while it is not listed. */
  FUTURES_CALENDAR: futuresCalendar,
  /** Domain and product name in the text of message-signed frames, and the header that carries a frame. */
  AUTH_DOMAIN: z.string().min(1).default('localhost'),
  AUTH_PRODUCT: z.string().min(1).default('service'),
  AUTH_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .default('X-Service-Auth'),
  /** The token of reports on the index, and the header that carries it; without the token none are taken. */
  INDEX_STATUS_SECRET: z.string().min(1).optional(),
  INDEX_STATUS_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .default('X-Index-Token'),
  LOG_LEVEL: z.string().default('info'),
})

export type GatewayConfig = Readonly<z.infer<typeof gatewayEnv>>

/** Throws BadConfiguration. */
export function readGatewayConfig(): GatewayConfig {
  return parseEnv(gatewayEnv, process.env)
}

/** What of the settings the routes need: names and words that clients use, and the proxies in front. */
export const wordsOf = (
  config: GatewayConfig,
): Pick<
  GatewayDeps,
  | 'aliasCutoffMs'
  | 'isAllowedOrigin'
  | 'auth'
  | 'indexToken'
  | 'trustedProxies'
  | 'largeReads'
  | 'orderRate'
  | 'devnetFile'
  | 'chain'
  | 'unifiedIds'
  | 'devnet'
  | 'demoUrl'
> => ({
  aliasCutoffMs: config.ALIAS_CUTOFF,
  isAllowedOrigin: allowedOrigins(config),
  auth: {
    header: config.AUTH_HEADER,
    words: { domain: config.AUTH_DOMAIN, product: config.AUTH_PRODUCT },
  },
  indexToken:
    config.INDEX_STATUS_SECRET === undefined
      ? undefined
      : { header: config.INDEX_STATUS_HEADER, value: config.INDEX_STATUS_SECRET },
  trustedProxies: config.TRUSTED_PROXIES,
  orderRate: createOrderRate({ perSec: config.GATEWAY_ORDERS_PER_SECOND_PER_OWNER }),
  chain: {
    name: config.CHAIN_NAME,
    rpc_url: config.CHAIN_RPC_URL,
    explorer_url: config.CHAIN_EXPLORER_URL,
  },
  unifiedIds: { USDC: config.UNIFIED_ID_USDC, cNGN: config.UNIFIED_ID_CNGN },
  ...devnetOf(config),
  devnetFile: join(config.DATA_DIR, 'devnet.json'),
  largeReads: { maxPerAddress: config.GATEWAY_MAX_LARGE_READS_PER_ADDRESS },
})

const devnetOf = ({
  DEMO_ACCOUNTS_URL: demoUrl,
}: GatewayConfig): Pick<GatewayDeps, 'devnet' | 'demoUrl'> =>
  demoUrl === undefined ? {} : { demoUrl, devnet: { demo_accounts: '/v1/devnet/demo' } }

/** By which calendar and clock the next series is due. */
export const seriesOf = (config: GatewayConfig) => ({
  calendar: config.FUTURES_CALENDAR,
  nowMs: Date.now,
})

/** What the relay of sockets needs. */
export const relayed = (config: GatewayConfig) => ({
  fanoutUrls: config.WS_FANOUT_URL,
  trustedProxies: config.TRUSTED_PROXIES,
})

/** The proxies' own connections are not counted by address. */
export const connectionLimits = (config: GatewayConfig): Partial<ServerLimits> => ({
  maxConnectionsPerAddress:
    config.TRUSTED_PROXIES > 0 ? Infinity : config.GATEWAY_MAX_CONNECTIONS_PER_ADDRESS,
})
