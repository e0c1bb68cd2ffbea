import { spawn, type ChildProcess, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Address, Hex } from '../../core/action.js'
import { provideMarketFile } from '../../data/market-file.js'
import type { DevnetDeployment } from '../../devnet/chain/deploy.js'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { readPids } from '../../devnet/launcher/pids.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import type { BusPlace } from '../../runtime/bus/nats-access.js'
import { checkAnswersOf, leaveAnswersOf } from './checked-fetch.js'
import { inheritedEnvironment } from './config.js'
import { eventually } from './eventually.js'
import { venueBusPlace } from './venue-bus.js'

const READY_WITHIN_MS = 90_000
const STOP_WITHIN_MS = 60_000
/** The launcher waits up to ten seconds before it starts what keeps crashing; the rest is for a busy machine. */
const RESTART_WITHIN_MS = 60_000
const LINES_KEPT = 200

/** `devnet.json`. */
export interface Devnet extends DevnetDeployment {
  readonly rpc_url: string
  readonly gateway_url: string
  readonly executor_url: string
  readonly auth_domain: string
  readonly note: string
  readonly accounts: readonly {
    readonly name: string
    readonly address: Address
    readonly private_key: Hex
    readonly spot_subaccount_id: string
    readonly perp_subaccount_id: string
  }[]
}

export const SPOT_ALONE: readonly string[] = ['cNGN-USDC']
export const SPOT_AND_PERP: readonly string[] = ['cNGN-USDC', 'cNGN-PERP']

export interface StartVenueOptions {
  /** Seconds between blocks; 1 by default. */
  readonly blockTime?: number
  /** Off by default. */
  readonly demoMaker?: boolean
  /** Off by default: prices of the deployment are fresh for three minutes. */
  readonly feeder?: boolean
  /** Whether those who ask are given accounts; false by default. */
  readonly demoAccounts?: boolean
  readonly env?: Readonly<Record<string, string>>
  /**
   * Names of its markets, or those that every venue begins with, two series of futures among them; the spot market alone by
   * default, because each further matcher costs time.
   */
  readonly markets?: readonly string[] | 'all'
  /** The directory of an earlier venue to continue from; a new temporary one by default. */
  readonly dataDir?: string
  /** How long the start may take; 90 seconds by default. */
  readonly readyWithinMs?: number
  /** A venue on whose chain and bus this one runs the same processes once more. */
  readonly beside?: TestVenue
}

export interface TestVenue {
  readonly devnet: Devnet
  readonly gatewayUrl: string
  readonly dataDir: string
  /** The bus of its processes. */
  readonly bus: BusPlace
  readonly launcherPid: number
  /** What the launcher has printed, newest last. */
  output(): string
  /** Process ids by Procfile name; the bus is `nats-server`, the local chain `chain`. */
  pids(): Promise<Record<string, number>>
  /** Sends a signal to one process; the launcher starts it again if that ends it. */
  kill(worker: string, signal: NodeJS.Signals): Promise<void>
  /** Ends one process, by SIGTERM by default; resolves when the launcher has started its successor. */
  restartWorker(worker: string, signal?: NodeJS.Signals): Promise<void>
  /** Resolves when `GET /readyz` answers 200; that answer may be a second old. */
  untilReady(): Promise<void>
  /** Stops the venue as Ctrl-C would; resolves with its exit code. The data directory is removed unless kept. */
  stop(options?: { readonly keepData?: boolean }): Promise<number | null>
}

/** The venue did not become ready; the message ends with what the launcher printed. */
export class VenueNotReady extends Error {
  override readonly name = 'VenueNotReady'
}

/** Runs a whole venue of its own by the launcher, on free ports and in a directory of its own. */
export async function startVenue(options: StartVenueOptions = {}): Promise<TestVenue> {
  await provideBundles()
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'venue-')))
  const { beside, env = {}, markets = SPOT_ALONE } = options
  if (beside === undefined && markets !== 'all')
    await provideMarketFile(join(dataDir, 'markets.json'), markets)
  const launcher = spawn(process.execPath, ['--optimize-for-size', 'bundle/devnet/up.js'], {
    cwd: inProject('.'),
    env: {
      ...inheritedEnvironment(),
      ...launcherEnvironment(options, dataDir),
      ...(beside && (await environmentBeside(beside))),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(launcher, 'exit') as Promise<[number | null]>
  const killAtExit = () => launcher.kill('SIGTERM')
  process.once('exit', killAtExit)
  void exited.then(() => process.removeListener('exit', killAtExit))
  const lines = collectLines(launcher)
  const output = () => lines.join('\n')
  try {
    await untilReady(launcher, lines, options.readyWithinMs)
  } catch (error) {
    launcher.kill('SIGTERM')
    await exited
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true })
    throw error
  }
  const devnet = beside?.devnet ?? (await readJson<Devnet>(join(dataDir, 'devnet.json')))
  const { gateway } = await readJson<{ gateway: number }>(join(dataDir, 'ports.json'))
  const gatewayUrl = `http://127.0.0.1:${gateway}`
  checkAnswersOf(gatewayUrl)
  const pids = async () => pidsOf(dataDir)
  const kill = async (worker: string, signal: NodeJS.Signals) => {
    process.kill(pidOf(await pids(), worker), signal)
  }
  return {
    devnet,
    gatewayUrl,
    dataDir,
    output,
    pids,
    kill,
    bus: env.NATS_URL === undefined ? venueBusPlace(dataDir) : { url: env.NATS_URL },
    launcherPid: launcher.pid ?? 0,
    untilReady: () => untilAnsweringReady(gatewayUrl),
    restartWorker: async (worker, signal = 'SIGTERM') => {
      const before = pidOf(await pids(), worker)
      await kill(worker, signal)
      await eventually(async () => {
        const now = (await pids())[worker]
        return now !== undefined && now !== before
      }, RESTART_WITHIN_MS)
    },
    stop: async ({ keepData = false } = {}) => {
      launcher.kill('SIGTERM')
      const timer = setTimeout(() => launcher.kill('SIGKILL'), STOP_WITHIN_MS)
      const [code] = await exited
      clearTimeout(timer)
      leaveAnswersOf(gatewayUrl)
      if (!keepData) await rm(dataDir, { recursive: true, force: true })
      return code
    },
  }
}

const readJson = async <T>(path: string): Promise<T> =>
  JSON.parse(await readFile(path, 'utf8')) as T

/** The chain, the market file and the keys of another venue. */
async function environmentBeside({ dataDir, devnet }: TestVenue): Promise<Record<string, string>> {
  const roles = await roleAccounts(dataDir)
  return {
    RPC_URL: devnet.rpc_url,
    DEPLOYMENT_FILE: join(dataDir, 'devnet.json'),
    MARKETS_FILE: join(dataDir, 'markets.json'),
    EXECUTOR_PRIVATE_KEY: roles.executor.privateKey,
    DEPOSIT_SUBMITTER_PRIVATE_KEY: roles.deposit_submitter.privateKey,
    WITHDRAWAL_SUBMITTER_PRIVATE_KEY: roles.withdrawal_submitter.privateKey,
  }
}

function launcherEnvironment(options: StartVenueOptions, dataDir: string): Record<string, string> {
  return {
    DATA_DIR: dataDir,
    // As `./venue up` starts the launcher.
    MALLOC_TRIM_THRESHOLD_: '4194304',
    // A small share of a large disk may be all that the machine of a test has.
    DISK_RESERVE_BYTES: '67108864',
    DISK_RESERVE_PERMILLE: '0',
    GATEWAY_PORT: '0',
    EXECUTOR_PORT: '0',
    NATS_PORT: '0',
    CHAIN_PORT: '0',
    DEVNET_BLOCK_TIME: `${options.blockTime ?? 1}`,
    DEMO_MAKER: options.demoMaker === true ? '1' : '0',
    DEMO_FLOW: '0',
    DEVNET_FEEDER: options.feeder === true ? '1' : '0',
    DEMO_ACCOUNTS: options.demoAccounts === true ? '1' : '0',
    FUTURES_CALENDAR: options.markets === 'all' ? 'month-end' : 'none',
  }
}

function collectLines({ stdout, stderr }: ChildProcessByStdio<null, Readable, Readable>): string[] {
  const lines: string[] = []
  for (const input of [stdout, stderr])
    createInterface({ input }).on('line', (line) => {
      lines.push(line)
      if (lines.length > LINES_KEPT) lines.shift()
    })
  return lines
}

async function untilReady(
  launcher: ChildProcess,
  lines: readonly string[],
  withinMs = READY_WITHIN_MS,
): Promise<void> {
  let ended = false
  launcher.once('close', () => (ended = true))
  const isReady = () => lines.some((line) => line.startsWith('venue ready '))
  const inTime = await eventually(() => ended || isReady(), withinMs).then(
    () => true,
    () => false,
  )
  const outcome = isReady() ? 'ready' : inTime ? 'ended' : 'late'
  if (outcome === 'ready') return
  throw new VenueNotReady(`the venue is not ready (${outcome}):\n${lines.join('\n')}`)
}

async function untilAnsweringReady(gatewayUrl: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(new URL('/readyz', gatewayUrl))
    await answer.body?.cancel()
    return answer.ok
  }, RESTART_WITHIN_MS)
}

async function pidsOf(dataDir: string): Promise<Record<string, number>> {
  const processes = (await readPids(dataDir))?.processes ?? {}
  return Object.fromEntries(Object.entries(processes).map(([name, { pid }]) => [name, pid]))
}

function pidOf(pids: Record<string, number>, worker: string): number {
  const pid = pids[worker]
  if (pid === undefined) throw new Error(`${worker} does not run`)
  return pid
}
