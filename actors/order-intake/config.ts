import { z } from 'zod'
import { parseEnv } from '../../bus-schemas/parse-env.js'

/** Settings of order-intake, by the names of its environment. */
export const orderIntakeEnv = z.object({
  NATS_URL: z.string().min(1),
  NATS_MONITOR_URL: z.url().optional(),
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** Directory that holds intake.db. */
  DATA_DIR: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** `required` refuses cancels that do not prove who sends them; advised wherever strangers can reach the gateway. */
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
