import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { privateKeyToAddress } from 'viem/accounts'
import type { Address } from '../../core/action.js'
import { assert } from '../../core/assert.js'
import { provideMarketFile } from '../../data/market-file.js'
import {
  demoKeyOf,
  developmentAccounts,
  keeperKeyOf,
  roleAccounts,
  type RoleAccounts,
} from '../chain/accounts.js'
import { grantKeeper } from '../chain/grant-keeper.js'
import { deployDevnet, writeDevnetFile, type DevnetFacts } from '../chain/deploy-devnet.js'
import { readOpenSeries } from '../series/next-series.js'
import {
  assertChainBelongs,
  chainIdOf,
  chainStateFile,
  keepChain,
  settleDeployment,
} from '../chain/local-chain.js'
import { authorizationBlock, provideSeeds } from '../../runtime/bus/nats-users.js'
import { busSeedsDir } from '../../runtime/bus/nats-access.js'
import { findNatsServer } from './binaries.js'
import type { ExistingDeployment, LauncherConfig } from './config.js'
import { keepPrivate } from '../../runtime/process/private-files.js'
import { forgetMetrics, lockDataDir, provideDataDir, provideExecutorSecret } from './data-dir.js'
import { settlePorts, workerEnvironments, type Ports, type VenueWiring } from './environment.js'
import { readSeriesOf } from './existing-series.js'
import { followMarkets } from './follow-markets.js'
import { freePort } from './free-port.js'
import { keepRunning, startGuard, type SupervisionDeps } from './keep-running.js'
import { startNatsServer } from './nats-server.js'
import type { Console } from './output.js'
import { endOrphans, keepPids } from './pids.js'
import type { ProcfileEntry } from './procfile.js'
import { watchProgress } from './progress.js'
import { untilReady } from './until-ready.js'
import { LauncherError, waitFor } from './wait-for.js'
import {
  DEMO_ACCOUNTS,
  DEMO_MAKER,
  FEEDER,
  keepWorker,
  readProcesses,
  stopInOrder,
  unsavedWords,
  type LaunchedParts,
} from './workers.js'

const QUOTED_WITHIN_MS = 10_000
const DEMO_MARKET = 'cNGN-USDC'

export interface Launcher {
  /** Starts the venue; resolves with the gateway's address once it is ready. Throws LauncherError. */
  start(): Promise<string>
  /** Stops every running part, in order; the chain may take long to save its state. */
  stop(): Promise<void>
  /** Kills every running part at once; gives the consequence in words. */
  kill(): string
}

export interface LauncherOptions {
  readonly config: LauncherConfig
  readonly console: Console
  /** Puts the contracts on an empty local chain. */
  readonly deploy?: typeof deployDevnet
}

type BusSide = Pick<VenueWiring, 'natsUrl' | 'natsCredentials' | 'operatorKeys'>
type ChainSide = Omit<VenueWiring, keyof BusSide | 'ports' | 'marketsFile' | 'demoPort'> & {
  /** Expiries of the series of futures that a new market file lists, rising, in unix seconds. */
  readonly series: readonly number[]
}

/** Starts and stops a whole venue on this machine. */
export function createLauncher(options: LauncherOptions): Launcher {
  const { config, console, deploy = deployDevnet } = options
  const running: LaunchedParts = { workers: [] }
  let release = () => {}
  let phase: 'starting' | 'up' | 'stopping' = 'starting'
  let fail: (error: LauncherError) => void = () => {}
  const trouble = new Promise<never>((_, reject) => (fail = reject))
  trouble.catch(() => undefined)
  const guard = startGuard()
  const keeping: SupervisionDeps = {
    config,
    console,
    guard,
    pids: keepPids(config.dataDir),
    progress: watchProgress(),
    // During the start, a process that keeps crashing aborts the start; later it is logged, and restarts continue.
    onTrouble: (error) => (phase === 'starting' ? fail(error) : console.say(error.message)),
    isStopping: () => phase === 'stopping',
  }
  const bringUp = async () => {
    provideDataDir(config.dataDir)
    release = lockDataDir(config.dataDir)
    keepPrivate(config.dataDir)
    const ports = await prepare(config, console)
    return startAll({ keeping, running, ports, deploy })
  }
  return {
    start: async () => {
      const url = await Promise.race([bringUp(), trouble])
      if (phase === 'starting') phase = 'up'
      return url
    },
    stop: async () => {
      phase = 'stopping'
      await stopInOrder(running, console)
      await keeping.pids.flush()
      guard.end()
      release()
    },
    kill: () => {
      for (const part of [...running.workers, running.chain, running.bus]) part?.signal('SIGKILL')
      const { keeper } = running
      return keeper === undefined ? 'all processes are killed' : unsavedWords(keeper)
    },
  }
}

async function prepare(config: LauncherConfig, console: Console): Promise<Ports> {
  const orphans = await endOrphans(config.dataDir)
  if (orphans.length > 0) console.say(`  ended leftover processes: ${orphans.join(', ')}`)
  forgetMetrics(config.dataDir)
  if (config.existing === undefined) await assertChainBelongs(config.dataDir)
  else assertNoDevnet(config.dataDir)
  const { executorSecretFile: secretFile } = config
  // A file of the operator's is not made here: without it the executor says so.
  if (secretFile !== undefined && dirname(secretFile) === config.dataDir)
    await provideExecutorSecret(secretFile)
  return settlePorts(config)
}

interface Start {
  readonly keeping: SupervisionDeps
  /** Collects every part as soon as it is started. */
  readonly running: LaunchedParts
  readonly ports: Ports
  readonly deploy: typeof deployDevnet
}

async function startAll(start: Start): Promise<string> {
  const { keeping, running, ports } = start
  const { config, console } = keeping
  const [busSide, chainSide] = await Promise.all([startBus(start), startChainSide(start)])
  const { marketsFile } = config
  await provideMarketFile(marketsFile, undefined, chainSide.series)
  const { ownProcessMarkets: own } = config
  const listed = await readProcesses(config.procfile, { markets: [], own })
  const { keys } = chainSide
  const processes = [
    ...listed,
    ...(keys.feeder === undefined ? [] : [FEEDER]),
    ...(keys.demoAccounts === undefined ? [] : [DEMO_ACCOUNTS]),
  ]
  const environment = workerEnvironments(config, {
    ...chainSide,
    ...busSide,
    ports,
    marketsFile,
    demoPort: keys.demoAccounts === undefined ? undefined : await freePort(),
  })
  const run = (entry: ProcfileEntry) =>
    running.workers.push(keepWorker(keeping, entry, environment(entry.name)))
  processes.forEach(run)
  const names = processes.map(({ name }) => name)
  running.markets = followMarkets({
    env: environment('matchers'),
    onMarket: async (market) => {
      const entries = await readProcesses(config.procfile, { markets: [market], own })
      for (const entry of entries.filter(({ name }) => !names.includes(name))) {
        names.push(entry.name)
        run(entry)
      }
    },
    onError: (error) => console.say(`markets get no matchers any more: ${String(error)}`),
  })
  const gatewayUrl = `http://127.0.0.1:${ports.gateway}`
  await console.step(`start ${names.join(', ')} and the matchers`, () =>
    untilReady({
      gatewayUrl,
      progress: keeping.progress,
      say: (line) => console.say(line),
      processes: names,
    }),
  )
  if (keys.demoMaker !== undefined) {
    run(DEMO_MAKER)
    await console.step(`start ${DEMO_MAKER.name}`, () => untilQuoted(gatewayUrl))
  }
  return gatewayUrl
}

/** Waits until the book has two sides. A slow maker does not make the start fail. */
async function untilQuoted(gatewayUrl: string): Promise<void> {
  const ask = async () => {
    const answer = await fetch(`${gatewayUrl}/v1/book?symbol=${DEMO_MARKET}&depth=1`)
    const { bids = [], asks = [] } = (await answer.json()) as Partial<Record<string, unknown[]>>
    return (bids.length > 0 && asks.length > 0) || undefined
  }
  await waitFor('the demo maker to quote', QUOTED_WITHIN_MS, ask).catch(() => undefined)
}

async function startBus({ keeping, running, ports }: Start): Promise<BusSide> {
  const { config, console } = keeping
  if (config.natsUrl !== undefined) {
    return { natsUrl: config.natsUrl, natsCredentials: undefined, operatorKeys: undefined }
  }
  const { nats: port, nats_monitor: monitorPort } = ports
  assert(port !== undefined && monitorPort !== undefined, 'a bus of our own has ports')
  const binary = findNatsServer({ natsServerBin: config.natsServerBin, path: config.path })
  const dir = join(config.dataDir, 'nats')
  const { natsMaxStoredBytes: maxStoredBytes } = config
  const bounded = maxStoredBytes === undefined ? {} : { maxStoredBytes }
  const natsCredentials = config.busUsers ? busSeedsDir(config.dataDir) : undefined
  const keys = natsCredentials === undefined ? undefined : await provideSeeds(natsCredentials)
  const secured = keys === undefined ? {} : { authorization: authorizationBlock(keys) }
  const bus = keepRunning(keeping, 'nats-server', (onSpawn, onLine) =>
    startNatsServer({ binary, dir, port, monitorPort, onSpawn, onLine, ...bounded, ...secured }),
  )
  running.bus = bus
  await console.step(`start nats-server on 127.0.0.1:${port}`, () => bus.ready)
  // The keeper registers the series of the calendar.
  const operatorKeys = keys && `operator=${keys.operator},keeper=${keys.keeper}`
  return { natsUrl: `nats://127.0.0.1:${port}`, natsCredentials, operatorKeys }
}

async function startChainSide({ keeping, running, ports, deploy }: Start): Promise<ChainSide> {
  const { config, console } = keeping
  if (config.existing !== undefined) {
    const { existing, calendar, marketsFile } = config
    // A market file that exists gets no rows.
    const isListing = calendar !== 'none' && !existsSync(marketsFile)
    const series = isListing ? await readSeriesOf(existing.rpcUrl, existing.file) : []
    return existingSide(config.existing, config.demoMaker, series)
  }
  const { chain: port } = ports
  assert(port !== undefined, 'a chain of our own has a port')
  const roles = await roleAccounts(config.dataDir)
  const traders = developmentAccounts()
  const chainId = await chainIdOf(config)
  if (chainId !== config.chainId)
    console.say(`  the chain in ${config.dataDir} keeps its id ${chainId}`)
  const chain = keepChain(keeping, port, chainId)
  running.chain = chain
  await console.step(`start the local chain on 127.0.0.1:${port}`, () => chain.ready)
  const { facts, keeper } = await settleDeployment({ keeping, port, roles, traders, deploy })
  if (keeper !== undefined) running.keeper = keeper
  const rpcUrl = `http://127.0.0.1:${port}`
  if (config.feeder) await provideKeeper(rpcUrl, roles, facts)
  const { privateKey } = roles.demo_maker
  const demoMaker = {
    privateKey,
    subaccountId: facts.demo_maker_subaccount_id,
    perpSubaccountId: facts.demo_maker_perp_subaccount_id,
  }
  const hasSeeder = facts.deployment.demo_seeder !== undefined
  return {
    rpcUrl,
    series: await readOpenSeries(rpcUrl, facts.deployment),
    deploymentFile: await writeDevnetFile(config, ports, facts, traders),
    executorAddress: roles.executor.address,
    keys: {
      executor: roles.executor.privateKey,
      depositSubmitter: roles.deposit_submitter.privateKey,
      withdrawalSubmitter: roles.withdrawal_submitter.privateKey,
      keeper: config.feeder ? keeperKeyOf(roles) : undefined,
      demoMaker: config.demoMaker ? demoMaker : undefined,
      feeder: config.feeder ? roles.feeder.privateKey : undefined,
      demoAccounts: config.demoAccounts && hasSeeder ? demoKeyOf(roles) : undefined,
    },
  }
}

/** The deployment opens the first series itself, and a devnet of an earlier build has no keeper. */
async function provideKeeper(
  rpcUrl: string,
  roles: RoleAccounts,
  { deployment }: DevnetFacts,
): Promise<void> {
  const { future_asset: futureAsset } = deployment
  if (typeof futureAsset !== 'string') return
  const keeper = privateKeyToAddress(keeperKeyOf(roles)).toLowerCase() as Address
  const ownerKey = roles.deployer.privateKey
  await grantKeeper({ rpcUrl, futureAsset: futureAsset as Address, keeper, ownerKey })
}

function existingSide(
  existing: ExistingDeployment,
  demoMaker: boolean,
  series: readonly number[],
): ChainSide {
  return {
    rpcUrl: existing.rpcUrl,
    series,
    deploymentFile: existing.file,
    executorAddress: undefined,
    keys: {
      executor: existing.executorPrivateKey,
      depositSubmitter: existing.depositSubmitterPrivateKey,
      withdrawalSubmitter: existing.withdrawalSubmitterPrivateKey,
      keeper: existing.keeperPrivateKey,
      demoMaker: demoMaker ? existing.demoMaker : undefined,
      feeder: undefined,
      demoAccounts: undefined,
    },
  }
}

function assertNoDevnet(dataDir: string): void {
  if (existsSync(chainStateFile(dataDir)))
    throw new LauncherError(
      `${dataDir} belongs to a devnet with a chain of its own: give this venue another DATA_DIR`,
    )
}
