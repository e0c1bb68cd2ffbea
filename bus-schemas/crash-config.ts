import { z } from 'zod'
import { CRASH_POINTS } from '../core/crash-point.js'
import type { CrashPoint } from '../core/crash-point.js'
import { parseEnv } from './parse-env.js'

/** Where a process under test is to end itself. */
export interface CrashAt {
  readonly point: CrashPoint
  /** At which passing of the point, from 1. */
  readonly passing: number
}

const FORM = /^([\w.]+?)(?::([1-9][0-9]*))?$/

const crashAt = z.string().transform((text, ctx): CrashAt => {
  const [, name, passing = '1'] = FORM.exec(text) ?? []
  const point = CRASH_POINTS.find((each) => each === name)
  if (point !== undefined) return { point, passing: parseInt(passing, 10) }
  ctx.addIssue('must be a crash point of core/crash-point.ts, and may end with :<passing>')
  return z.NEVER
})

/** Not in .env.example: a setting of tests, which no operator has a use for. */
const crashEnv = z.object({ NODE_ENV: z.string().optional(), CRASH_AT: crashAt.optional() })

/** The crash that a test asked for; undefined outside tests (NODE_ENV=test). Throws BadConfiguration. */
export function readCrashAt(env: NodeJS.ProcessEnv = process.env): CrashAt | undefined {
  if (env.NODE_ENV !== 'test') return undefined
  return parseEnv(crashEnv, env).CRASH_AT
}
