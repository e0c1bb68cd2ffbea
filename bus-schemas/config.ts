import { z } from 'zod'

/** What the shell of every process reads from its environment. */
export interface ProcessConfig {
  /** The launcher holds this process's standard input open: its end means that the launcher is gone. */
  readonly watchParent: boolean
}

const schema = z.object({ PARENT_WATCH: z.enum(['0', '1', '']).default('0') })

/** Reads PARENT_WATCH (`0` or `1`, default `0`); throws an error that names the variable for another value. */
export function readProcessConfig(env: NodeJS.ProcessEnv = process.env): ProcessConfig {
  const result = schema.safeParse(env)
  if (!result.success) throw new Error(`PARENT_WATCH must be 0 or 1, got ${env.PARENT_WATCH}`)
  return Object.freeze({ watchParent: result.data.PARENT_WATCH === '1' })
}
