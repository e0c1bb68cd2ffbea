import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { RunningProcess as Part } from '../../runtime/process/process.js'
import type { SupervisedProcess } from '../../runtime/process/supervisor.js'
import type { ChainStateKeeper } from '../chain/chain-state.js'
import { inProject } from './binaries.js'
import { startChild } from './child.js'
import { keepRunning, type SupervisionDeps } from './keep-running.js'
import type { Console } from './output.js'
import { parseProcfile, type MatcherMarkets, type ProcfileEntry } from './procfile.js'
import { LauncherError } from './wait-for.js'

/** As in the Procfile: large blocks go back to the system when they are freed, as those of the program's own text at its start. */
const RETURN_MEMORY = 'MALLOC_TRIM_THRESHOLD_=4194304'

/** A client of the venue, not a part of it: it is started once the venue is ready, and on the devnet only. */
export const DEMO_MAKER: ProcfileEntry = {
  name: 'demo-maker',
  command: `exec env ${RETURN_MEMORY} node --optimize-for-size --no-opt bundle/devnet/demo-maker.js`,
}

/** Keeps the prices of a local chain fresh; another deployment has feeders of its own. */
export const FEEDER: ProcfileEntry = {
  name: 'feeder',
  command: `exec env ${RETURN_MEMORY} nice -n 10 node --optimize-for-size --no-opt bundle/devnet/feeder.js`,
}

/** Gives demo accounts to those who ask the gateway for one; on a local chain only. */
export const DEMO_ACCOUNTS: ProcfileEntry = {
  name: 'demo-accounts',
  command: `exec env ${RETURN_MEMORY} node --optimize-for-size --no-opt bundle/devnet/demo-accounts.js`,
}

/** The processes to run, from the Procfile, with the matchers of these markets. */
export async function readProcesses(
  procfile: string,
  markets: MatcherMarkets,
): Promise<ProcfileEntry[]> {
  const file = resolve(inProject('.'), procfile)
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new LauncherError(`cannot read ${file}`, { cause })
  })
  return parseProcfile(text, markets)
}

/** Keeps one process of the Procfile running, started by a shell in the project's root. */
export function keepWorker(
  keeping: SupervisionDeps,
  { name, command }: ProcfileEntry,
  env: Record<string, string | undefined>,
): SupervisedProcess {
  return keepRunning(keeping, name, async (spawned, onLine) => {
    const args = ['-c', command]
    spawned(await startChild({ command: '/bin/sh', args, cwd: inProject('.'), env, onLine }))
  })
}

/** How long each part may take before it is killed: longer than a process gives itself to stop. */
const GRACE_MS = 6_000
const BUS_GRACE_MS = 10_000

/** The running parts of a launcher; parts that it has not started are absent. */
export interface LaunchedParts {
  readonly workers: SupervisedProcess[]
  /** Starts a matcher for each registered market. */
  markets?: Part
  bus?: SupervisedProcess
  chain?: SupervisedProcess
  keeper?: ChainStateKeeper
}

/**
 * Stops the venue from the outside inwards, so that each process ends before its dependencies: demo maker (it cancels
 * its orders through the gateway), gateway, workers, executor, chain (its state is saved first, however long that takes), bus. A
 * process that does not end in time is killed.
 */
export async function stopInOrder(running: LaunchedParts, console: Console): Promise<void> {
  const { workers } = running
  await running.markets?.stop()
  const stop = async (parts: readonly SupervisedProcess[]) => {
    await Promise.all(parts.map((part) => part.stop(GRACE_MS)))
  }
  const isMaker = ({ name }: SupervisedProcess) => name === DEMO_MAKER.name
  const isGateway = ({ name }: SupervisedProcess) => name === 'gateway'
  const isExecutor = ({ name }: SupervisedProcess) => name === 'executor'
  await stop(workers.filter(isMaker))
  await stop(workers.filter(isGateway))
  await stop(workers.filter((worker) => ![isMaker, isGateway, isExecutor].some((is) => is(worker))))
  await stop(workers.filter(isExecutor))
  if (running.keeper !== undefined) await saveLastState(running.keeper, console)
  await running.chain?.stop(GRACE_MS)
  await running.bus?.stop(BUS_GRACE_MS)
}

async function saveLastState(keeper: ChainStateKeeper, console: Console): Promise<void> {
  console.say('  saving the chain ...')
  try {
    await console.step('save the chain', () => keeper.finish())
  } catch (error) {
    console.say(`the chain is not saved (${String(error)}): ${unsavedWords(keeper)}`)
  }
}

/** What a chain that is stopped now loses. */
export function unsavedWords(keeper: Pick<ChainStateKeeper, 'unsavedMs'>): string {
  const unsavedMs = keeper.unsavedMs()
  if (unsavedMs === undefined) return 'the chain is saved'
  return (
    `it continues from its state of ${Math.round(unsavedMs / 1_000)} s ago, ` +
    'and the next start reverses what was settled since'
  )
}
