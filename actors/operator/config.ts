import { existsSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { JournalOwner } from '../../core/transaction-journal.js'
import { JOURNAL_FILES } from '../../data/journal/journal-file.js'
import { databasePath } from '../../data/places.js'
import { accessEnv, accessOf, busSeedsDir, type BusPlace } from '../../runtime/bus/nats-access.js'
import {
  accountList,
  BadConfiguration,
  futuresCalendar,
  parseEnv,
  urlList,
} from '../../runtime/process/config.js'
import {
  EXECUTOR_SECRET_NAME,
  executorSecretEnv,
  executorSecretOf,
} from '../../runtime/process/shared-secret.js'

/** Settings of the operator's commands, by the names of its environment. */
export const operatorEnv = z.object({
  /** Directory of the venue; the next three default to those of ./venue up in it. */
  DATA_DIR: z.string().min(1).default('./var'),
  ...accessEnv.shape,
  NATS_URL: z.string().min(1).optional(),
  /** The seed that signs commands to markets; absent: the operator's among the credentials. */
  OPERATOR_KEY_FILE: z.string().min(1).optional(),
  DEPLOYMENT_FILE: z.string().min(1).optional(),
  MARKETS_FILE: z.string().min(1).optional(),
  FEED_ARCHIVE_DIR: z.string().min(1).optional(),
  FUTURES_CALENDAR: futuresCalendar,
  GATEWAY_URL: z.url().optional(),
  EXECUTOR_URL: urlList.optional(),
  ...executorSecretEnv,
  RPC_URL: z.url().optional(),
  EXECUTOR_PRIVATE_KEY: z.string().optional(),
  DEPOSIT_SUBMITTER_PRIVATE_KEY: z.string().optional(),
  WITHDRAWAL_SUBMITTER_PRIVATE_KEY: z.string().optional(),
  KEEPER_PRIVATE_KEY: z.string().optional(),
  EXECUTOR_KEY_FILE: z.string().optional(),
  DEPOSIT_SUBMITTER_KEY_FILE: z.string().optional(),
  WITHDRAWAL_SUBMITTER_KEY_FILE: z.string().optional(),
  KEEPER_KEY_FILE: z.string().optional(),
  KEEPER_SUBACCOUNT_IDS: accountList,
})

export interface OperatorConfig {
  readonly place: BusPlace
  /** File or directory of the seed that signs commands; undefined when there is none. */
  readonly operatorKeyFile: string | undefined
  readonly deploymentFile: string
  /** Which series of dated futures follow each other. */
  readonly calendar: FuturesCalendar
  /** Who gives the commands: the user of the machine. */
  readonly user: string
}

/** The bus of the settings, or that of ./venue up in DATA_DIR. Throws BadConfiguration, in one line. */
export const readBusPlace = (env: NodeJS.ProcessEnv = process.env): BusPlace =>
  placeOf(parseEnv(operatorEnv, env))

const portsFile = z.object({ nats: z.int() })

/** Throws BadConfiguration, in one line. */
export function readOperatorConfig(env: NodeJS.ProcessEnv = process.env): OperatorConfig {
  const given = parseEnv(operatorEnv, env)
  const { DATA_DIR, DEPLOYMENT_FILE } = given
  const place = placeOf(given)
  return {
    place,
    operatorKeyFile: given.OPERATOR_KEY_FILE ?? place.credentials,
    deploymentFile: DEPLOYMENT_FILE ?? join(DATA_DIR, 'devnet.json'),
    calendar: given.FUTURES_CALENDAR,
    user: userInfo().username,
  }
}

/** The bus of the settings, or that of ./venue up in DATA_DIR. */
function placeOf(given: z.infer<typeof operatorEnv>): BusPlace {
  const { DATA_DIR, NATS_URL } = given
  const { credentials, tls } = accessOf(given)
  const own = busSeedsDir(DATA_DIR)
  return {
    url: NATS_URL ?? `nats://127.0.0.1:${readPort(join(DATA_DIR, 'ports.json'))}`,
    credentials: credentials ?? (existsSync(own) ? own : undefined),
    tls,
  }
}

/** Where a venue is, as far as it is known. */
export interface VenuePlaces {
  readonly dataDir: string
  readonly gatewayUrl: string | undefined
  readonly rpcUrl: string | undefined
}

const devnetFile = z.object({ gateway_url: z.string(), rpc_url: z.string() })
const gatewayPort = z.object({ gateway: z.int() })

/** The venue in DATA_DIR; what the environment does not set is read from the files of its launcher. Throws BadConfiguration. */
export async function readVenuePlaces(env: NodeJS.ProcessEnv = process.env): Promise<VenuePlaces> {
  const { DATA_DIR: dataDir, GATEWAY_URL, RPC_URL } = parseEnv(operatorEnv, env)
  if (!existsSync(dataDir))
    throw new BadConfiguration(`there is no venue in ${dataDir}: set DATA_DIR`)
  const read = async (file: string): Promise<unknown> =>
    JSON.parse(await readFile(join(dataDir, file), 'utf8').catch(() => 'null'))
  const devnet = devnetFile.safeParse(await read('devnet.json')).data
  const port = gatewayPort.safeParse(await read('ports.json')).data?.gateway
  const here = port === undefined ? undefined : `http://127.0.0.1:${port}`
  return {
    dataDir,
    gatewayUrl: GATEWAY_URL ?? here ?? devnet?.gateway_url,
    rpcUrl: RPC_URL ?? devnet?.rpc_url,
  }
}

/** The deployment to be checked, and the keys whose addresses are not given on the command line. */
export interface CheckConfig {
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly marketsFile: string | undefined
  readonly keys: Readonly<
    Record<'executor' | 'depositSubmitter' | 'withdrawalSubmitter' | 'keeper', string | undefined>
  >
  /** Where they are files; these come first. */
  readonly keyFiles: CheckConfig['keys']
  /** With which the keeper takes over. */
  readonly keeperAccounts: readonly bigint[]
}

/** Throws BadConfiguration, in one line. */
export async function readCheckConfig(env: NodeJS.ProcessEnv = process.env): Promise<CheckConfig> {
  const given = parseEnv(operatorEnv, env)
  const devnet = join(given.DATA_DIR, 'devnet.json')
  const deploymentFile = given.DEPLOYMENT_FILE ?? (existsSync(devnet) ? devnet : undefined)
  const rpcUrl =
    given.RPC_URL ?? (existsSync(devnet) ? (await readVenuePlaces(env)).rpcUrl : undefined)
  if (deploymentFile === undefined || rpcUrl === undefined)
    throw new BadConfiguration(
      'set RPC_URL and DEPLOYMENT_FILE, or DATA_DIR to a venue on a local chain',
    )
  const marketsFile = given.MARKETS_FILE ?? join(given.DATA_DIR, 'markets.json')
  return {
    rpcUrl,
    deploymentFile,
    marketsFile: existsSync(marketsFile) ? marketsFile : undefined,
    keeperAccounts: given.KEEPER_SUBACCOUNT_IDS,
    keys: {
      executor: given.EXECUTOR_PRIVATE_KEY,
      depositSubmitter: given.DEPOSIT_SUBMITTER_PRIVATE_KEY,
      withdrawalSubmitter: given.WITHDRAWAL_SUBMITTER_PRIVATE_KEY,
      keeper: given.KEEPER_PRIVATE_KEY,
    },
    keyFiles: {
      executor: given.EXECUTOR_KEY_FILE,
      depositSubmitter: given.DEPOSIT_SUBMITTER_KEY_FILE,
      withdrawalSubmitter: given.WITHDRAWAL_SUBMITTER_KEY_FILE,
      keeper: given.KEEPER_KEY_FILE,
    },
  }
}

/** The venue of a backup, or the place for one that is restored. */
export interface BackupConfig {
  readonly dataDir: string
  readonly place: BusPlace
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly archiveDir: string | undefined
}

/** Throws BadConfiguration, in one line. */
export async function readBackupConfig(
  env: NodeJS.ProcessEnv = process.env,
): Promise<BackupConfig> {
  const { place, deploymentFile } = readOperatorConfig(env)
  const { dataDir, rpcUrl } = await readVenuePlaces(env)
  if (rpcUrl === undefined) throw new BadConfiguration('set RPC_URL to the node of the chain')
  const { FEED_ARCHIVE_DIR: archiveDir } = parseEnv(operatorEnv, env)
  return { dataDir, place, rpcUrl, deploymentFile, archiveDir }
}

export interface RestoreConfig extends Omit<BackupConfig, 'deploymentFile'> {
  /** Who restores: the user of the machine. */
  readonly user: string
}

/** The launcher's files are not there yet, so that bus and node have to be named. Throws BadConfiguration, in one line. */
export function readRestoreConfig(env: NodeJS.ProcessEnv = process.env): RestoreConfig {
  const given = parseEnv(operatorEnv, env)
  const { DATA_DIR: dataDir, NATS_URL, RPC_URL, FEED_ARCHIVE_DIR } = given
  if (NATS_URL === undefined || RPC_URL === undefined)
    throw new BadConfiguration('set NATS_URL to an empty bus, and RPC_URL to the node of the chain')
  const user = userInfo().username
  const place = { url: NATS_URL, ...accessOf(given) }
  return { dataDir, place, rpcUrl: RPC_URL, archiveDir: FEED_ARCHIVE_DIR, user }
}

/** Where the executors are, and the secret that they ask for. */
export interface ExecutorPlace {
  readonly urls: readonly string[]
  readonly secret: string
}

const executorPort = z.object({ executor: z.int() })

/** Those of the settings, or that of ./venue up in DATA_DIR. Throws CannotStart, in one line. */
export function readExecutorPlace(env: NodeJS.ProcessEnv = process.env): ExecutorPlace {
  const given = parseEnv(operatorEnv, env)
  const { DATA_DIR, EXECUTOR_URL, EXECUTOR_SECRET, EXECUTOR_SECRET_FILE } = given
  const own = join(DATA_DIR, EXECUTOR_SECRET_NAME)
  const ofVenue = existsSync(own) ? own : undefined
  const isGiven = EXECUTOR_SECRET !== undefined || EXECUTOR_SECRET_FILE !== undefined
  const secret = executorSecretOf(isGiven ? given : { EXECUTOR_SECRET_FILE: ofVenue })
  if (EXECUTOR_URL !== undefined) return { urls: EXECUTOR_URL.map(({ href }) => href), secret }
  const ports = join(DATA_DIR, 'ports.json')
  const found = existsSync(ports)
    ? executorPort.safeParse(JSON.parse(readFileSync(ports, 'utf8'))).data
    : undefined
  if (found === undefined)
    throw new BadConfiguration('set EXECUTOR_URL, or DATA_DIR to a venue of ./venue up')
  return { urls: [`http://127.0.0.1:${found.executor}`], secret }
}

/** The process whose key is to change, and where. */
export interface RotationConfig {
  readonly role: JournalOwner
  readonly keyFile: string
  /** The file of its journal. */
  readonly journal: string
  readonly rpcUrl: string
  readonly deploymentFile: string
}

const SETTING_OF = {
  executor: 'EXECUTOR_KEY_FILE',
  'deposit-submitter': 'DEPOSIT_SUBMITTER_KEY_FILE',
  'withdrawal-submitter': 'WITHDRAWAL_SUBMITTER_KEY_FILE',
  keeper: 'KEEPER_KEY_FILE',
} as const

/** Throws BadConfiguration, in one line. */
export async function readRotationConfig(
  role: JournalOwner,
  env: NodeJS.ProcessEnv = process.env,
): Promise<RotationConfig> {
  const setting = SETTING_OF[role]
  const given = parseEnv(operatorEnv, env)
  const keyFile = given[setting]
  if (keyFile === undefined)
    throw new BadConfiguration(
      `the key of the ${role} is in no file: write it into one and set ${setting}`,
    )
  const { rpcUrl, deploymentFile } = await readCheckConfig(env)
  return {
    role,
    keyFile,
    journal: databasePath(given.DATA_DIR, JOURNAL_FILES[role]),
    rpcUrl,
    deploymentFile,
  }
}

function readPort(path: string): number {
  try {
    return portsFile.parse(JSON.parse(readFileSync(path, 'utf8'))).nats
  } catch (cause) {
    const message = `NATS_URL is not set, and ${path} names no port of a bus: is the venue running?`
    throw new BadConfiguration(message, { cause })
  }
}
