import { z } from 'zod'
import { readCalendar, type FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { CannotStart, faultsOf } from '../../core/cannot-start.js'
import { CRASH_POINTS, type CrashPoint } from '../../core/crash-point.js'

/** Settings of every process, by the names of its environment. */
export const processEnv = z.object({
  /** `1`: the launcher holds standard input open; when it ends, the launcher is gone and the process stops. */
  PARENT_WATCH: z.enum(['0', '1']).default('0'),
  /** What the process keeps; other users of the machine may read none of it. */
  DATA_DIR: z.string().min(1).optional(),
  /** Directory into which the process writes the address of its metrics; without it there are none. */
  METRICS_DIR: z.string().optional(),
  METRICS_HOST: z.string().default('127.0.0.1'),
  /** 0 takes a free one; another value fits a process that runs once on its machine. */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).default(0),
})

export type ProcessConfig = Readonly<z.infer<typeof processEnv>>

/** Throws BadConfiguration. */
export function readProcessConfig(): ProcessConfig {
  return parseEnv(processEnv, process.env)
}

/** The settings that name a file with a secret; `NATS_CREDENTIALS` may name a directory of such files. */
const NAMES_A_SECRET = /_(KEY|SECRET)_FILE$|^NATS_CREDENTIALS$/

/** What the settings that name a secret name. */
export const readSecretPaths = (env: NodeJS.ProcessEnv = process.env): string[] =>
  Object.entries(env).flatMap(([name, path = '']) =>
    NAMES_A_SECRET.test(name) && path !== '' ? [path] : [],
  )

/** The longest time of a timer, in milliseconds; a longer one would end at once. */
export const MAX_TIMER_MS = 2_147_483_647
/** The same in whole seconds. */
export const MAX_TIMER_SEC = 2_147_483
/** Most of anything that a setting counts, and the longest age in seconds: 30 years. */
export const MAX_COUNT = 1_000_000_000

const MAX_PROXIES = 10

/** Setting of a process with public clients: how many of our own proxies wrote the last entries of X-Forwarded-For. */
export const trustedProxies = z.coerce.number().int().min(0).max(MAX_PROXIES).default(0)

/** Setting of a process that takes orders: those a second of one owner, ten seconds' worth at once; 0: any number. */
export const ordersPerSecond = z.coerce.number().int().min(0).max(100_000).default(0)

/** Setting of the rule by which series of dated futures follow each other. */
export const futuresCalendar = z
  .string()
  .default('month-end')
  .transform((text, context): FuturesCalendar => {
    const read = readCalendar(text)
    if (typeof read === 'string' || !('problem' in read)) return read
    context.addIssue({ code: 'custom', message: read.problem })
    return z.NEVER
  })

const MOST_ACCOUNTS = 16

/** Setting with ids of accounts, separated by commas; none by default. */
export const accountList = z
  .string()
  .default('')
  .transform((text, context) => {
    const words = text.split(',').flatMap((word) => (word.trim() === '' ? [] : [word.trim()]))
    if (words.length <= MOST_ACCOUNTS && words.every((word) => /^[1-9][0-9]{0,18}$/.test(word)))
      return words.map(BigInt)
    context.addIssue({
      code: 'custom',
      message: `must be at most ${MOST_ACCOUNTS} ids of accounts, such as 12,13`,
    })
    return z.NEVER
  })

/** Setting with the addresses of several copies of a process, separated by commas; at least one. */
export const urlList = z
  .string()
  .transform((list) => list.split(',').map((url) => url.trim()))
  .pipe(z.array(z.url().transform((url) => new URL(url))).min(1))

const nameList = z
  .string()
  .transform((list) => list.split(',').flatMap((name) => (name.trim() === '' ? [] : name.trim())))

/** Setting with canonical names of markets, separated by commas; none by default. */
export const marketList = nameList.default([])

/**
 * Setting with the markets that get a process of their own, because they are busy; all others share one. By default the markets of the
 * venue's own market file that trade without an end.
 */
export const ownProcessMarkets = nameList.default(['cNGN-USDC', 'cNGN-PERP'])

/** Setting of a process of which one copy works: `1` follows that one and takes over when it is gone. */
export const standby = z.enum(['0', '1']).default('0')

/** The settings of a process are wrong; the message names each wrong one. */
export class BadConfiguration extends CannotStart {
  override readonly name = 'BadConfiguration'
}

/**
 * Reads settings from the environment: checked, with defaults, and frozen. An empty value counts as absent, as in
 * `.env.example`. Throws BadConfiguration that names every wrong setting and no value.
 */
export function parseEnv<Schema extends z.ZodObject>(
  schema: Schema,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<z.infer<Schema>> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (parsed.success) return Object.freeze(parsed.data)
  const faults = faultsOf(parsed.error.issues, given)
  throw new BadConfiguration(`bad settings in the environment (see .env.example): ${faults}`)
}

/** Where a process under test ends itself. */
export interface CrashAt {
  readonly point: CrashPoint
  /** The passing of the point, from 1. */
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

/** Not in .env.example: only tests use it. */
const crashEnv = z.object({ NODE_ENV: z.string().optional(), CRASH_AT: crashAt.optional() })

/** The crash point set by a test; undefined unless NODE_ENV is `test`. Throws BadConfiguration. */
export function readCrashAt(env: NodeJS.ProcessEnv = process.env): CrashAt | undefined {
  if (env.NODE_ENV !== 'test') return undefined
  return parseEnv(crashEnv, env).CRASH_AT
}
