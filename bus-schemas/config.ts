import { z } from 'zod'
import { parseEnv } from './parse-env.js'

/** Settings of the shell that every process runs in, by the names of its environment. */
export const processEnv = z.object({
  /** `1`: the launcher holds this process's standard input open, and its end means that the launcher is gone. */
  PARENT_WATCH: z.enum(['0', '1']).default('0'),
})

export type ProcessConfig = Readonly<z.infer<typeof processEnv>>

/** Throws BadConfiguration. */
export function readProcessConfig(): ProcessConfig {
  return parseEnv(processEnv, process.env)
}
