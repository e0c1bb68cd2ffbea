import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile } from 'node:fs/promises'
import { getPriority, setPriority } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Address, Hex } from '../core/action.js'
import { provideMarketFile } from '../data/market-file.js'
import { provideBundles } from '../devnet/bundle.js'
import { busSeedsDir, type BusPlace } from '../runtime/bus/nats-access.js'
import { inheritedEnvironment, natsServerBinary } from './config.js'

/** The launcher gives up by itself after a minute without progress. */
const READY_WITHIN_MS = 600_000
const STOP_WITHIN_MS = 60_000
const LINES_KEPT = 50

/** The fields of `devnet.json` that a bench needs. */
export interface OwnDevnet {
  readonly chain_id: number
  readonly rpc_url: string
  readonly gateway_url: string
  readonly auth_domain: string
  readonly matching: Address
  readonly deployer: Address
  readonly seeder: Address
  readonly spot_manager: Address
  readonly usdc: Address
  readonly cngn: Address
  readonly wrapped_usdc: Address
  readonly wrapped_cngn: Address
  readonly futures_manager: Address
  readonly future_asset: Address
  readonly accounts: readonly {
    readonly address: Address
    readonly private_key: Hex
    readonly spot_subaccount_id: string
    readonly perp_subaccount_id: string
  }[]
}

/** A whole venue of the bench, as `./venue up` starts it, without its market maker. */
export interface OwnVenue {
  readonly devnet: OwnDevnet
  /** The directory of all its data. */
  readonly dir: string
  /** Its bus, with the seeds of all users; an environment with DEVNET_BUS_USERS=0 opens it to every client. */
  readonly bus: BusPlace
  /** Port of its fan-out. */
  readonly fanOutPort: number
  /** Process ids by Procfile name; the bus is `nats-server`, the chain `chain`. */
  pids(): Promise<Record<string, number>>
  stop(): Promise<void>
}

export interface OwnVenueOptions {
  /** An empty directory for all of the venue's data. */
  readonly dir: string
  /** Environment variables for every process. */
  readonly env?: Readonly<Record<string, string>>
  /** Seconds between two blocks of the chain; defaults to 2. */
  readonly blockTime?: number
  /** Names of its markets; the spot market alone by default. */
  readonly markets?: readonly string[]
  /** Nice value of all its processes, where what is measured is not the venue: 1 to 19 yield to what the bench runs beside it. */
  readonly niceness?: number
}

/** Settings with which programs that are not part of the venue share its bus. */
export const OPEN_BUS = { DEVNET_BUS_USERS: '0' } as const

/**
 * Starts a venue on free ports with its usual settings and 2 s blocks; rejects with what it printed when it does not
 * become ready.
 */
export async function startOwnVenue(options: OwnVenueOptions): Promise<OwnVenue> {
  const { dir, env = {}, blockTime = 2, markets = ['cNGN-USDC'] } = options
  await provideBundles()
  await mkdir(dir, { recursive: true })
  await provideMarketFile(join(dir, 'markets.json'), markets)
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const ports = { GATEWAY_PORT: '0', EXECUTOR_PORT: '0', NATS_PORT: '0', CHAIN_PORT: '0' }
  const launcher = spawn(process.execPath, ['--optimize-for-size', 'bundle/devnet/up.js'], {
    cwd: root,
    env: {
      ...inheritedEnvironment(),
      MALLOC_TRIM_THRESHOLD_: '4194304',
      NATS_SERVER_BIN: natsServerBinary(),
      ...ports,
      DATA_DIR: dir,
      DEVNET_BLOCK_TIME: `${blockTime}`,
      DEMO_MAKER: '0',
      DEMO_ACCOUNTS: '0',
      DEVNET_FEEDER: '0',
      FUTURES_CALENDAR: 'none',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Before it starts the others, which inherit it.
  if (options.niceness !== undefined && launcher.pid !== undefined)
    setPriority(launcher.pid, Math.max(getPriority(), options.niceness))
  const killAtExit = (): void => void launcher.kill('SIGTERM')
  process.once('exit', killAtExit)
  const exited = once(launcher, 'exit')
  const lines: string[] = []
  const ready = new Promise<boolean>((resolve) => {
    for (const input of [launcher.stdout, launcher.stderr]) {
      createInterface({ input }).on('line', (line) => {
        lines.push(line)
        if (lines.length > LINES_KEPT) lines.shift()
        if (line.startsWith('venue ready ')) resolve(true)
      })
    }
    void exited.then(() => resolve(false))
    setTimeout(() => resolve(false), READY_WITHIN_MS).unref()
  })
  const stop = async (): Promise<void> => {
    launcher.kill('SIGTERM')
    const timer = setTimeout(() => launcher.kill('SIGKILL'), STOP_WITHIN_MS)
    await exited
    clearTimeout(timer)
    process.removeListener('exit', killAtExit)
  }
  if (!(await ready)) {
    await stop()
    throw new Error(`the venue did not become ready:\n${lines.join('\n')}`)
  }
  const read = async (name: string) =>
    JSON.parse(await readFile(join(dir, name), 'utf8')) as unknown
  const taken = (await read('ports.json')) as { readonly nats: number; readonly ws_fanout: number }
  return {
    devnet: (await read('devnet.json')) as OwnDevnet,
    dir,
    bus: {
      url: `nats://127.0.0.1:${taken.nats}`,
      ...(env.DEVNET_BUS_USERS !== '0' && { credentials: busSeedsDir(dir) }),
    },
    fanOutPort: taken.ws_fanout,
    pids: async () => {
      const { processes } = (await read('pids.json')) as {
        readonly processes: Record<string, { readonly pid: number }>
      }
      return Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]))
    },
    stop,
  }
}
