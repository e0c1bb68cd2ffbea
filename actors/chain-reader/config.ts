import { z } from 'zod'
import { busEnv } from '../../runtime/bus/nats-access.js'
import { parseEnv, standby } from '../../runtime/process/config.js'

/** Settings of chain-reader, by the names of its environment. */
export const chainReaderEnv = z.object({
  ...busEnv.shape,
  /** The archive of the feeds; absent: they are read from the bus alone. */
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  /** Directory that holds accounts.db; absent: no index of accounts is kept. */
  DATA_DIR: z.string().min(1).optional(),
  RPC_URL: z.url(),
  DEPLOYMENT_FILE: z.string().min(1),
  /** `1`: waits while another one works, and takes over when it is gone. */
  STANDBY: standby,
  LOG_LEVEL: z.string().default('info'),
})

export type ChainReaderConfig = Readonly<z.infer<typeof chainReaderEnv>>

/** Throws BadConfiguration. */
export function readChainReaderConfig(): ChainReaderConfig {
  return parseEnv(chainReaderEnv, process.env)
}
