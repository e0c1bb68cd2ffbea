import { z } from 'zod'
import { parseEnv } from '../../runtime/process/config.js'
import { SESSION_LIMITS } from './limits.js'

const MAX_PORT = 65_535

/** Settings of the fan-out, by the names of its environment. */
export const wsFanoutEnv = z.object({
  /** Loopback port on which the gateway reaches this process. */
  WS_FANOUT_PORT: z.coerce.number().int().min(0).max(MAX_PORT),
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** The market file; absent: the one that ships with the venue. */
  MARKETS_FILE: z.string().min(1).optional(),
  /** Comma-separated origins of browsers that may connect; `*` is all of them, nothing is none of them. */
  WS_ALLOWED_ORIGINS: z
    .string()
    .default('')
    .transform((list) => list.split(',').map((origin) => origin.trim()))
    .transform((origins) => origins.filter((origin) => origin !== '')),
  /** Open sockets of this process, and of one client address that is not loopback. */
  WS_MAX_SOCKETS: z.coerce.number().int().min(1).default(SESSION_LIMITS.maxSockets),
  WS_MAX_SOCKETS_PER_ADDRESS: z.coerce
    .number()
    .int()
    .min(1)
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
