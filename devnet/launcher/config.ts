import { join, resolve } from 'node:path'
import { z } from 'zod'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { futuresCalendar, ownProcessMarkets } from '../../runtime/process/config.js'
import { EXECUTOR_SECRET_NAME } from '../../runtime/process/shared-secret.js'
import type { LogBounds } from './output.js'
import { LauncherError } from './wait-for.js'

const HIGHEST_PORT = 65_535
const LONGEST_BLOCK_TIME_S = 60
/** The largest id that wallets take: MetaMask refuses a larger one. */
const HIGHEST_CHAIN_ID = 4_503_599_627_370_476
/** No chain of the public lists has it: a wallet that is asked for it cannot switch to a chain on which real money is spent. */
const DEVNET_CHAIN_ID = 836_832_646

/** Keys and shared secrets; a process receives only the ones it needs, never by inheritance. */
const SECRET_NAME = /_(PRIVATE_KEY|KEY_FILE|SECRET|SECRET_FILE|PASSWORD)$/

const integer = (what: string, min: number, max: number) =>
  z
    .string()
    .regex(/^[0-9]+$/, `must be ${what}`)
    .transform((text) => parseInt(text, 10))
    .refine((value) => value >= min && value <= max, `must be ${what}`)

const port = integer(`a port, or 0 for a free one`, 0, HIGHEST_PORT)
const flag = z.enum(['0', '1'], 'must be 0 or 1').transform((text) => text === '1')
const privateKey = z.string().regex(/^0x[0-9a-f]{64}$/i, 'must be 0x followed by 64 hex digits')

const subaccounts = z
  .string()
  .regex(/^[0-9]{1,78}(,[0-9]{1,78})?$/, 'must be one subaccount id, or two')

/** Settings of the launcher, by the names of its environment. */
export const launcherEnv = z.object({
  GATEWAY_PORT: port.default(8080),
  EXECUTOR_PORT: port.default(8081),
  WS_FANOUT_PORT: port.default(0),
  NATS_PORT: port.default(4322),
  CHAIN_PORT: port.default(8645),
  DATA_DIR: z.string().default('./var'),
  DEVNET_BLOCK_TIME: integer(
    `whole seconds from 1 to ${LONGEST_BLOCK_TIME_S}`,
    1,
    LONGEST_BLOCK_TIME_S,
  ).default(2),
  DEVNET_CHAIN_ID: integer(`a chain id from 1 to ${HIGHEST_CHAIN_ID}`, 1, HIGHEST_CHAIN_ID).default(
    DEVNET_CHAIN_ID,
  ),
  DEVNET_SAVE_CHAIN: flag.default(true),
  DEMO_MAKER: flag.default(true),
  DEVNET_FEEDER: flag.default(true),
  DEMO_ACCOUNTS: flag.default(true),
  AUTH_DOMAIN: z.string().default('localhost'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  LOG_STDOUT: flag.default(false),
  LOG_FILE_BYTES: integer('bytes, from 1000 on', 1_000, Number.MAX_SAFE_INTEGER).default(
    32 * 1024 * 1024,
  ),
  LOG_FILES: integer('a number of files from 1 to 1000', 1, 1_000).default(2),
  PROCFILE: z.string().default('Procfile'),
  NATS_URL: z.string().optional(),
  DEVNET_BUS_USERS: flag.default(true),
  NATS_SERVER_BIN: z.string().optional(),
  NATS_MAX_STORED_BYTES: integer(
    'bytes, from 1000000 on',
    1_000_000,
    Number.MAX_SAFE_INTEGER,
  ).optional(),
  PATH: z.string().optional(),
  RPC_URL: z.url('must be an address such as http://127.0.0.1:8645').optional(),
  DEPLOYMENT_FILE: z.string().optional(),
  MARKETS_FILE: z.string().optional(),
  EXECUTOR_SECRET_FILE: z.string().optional(),
  EXECUTOR_SECRET: z.string().optional(),
  INDEX_STATUS_SECRET: z.string().optional(),
  EXECUTOR_KEY_FILE: z.string().optional(),
  EXECUTOR_PRIVATE_KEY: privateKey.optional(),
  DEPOSIT_SUBMITTER_KEY_FILE: z.string().optional(),
  WITHDRAWAL_SUBMITTER_KEY_FILE: z.string().optional(),
  KEEPER_KEY_FILE: z.string().optional(),
  DEPOSIT_SUBMITTER_PRIVATE_KEY: privateKey.optional(),
  WITHDRAWAL_SUBMITTER_PRIVATE_KEY: privateKey.optional(),
  KEEPER_PRIVATE_KEY: privateKey.optional(),
  DEMO_MAKER_PRIVATE_KEY: privateKey.optional(),
  DEMO_MAKER_SUBACCOUNT_ID: subaccounts.optional(),
  DEMO_MAKER_PERP_SUBACCOUNT_ID: subaccounts.optional(),
  DEMO_FLOW: flag.default(true),
  FUTURES_CALENDAR: futuresCalendar,
  OWN_PROCESS_MARKETS: ownProcessMarkets,
})

type LauncherEnv = Readonly<Record<string, string | undefined>>

/** An existing deployment: nothing is deployed and no chain is started. */
export interface ExistingDeployment {
  readonly rpcUrl: string
  readonly file: string
  /** Undefined when it is in a file. */
  readonly executorPrivateKey: string | undefined
  readonly depositSubmitterPrivateKey: string | undefined
  readonly withdrawalSubmitterPrivateKey: string | undefined
  readonly keeperPrivateKey: string | undefined
  readonly demoMaker: DemoMakerKeys | undefined
}

export interface LauncherConfig {
  /** 0: any free port. */
  readonly ports: Readonly<Record<'gateway' | 'executor' | 'ws_fanout' | 'nats' | 'chain', number>>
  /** Absolute. */
  readonly dataDir: string
  readonly blockTimeS: number
  /** Of a new local chain; one that is continued keeps its own. */
  readonly chainId: number
  /** Without a saved state the local chain is lost when it ends, and the venue cannot be restarted on its data. */
  readonly savesChain: boolean
  readonly demoMaker: boolean
  /** Those who ask are given accounts on the local chain. */
  readonly demoAccounts: boolean
  /** Prices on the local chain stay fresh. */
  readonly feeder: boolean
  /** The series of futures on the local chain. */
  readonly calendar: FuturesCalendar
  /** Markets that get a matcher's process of their own. */
  readonly ownProcessMarkets: readonly string[]
  readonly authDomain: string
  readonly logLevel: string
  /** Every line of every process on standard output, not only warnings. */
  readonly logStdout: boolean
  readonly logBounds: LogBounds
  readonly procfile: string
  /** Absolute; without the setting a copy in DATA_DIR of the file that ships, made at the first start. */
  readonly marketsFile: string
  readonly natsUrl: string | undefined
  /** Whether our own bus has users with permissions. */
  readonly busUsers: boolean
  readonly natsServerBin: string | undefined
  readonly natsMaxStoredBytes: number | undefined
  readonly path: string | undefined
  /** Absolute; without a setting one in DATA_DIR, made at the first start. Undefined when the secret itself is set. */
  readonly executorSecretFile: string | undefined
  readonly executorSecret: string | undefined
  readonly indexStatusSecret: string | undefined
  /** Files with the keys of these processes; they come before keys from elsewhere. */
  readonly keyFiles: Readonly<
    Record<'executor' | 'depositSubmitter' | 'withdrawalSubmitter' | 'keeper', string | undefined>
  >
  /** Undefined on the devnet. */
  readonly existing: ExistingDeployment | undefined
  /** Environment that the workers inherit: our own without keys and secrets. */
  readonly inherited: LauncherEnv
}

/**
 * Reads the launcher's settings; an empty variable counts as absent. Throws LauncherError naming every invalid variable
 * and its valid values.
 */
export function readLauncherConfig(env: LauncherEnv = process.env): LauncherConfig {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = launcherEnv.safeParse(given)
  if (!parsed.success)
    throw new LauncherError(
      parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('\n'),
    )
  const values = parsed.data
  return Object.freeze({
    ports: Object.freeze({
      gateway: values.GATEWAY_PORT,
      executor: values.EXECUTOR_PORT,
      ws_fanout: values.WS_FANOUT_PORT,
      nats: values.NATS_PORT,
      chain: values.CHAIN_PORT,
    }),
    dataDir: resolve(values.DATA_DIR),
    blockTimeS: values.DEVNET_BLOCK_TIME,
    chainId: values.DEVNET_CHAIN_ID,
    savesChain: values.DEVNET_SAVE_CHAIN,
    demoMaker: values.DEMO_MAKER,
    feeder: values.DEVNET_FEEDER,
    demoAccounts: values.DEMO_ACCOUNTS,
    calendar: values.FUTURES_CALENDAR,
    ownProcessMarkets: values.OWN_PROCESS_MARKETS,
    authDomain: values.AUTH_DOMAIN,
    logLevel: values.LOG_LEVEL,
    logStdout: values.LOG_STDOUT,
    logBounds: Object.freeze({ fileBytes: values.LOG_FILE_BYTES, files: values.LOG_FILES }),
    procfile: values.PROCFILE,
    marketsFile: resolve(values.MARKETS_FILE ?? join(values.DATA_DIR, 'markets.json')),
    natsUrl: values.NATS_URL,
    busUsers: values.DEVNET_BUS_USERS,
    natsServerBin: values.NATS_SERVER_BIN,
    natsMaxStoredBytes: values.NATS_MAX_STORED_BYTES,
    path: values.PATH,
    executorSecretFile: executorSecretFile(values),
    executorSecret: values.EXECUTOR_SECRET,
    indexStatusSecret: values.INDEX_STATUS_SECRET,
    keyFiles: Object.freeze({
      executor: values.EXECUTOR_KEY_FILE,
      depositSubmitter: values.DEPOSIT_SUBMITTER_KEY_FILE,
      withdrawalSubmitter: values.WITHDRAWAL_SUBMITTER_KEY_FILE,
      keeper: values.KEEPER_KEY_FILE,
    }),
    existing: existingDeployment(values),
    inherited: Object.freeze(
      Object.fromEntries(Object.entries(given).filter(([name]) => !SECRET_NAME.test(name))),
    ),
  })
}

/**
 * The same for a program that sends nothing, beside a chain of this machine or an outside one: that needs neither a
 * deployment nor keys.
 */
export function readBusConfig(env: NodeJS.ProcessEnv = process.env): LauncherConfig {
  const { RPC_URL, DEPLOYMENT_FILE, ...others } = env
  const config = readLauncherConfig(others)
  const given = Object.entries({ RPC_URL, DEPLOYMENT_FILE }).filter(([, value]) => value)
  return { ...config, inherited: { ...config.inherited, ...Object.fromEntries(given) } }
}

function executorSecretFile(values: z.infer<typeof launcherEnv>): string | undefined {
  const { EXECUTOR_SECRET: secret, EXECUTOR_SECRET_FILE: file, DATA_DIR: dataDir } = values
  if (secret !== undefined && file === undefined) return undefined
  return resolve(file ?? join(dataDir, EXECUTOR_SECRET_NAME))
}

function existingDeployment(values: z.infer<typeof launcherEnv>): ExistingDeployment | undefined {
  const {
    RPC_URL: rpcUrl,
    DEPLOYMENT_FILE: file,
    EXECUTOR_PRIVATE_KEY: executorPrivateKey,
  } = values
  if (rpcUrl === undefined && file === undefined) return undefined
  if (rpcUrl === undefined || file === undefined)
    throw new LauncherError(
      'RPC_URL and DEPLOYMENT_FILE belong together: set both, or neither for a local chain',
    )
  if (executorPrivateKey === undefined && values.EXECUTOR_KEY_FILE === undefined)
    throw new LauncherError('EXECUTOR_KEY_FILE is needed to run against a deployment')
  const makerKey = values.DEMO_MAKER_PRIVATE_KEY
  const makerSubaccount = values.DEMO_MAKER_SUBACCOUNT_ID
  const hasMaker = makerKey !== undefined && makerSubaccount !== undefined
  return Object.freeze({
    rpcUrl,
    file: resolve(file),
    executorPrivateKey,
    depositSubmitterPrivateKey: values.DEPOSIT_SUBMITTER_PRIVATE_KEY,
    withdrawalSubmitterPrivateKey: values.WITHDRAWAL_SUBMITTER_PRIVATE_KEY,
    keeperPrivateKey: values.KEEPER_PRIVATE_KEY,
    demoMaker: hasMaker
      ? {
          privateKey: makerKey,
          subaccountId: makerSubaccount,
          perpSubaccountId: values.DEMO_MAKER_PERP_SUBACCOUNT_ID,
        }
      : undefined,
  })
}

/** What the launcher prints once the venue is ready: its address, and where to look first. */
export function readyLines(
  { dataDir, existing }: Pick<LauncherConfig, 'dataDir' | 'existing'>,
  gatewayUrl: string,
): readonly string[] {
  const place = dataDir === resolve('var') ? '' : `DATA_DIR=${dataDir} `
  return [
    `venue ready ${gatewayUrl}`,
    `  terminal:      ${gatewayUrl}/`,
    `  documentation: ${gatewayUrl}/docs`,
    // The examples trade with the accounts of a local chain.
    ...(existing === undefined
      ? [`  first example: ${place}node dist/examples/01-place-order.js`]
      : []),
  ]
}

/**
 * The demo maker's key and accounts: of each, the one that quotes and after a comma the one that takes quotes. Without
 * the second pair it does not quote perpetuals.
 */
export interface DemoMakerKeys {
  readonly privateKey: string
  readonly subaccountId: string
  readonly perpSubaccountId: string | undefined
}
