import { z } from 'zod'
import { accessEnv } from '../../runtime/bus/nats-access.js'
import { futuresCalendar, MAX_TIMER_SEC, parseEnv } from '../../runtime/process/config.js'

/** Settings of the price feeder, by the names of its environment. */
export const feederEnv = z.object({
  RPC_URL: z.url(),
  /** JSON file with the devnet's addresses. */
  DEPLOYMENT_FILE: z.string().min(1),
  /** `prices.json` is looked for here. */
  DATA_DIR: z.string().min(1),
  /** Signs the prices and pays for their transactions. */
  FEEDER_PRIVATE_KEY: z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)]),
  /** Opens the series of futures; without it none is opened. */
  SERIES_OWNER_PRIVATE_KEY: z
    .templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)])
    .optional(),
  FUTURES_CALENDAR: futuresCalendar,
  /** The bus of the venue whose series are opened; without it none is. */
  ...accessEnv.shape,
  NATS_URL: z.string().min(1).optional(),
  /** Seconds between updates of unchanged prices; shorter than the feeds' heartbeat. */
  FEEDER_EVERY_S: z.coerce.number().int().min(1).max(MAX_TIMER_SEC).default(60),
  LOG_LEVEL: z.string().default('info'),
})

export type FeederConfig = Readonly<z.infer<typeof feederEnv>>

/** The settings that the feeder gives to a command of the operator: its own without its keys. */
export const commandEnvironment = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.endsWith('_PRIVATE_KEY')))

/** Throws BadConfiguration. */
export function readFeederConfig(): FeederConfig {
  return parseEnv(feederEnv, process.env)
}
