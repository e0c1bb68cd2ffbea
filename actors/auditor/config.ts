import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { faultsOf } from '../../core/cannot-start.js'
import { accessEnv, busSeedsDir } from '../../runtime/bus/nats-access.js'
import { BadConfiguration, MAX_TIMER_SEC, parseEnv } from '../../runtime/process/config.js'
import { busEnv } from '../../runtime/bus/nats-access.js'

export const USAGE = `usage: ./venue audit

Folds the logs of the venue in DATA_DIR (./var) again and compares them with its databases and the chain. Exits with 1 at a
difference, and with 2 when the bus or the chain could not be read. The venue must run. Settings are environment variables: AUDIT_EVERY_S, AUDIT_FROM_BLOCK, AUDIT_FEES_KEPT (.env.example).

  DATA_DIR=/var/lib/venue AUDIT_EVERY_S=3600 ./venue audit`

const MAX_BLOCK = BigInt(Number.MAX_SAFE_INTEGER)

/** Settings of the auditor, by the names of its environment. */
export const auditorEnv = z.object({
  /** Directory of history.db, executor.db and the files of ./venue up. */
  DATA_DIR: z.string().min(1).default('./var'),
  ...busEnv.shape,
  /** The next two default to those of ./venue up. */
  ...accessEnv.shape,
  NATS_URL: z.string().min(1).optional(),
  RPC_URL: z.url().optional(),
  /** Names the chain; defaults to that of ./venue up. */
  DEPLOYMENT_FILE: z.string().min(1).optional(),
  /** The archive of the feeds; absent: they are read from the bus alone. */
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  /** 0: audits once and ends; else repeats the audit after a pause of so many seconds. */
  AUDIT_EVERY_S: z.coerce.number().int().min(0).max(MAX_TIMER_SEC).default(0),
  /** The block of the deployment, or an earlier one. */
  AUDIT_FROM_BLOCK: z.coerce.bigint().min(0n).max(MAX_BLOCK).default(0n),
  /** 0: fees are withdrawn at times, so the balance of the fee account is not checked. */
  AUDIT_FEES_KEPT: z.enum(['0', '1']).default('1'),
  LOG_LEVEL: z.string().default('info'),
})

/** The settings with their defaults from DATA_DIR. */
export interface AuditorConfig extends Readonly<z.infer<typeof auditorEnv>> {
  readonly NATS_URL: string
  readonly RPC_URL: string
}

/** What is written of ./venue up in a directory: without a chain of its own it has no port of one. */
const portsFile = z.object({ nats: z.int().optional(), chain: z.int().optional() })

/** Throws BadConfiguration, in one line. */
export function readAuditorConfig(env: NodeJS.ProcessEnv = process.env): AuditorConfig {
  const given = withOwnFiles(parseEnv(auditorEnv, env))
  const { NATS_URL, RPC_URL, DATA_DIR } = given
  if (NATS_URL !== undefined && RPC_URL !== undefined) return { ...given, NATS_URL, RPC_URL }
  const path = join(DATA_DIR, 'ports.json')
  if (!existsSync(path)) throw new BadConfiguration(`there is no venue in ${DATA_DIR}: ${SETTINGS}`)
  const { nats, chain } = readPorts(path)
  const natsUrl = NATS_URL ?? (nats === undefined ? undefined : `nats://127.0.0.1:${nats}`)
  const rpcUrl = RPC_URL ?? (chain === undefined ? undefined : `http://127.0.0.1:${chain}`)
  if (natsUrl === undefined)
    throw new BadConfiguration(`NATS_URL is not set, and ${path} names no port of a bus`)
  if (rpcUrl === undefined)
    throw new BadConfiguration(`the chain of ${DATA_DIR} is another's: set RPC_URL to its node`)
  return { ...given, NATS_URL: natsUrl, RPC_URL: rpcUrl }
}

const SETTINGS = 'set DATA_DIR, or NATS_URL and RPC_URL'

function readPorts(path: string): z.infer<typeof portsFile> {
  let given: unknown
  try {
    given = JSON.parse(readFileSync(path, 'utf8'))
  } catch (cause) {
    throw new BadConfiguration(`${path} is no JSON: ${SETTINGS}`, { cause })
  }
  const parsed = portsFile.safeParse(given)
  if (parsed.success) return parsed.data
  const faults = faultsOf(parsed.error.issues, given)
  throw new BadConfiguration(`${path} names no ports, ${faults}: ${SETTINGS}`)
}

/** ./venue up keeps the seeds of its bus in DATA_DIR. */
function withOwnFiles(given: z.infer<typeof auditorEnv>): z.infer<typeof auditorEnv> {
  const existing = (path: string) => (existsSync(path) ? path : undefined)
  return {
    ...given,
    NATS_CREDENTIALS: given.NATS_CREDENTIALS ?? existing(busSeedsDir(given.DATA_DIR)),
    DEPLOYMENT_FILE: given.DEPLOYMENT_FILE ?? existing(join(given.DATA_DIR, 'devnet.json')),
  }
}
