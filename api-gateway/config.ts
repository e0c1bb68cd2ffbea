import { z } from 'zod'
import { parseEnv } from '../bus-schemas/parse-env.js'

const MAX_PORT = 65_535
const MAX_PROXIES = 10

/** Settings of the gateway, by the names of its environment. */
export const gatewayEnv = z.object({
  GATEWAY_PORT: z.coerce.number().int().min(0).max(MAX_PORT).default(8080),
  /** Address to listen on; beyond loopback a proxy that ends TLS belongs in front. */
  GATEWAY_HOST: z.string().default('127.0.0.1'),
  /** How many proxies of one's own stand in front; the last so many entries of X-Forwarded-For are theirs. */
  TRUSTED_PROXIES: z.coerce.number().int().min(0).max(MAX_PROXIES).default(0),
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  /** Directory that holds history.db, which the gateway only reads. */
  DATA_DIR: z.string().min(1),
  DEPLOYMENT_FILE: z.string().min(1),
  EXECUTOR_URL: z.url().transform((url) => new URL(url)),
  /** Comma-separated addresses of the fan-out's workers. */
  WS_FANOUT_URL: z
    .string()
    .transform((list) => list.split(',').map((url) => url.trim()))
    .pipe(z.array(z.url().transform((url) => new URL(url))).min(1)),
  /** When deprecated market identifiers stop resolving, as an ISO time. */
  ALIAS_CUTOFF: z.iso
    .datetime({ offset: true })
    .default('2027-01-06T00:00:00Z')
    .transform((time) => Date.parse(time)),
  /** The domain and the product's name in the text of message-signed frames, and the header they come in. */
  AUTH_DOMAIN: z.string().min(1).default('localhost'),
  AUTH_PRODUCT: z.string().min(1).default('service'),
  AUTH_HEADER: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/)
    .default('X-Service-Auth'),
  LOG_LEVEL: z.string().default('info'),
})

export type GatewayConfig = Readonly<z.infer<typeof gatewayEnv>>

/** Throws BadConfiguration. */
export function readGatewayConfig(): GatewayConfig {
  return parseEnv(gatewayEnv, process.env)
}
