import { join } from 'node:path'
import type { LauncherConfig, DemoMakerKeys } from './config.js'
import { metricsDir } from './data-dir.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import { freePort, probe } from './free-port.js'
import { LauncherError } from './wait-for.js'

/** Settings passed to the processes of a running venue. */
export interface VenueWiring {
  readonly natsUrl: string
  /** The directory of the bus's credentials; undefined with a bus that is not of our own. */
  readonly natsCredentials: string | undefined
  /** Who signs commands to markets, as OPERATOR_KEYS; undefined without credentials. */
  readonly operatorKeys: string | undefined
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly marketsFile: string
  readonly ports: Ports
  /** Where demo accounts are given, on 127.0.0.1; undefined where none are. */
  readonly demoPort: number | undefined
  /** From where matches are sent; undefined where only the operator knows. */
  readonly executorAddress: string | undefined
  readonly keys: {
    readonly executor: string | undefined
    readonly depositSubmitter: string | undefined
    readonly withdrawalSubmitter: string | undefined
    readonly keeper: string | undefined
    readonly demoMaker: DemoMakerKeys | undefined
    readonly feeder: string | undefined
    readonly demoAccounts: string | undefined
  }
}

type ProcessEnv = Record<string, string | undefined>

/**
 * The environment of a process by its Procfile name. All get the same paths and ports; a key or the executor's secret
 * goes only to the processes that use it.
 */
export function workerEnvironments(
  config: LauncherConfig,
  wiring: VenueWiring,
): (process: string) => ProcessEnv {
  const { ports, keys } = wiring
  const { keyFiles, existing } = config
  const secret: ProcessEnv = {
    EXECUTOR_SECRET_FILE: config.executorSecretFile,
    EXECUTOR_SECRET: config.executorSecret,
  }
  const operators: ProcessEnv =
    wiring.operatorKeys === undefined ? {} : { OPERATOR_KEYS: wiring.operatorKeys }
  const common: ProcessEnv = {
    PUBLIC_URL: `http://127.0.0.1:${ports.gateway}`,
    ...config.inherited,
    PARENT_WATCH: '1',
    NATS_URL: wiring.natsUrl,
    ...(wiring.natsCredentials !== undefined && { NATS_CREDENTIALS: wiring.natsCredentials }),
    ...(ports.nats_monitor !== undefined && {
      NATS_MONITOR_URL: `http://127.0.0.1:${ports.nats_monitor}`,
    }),
    RPC_URL: wiring.rpcUrl,
    DEPLOYMENT_FILE: wiring.deploymentFile,
    MARKETS_FILE: wiring.marketsFile,
    DATA_DIR: config.dataDir,
    METRICS_DIR: metricsDir(config.dataDir),
    GATEWAY_PORT: `${ports.gateway}`,
    GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
    EXECUTOR_PORT: `${ports.executor}`,
    EXECUTOR_URL: `http://127.0.0.1:${ports.executor}`,
    ...(wiring.executorAddress !== undefined && { EXECUTOR_ADDRESS: wiring.executorAddress }),
    WS_FANOUT_PORT: `${ports.ws_fanout}`,
    WS_FANOUT_URL: `ws://127.0.0.1:${ports.ws_fanout}`,
    AUTH_DOMAIN: config.authDomain,
    LOG_LEVEL: config.logLevel,
    LOCAL_CHAIN: existing === undefined ? '1' : '0',
  }
  const own = (process: string): ProcessEnv => {
    if (process === 'gateway')
      return { INDEX_STATUS_SECRET: config.indexStatusSecret, ...toldOfChain(config, wiring) }
    if (process === 'executor')
      return { ...keyOf('EXECUTOR', keyFiles.executor, keys.executor), ...secret }
    if (process === 'order-intake') return operators
    if (process.startsWith('matcher')) return { ...secret, ...operators }
    if (process === 'deposit-submitter')
      return keyOf('DEPOSIT_SUBMITTER', keyFiles.depositSubmitter, keys.depositSubmitter)
    if (process === 'withdrawal-submitter')
      return keyOf('WITHDRAWAL_SUBMITTER', keyFiles.withdrawalSubmitter, keys.withdrawalSubmitter)
    if (process === 'keeper') return keyOf('KEEPER', keyFiles.keeper, keys.keeper)
    if (process === 'demo-accounts')
      return {
        DEMO_ACCOUNTS_PRIVATE_KEY: keys.demoAccounts,
        DEMO_ACCOUNTS_PORT: `${wiring.demoPort}`,
      }
    if (process === 'feeder') return { FEEDER_PRIVATE_KEY: keys.feeder }
    if (process === 'demo-maker')
      return {
        DEMO_MAKER_PRIVATE_KEY: keys.demoMaker?.privateKey,
        DEMO_MAKER_SUBACCOUNT_ID: keys.demoMaker?.subaccountId,
        DEMO_MAKER_PERP_SUBACCOUNT_ID: keys.demoMaker?.perpSubaccountId,
      }
    return {}
  }
  return (process) => ({ ...common, ...own(process) })
}

/**
 * What the gateway tells wallets on the same machine, and where demo accounts are given, if any are; of an existing deployment the
 * operator says what wallets are told.
 */
const toldOfChain = (
  { existing }: LauncherConfig,
  { rpcUrl, demoPort }: VenueWiring,
): ProcessEnv => ({
  ...(existing === undefined && { CHAIN_NAME: 'Venue devnet', CHAIN_RPC_URL: rpcUrl }),
  ...(demoPort !== undefined && { DEMO_ACCOUNTS_URL: `http://127.0.0.1:${demoPort}` }),
})

const keyOf = (name: string, file: string | undefined, key: string | undefined): ProcessEnv =>
  file === undefined ? { [`${name}_PRIVATE_KEY`]: key } : { [`${name}_KEY_FILE`]: file }

/** Every port of a running venue, all on 127.0.0.1; a port on which the venue does not listen is absent. */
export interface Ports {
  readonly gateway: number
  readonly executor: number
  readonly ws_fanout: number
  readonly nats?: number
  readonly nats_monitor?: number
  readonly chain?: number
}

/**
 * Chooses the venue's ports and writes them to `DATA_DIR/ports.json`. Throws LauncherError with a line for each port that
 * another process uses or another setting has, naming its variable.
 */
export async function settlePorts(config: LauncherConfig): Promise<Ports> {
  const { ports, natsUrl, existing, dataDir } = config
  const taken: string[] = []
  const given = new Map<number, string>()
  const settle = async (variable: string, port: number): Promise<number> => {
    if (port === 0) return freePort()
    const other = given.get(port)
    if (other !== undefined) {
      taken.push(`${variable} and ${other} are both ${port}: change one`)
      return port
    }
    given.set(port, variable)
    const why = await probe(port).catch((error: Error) => error.message)
    if (why !== undefined) taken.push(`port ${port} cannot be used (${why}); set ${variable}`)
    return port
  }
  const settled: Ports = {
    gateway: await settle('GATEWAY_PORT', ports.gateway),
    executor: await settle('EXECUTOR_PORT', ports.executor),
    ws_fanout: await settle('WS_FANOUT_PORT', ports.ws_fanout),
    ...(natsUrl === undefined && {
      nats: await settle('NATS_PORT', ports.nats),
      nats_monitor: await freePort(),
    }),
    ...(existing === undefined && { chain: await settle('CHAIN_PORT', ports.chain) }),
  }
  if (taken.length > 0) throw new LauncherError(taken.join('\n'))
  await writeJsonDurably(join(dataDir, 'ports.json'), settled)
  return settled
}
