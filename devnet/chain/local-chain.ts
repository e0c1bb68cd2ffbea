import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { SupervisedProcess } from '../../runtime/process/supervisor.js'
import { findAnvil } from '../launcher/binaries.js'
import type { LauncherConfig } from '../launcher/config.js'
import { writeJsonDurably } from '../../data/durable-file.js'
import { keepRunning, type SupervisionDeps } from '../launcher/keep-running.js'
import { LauncherError } from '../launcher/wait-for.js'
import type { KeyedAccount, RoleAccounts } from './accounts.js'
import { callChain, startAnvil } from './anvil.js'
import { keepChainState, saveChainState, type ChainStateKeeper } from './chain-state.js'
import { devnetFactsSchema, type DevnetFacts } from './deploy-devnet.js'

export interface LocalChainOptions {
  readonly keeping: SupervisionDeps
  readonly port: number
  readonly roles: RoleAccounts
  readonly traders: readonly KeyedAccount[]
  /** Puts the contracts on an empty chain. */
  readonly deploy: (
    rpcUrl: string,
    roles: RoleAccounts,
    traders: readonly KeyedAccount[],
    calendar: FuturesCalendar,
  ) => Promise<DevnetFacts>
}

export interface LocalChain {
  readonly facts: DevnetFacts
  /** Saves the chain's state from now on; call `finish` before the chain is stopped. Undefined when saving is off. */
  readonly keeper: ChainStateKeeper | undefined
}

/** The name of its process. */
const CHAIN = 'chain'

/** `DATA_DIR/chain-state.json`: the last saved state of the local chain. */
export const chainStateFile = (dataDir: string): string => join(dataDir, 'chain-state.json')
const factsFile = (dataDir: string): string => join(dataDir, 'deployment.json')

/**
 * Throws LauncherError, naming the remedy, when the directory has the records of a venue but not their chain:
 * settlements would be recorded against a chain that never executed them.
 */
export async function assertChainBelongs(dataDir: string): Promise<void> {
  if (existsSync(chainStateFile(dataDir))) {
    if (existsSync(factsFile(dataDir)) && existsSync(join(dataDir, 'keys.json'))) return
    throw new LauncherError(
      `${dataDir} holds a chain but not its deployment.json and keys.json: run ./venue reset`,
    )
  }
  const records = await journals(dataDir)
  if (records.length > 0)
    throw new LauncherError(
      `${dataDir} holds ${records.join(', ')} but not the chain they belong to ` +
        '(chain-state.json): run ./venue reset to begin anew',
    )
}

/**
 * The id of the local chain of a data directory: the one of the deployment that it holds, else that of the setting. Signed orders
 * and the domain of each contract hold it, so that it never changes with the setting.
 */
export async function chainIdOf({
  dataDir,
  chainId,
}: Pick<LauncherConfig, 'dataDir' | 'chainId'>): Promise<number> {
  if (!existsSync(chainStateFile(dataDir))) return chainId
  return (await storedFacts(dataDir)).deployment.chain_id
}

/** Starts the local chain under supervision; a restart continues from the state that was saved last. */
export function keepChain(
  keeping: SupervisionDeps,
  port: number,
  chainId: number,
): SupervisedProcess {
  const { dataDir, blockTimeS } = keeping.config
  const binary = findAnvil()
  const file = chainStateFile(dataDir)
  return keepRunning(keeping, CHAIN, (onSpawn, onLine) =>
    startAnvil({
      binary,
      port,
      chainId,
      blockTimeS,
      cwd: dataDir,
      onSpawn,
      onLine,
      stateFile: existsSync(file) ? file : undefined,
    }),
  )
}

/** The deployment on a running local chain: the existing one, or a new one on an empty chain. */
export async function settleDeployment(options: LocalChainOptions): Promise<LocalChain> {
  const { keeping, port } = options
  const { config, console, progress, onTrouble } = keeping
  const rpcUrl = `http://127.0.0.1:${port}`
  const file = chainStateFile(config.dataDir)
  const facts = existsSync(file)
    ? await console.step('find the contracts', () => readFacts(config.dataDir, rpcUrl, options))
    : await console.step('deploy the contracts and fund the accounts', () =>
        deployAndSave(options, rpcUrl),
      )
  if (!config.savesChain) return { facts, keeper: undefined }
  const keeper = keepChainState({
    rpcUrl,
    file,
    hasWorked: () => progress.hasMoved([CHAIN]),
    onFailure: (error) => console.say(`chain state not saved this time: ${error.message}`),
    onBroken: (cause) =>
      onTrouble(new LauncherError(`cannot save the chain's state to ${file}`, { cause })),
  })
  return { facts, keeper }
}

/** The state is written last: a chain state on disk implies that its deployment was complete. */
async function deployAndSave(options: LocalChainOptions, rpcUrl: string): Promise<DevnetFacts> {
  const { dataDir, savesChain, calendar } = options.keeping.config
  const facts = await options.deploy(rpcUrl, options.roles, options.traders, calendar)
  await writeJsonDurably(factsFile(dataDir), facts)
  if (savesChain) await saveChainState(rpcUrl, chainStateFile(dataDir))
  return facts
}

const storedFacts = async (dataDir: string): Promise<DevnetFacts> =>
  devnetFactsSchema.parse(JSON.parse(await readFile(factsFile(dataDir), 'utf8')))

async function readFacts(
  dataDir: string,
  rpcUrl: string,
  { roles }: LocalChainOptions,
): Promise<DevnetFacts> {
  const facts = await storedFacts(dataDir)
  const code = await callChain(rpcUrl, 'eth_getCode', [facts.deployment.matching, 'latest'])
  if (code === '0x' || facts.executor_address !== roles.executor.address)
    throw new LauncherError(
      `chain, deployment.json and keys.json in ${dataDir} do not belong together: run ./venue reset`,
    )
  return facts
}

async function journals(dataDir: string): Promise<string[]> {
  const databases = (await readdir(dataDir)).filter((name) => name.endsWith('.db'))
  const streams = join(dataDir, 'nats/store/jetstream/$G/streams')
  const hasStreams = existsSync(streams) && (await readdir(streams)).length > 0
  return [...databases, ...(hasStreams ? ['message streams (nats)'] : [])]
}
