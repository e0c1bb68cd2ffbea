import { z } from 'zod'

const schema = z.object({
  /** Loopback port on which the gateway reaches this process. */
  WS_FANOUT_PORT: z.coerce.number().int().min(0).max(65_535),
  NATS_URL: z.string().min(1),
  /** JSON file with the deployment's addresses. */
  DEPLOYMENT_FILE: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
  /** Comma-separated origins of browsers that may connect; `*` is all of them, nothing is none of them. */
  WS_ALLOWED_ORIGINS: z
    .string()
    .default('')
    .transform((list) => list.split(',').map((origin) => origin.trim()))
    .transform((origins) => origins.filter((origin) => origin !== '')),
})

/** Settings of the fan-out. */
export interface Config {
  readonly port: number
  readonly natsUrl: string
  readonly deploymentFile: string
  readonly logLevel: string
  readonly allowedOrigins: readonly string[]
}

/** Reads the settings from the environment; throws an error that names every bad one. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const parsed = schema.safeParse(env)
  if (!parsed.success) throw new Error(`ws-fanout: ${z.prettifyError(parsed.error)}`)
  return Object.freeze({
    port: parsed.data.WS_FANOUT_PORT,
    natsUrl: parsed.data.NATS_URL,
    deploymentFile: parsed.data.DEPLOYMENT_FILE,
    logLevel: parsed.data.LOG_LEVEL,
    allowedOrigins: parsed.data.WS_ALLOWED_ORIGINS,
  })
}
