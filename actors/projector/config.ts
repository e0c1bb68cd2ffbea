import { z } from 'zod'
import { busEnv } from '../../runtime/bus/nats-access.js'
import { parseEnv } from '../../runtime/process/config.js'

/** Settings of the projector, by the names of its environment. */
export const projectorEnv = z.object({
  ...busEnv.shape,
  /** The archive of the feeds; absent: they are read from the bus alone. */
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  /** What is older goes into the archive and is trimmed. Fewer days than history keeps an order without a fill; absent: nothing. */
  FEED_KEEP_DAYS: z.coerce.number().int().min(1).max(29).optional(),
  /** Directory that holds history.db. */
  DATA_DIR: z.string().min(1),
  LOG_LEVEL: z.string().default('info'),
})

export type ProjectorConfig = Readonly<z.infer<typeof projectorEnv>>

/** Throws BadConfiguration. */
export function readProjectorConfig(): ProjectorConfig {
  return parseEnv(projectorEnv, process.env)
}
