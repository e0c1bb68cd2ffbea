import type { LauncherConfig } from './config.js'
import type { Ports } from './launcher-ports.js'

/** What a running venue's processes are told. */
export interface Wiring {
  readonly natsUrl: string
  readonly rpcUrl: string
  readonly deploymentFile: string
  readonly ports: Ports
  readonly keys: {
    readonly executor: string
    readonly depositSubmitter: string | undefined
    readonly withdrawalSubmitter: string | undefined
    readonly demoMaker: { readonly privateKey: string; readonly subaccountId: string } | undefined
  }
}

type Env = Record<string, string | undefined>

/**
 * The environment of a process by its Procfile name. All get the same places and ports; a key or the executor's
 * secret goes only to the process that works with it. Without EXECUTOR_SECRET the executor, which listens on loopback,
 * asks for none.
 */
export function workerEnvironments(
  config: LauncherConfig,
  wiring: Wiring,
): (process: string) => Env {
  const { ports, keys } = wiring
  const secret: Env = { EXECUTOR_SECRET: config.executorSecret }
  const everybody: Env = {
    ...config.inherited,
    PARENT_WATCH: '1',
    NATS_URL: wiring.natsUrl,
    ...(ports.nats_monitor !== undefined && {
      NATS_MONITOR_URL: `http://127.0.0.1:${ports.nats_monitor}`,
    }),
    RPC_URL: wiring.rpcUrl,
    DEPLOYMENT_FILE: wiring.deploymentFile,
    DATA_DIR: config.dataDir,
    GATEWAY_PORT: `${ports.gateway}`,
    GATEWAY_URL: `http://127.0.0.1:${ports.gateway}`,
    EXECUTOR_PORT: `${ports.executor}`,
    EXECUTOR_URL: `http://127.0.0.1:${ports.executor}`,
    WS_FANOUT_PORT: `${ports.ws_fanout}`,
    WS_FANOUT_URL: `ws://127.0.0.1:${ports.ws_fanout}`,
    AUTH_DOMAIN: config.authDomain,
    LOG_LEVEL: config.logLevel,
  }
  const own = (process: string): Env => {
    if (process === 'executor') return { EXECUTOR_PRIVATE_KEY: keys.executor, ...secret }
    if (process.startsWith('matcher')) return secret
    if (process === 'deposit-submitter')
      return { DEPOSIT_SUBMITTER_PRIVATE_KEY: keys.depositSubmitter }
    if (process === 'withdrawal-submitter')
      return { WITHDRAWAL_SUBMITTER_PRIVATE_KEY: keys.withdrawalSubmitter }
    if (process === 'demo-maker')
      return {
        DEMO_MAKER_PRIVATE_KEY: keys.demoMaker?.privateKey,
        DEMO_MAKER_SUBACCOUNT_ID: keys.demoMaker?.subaccountId,
      }
    return {}
  }
  return (process) => ({ ...everybody, ...own(process) })
}
