import { join } from 'node:path'
import { checkDeployment } from '../chain/check-deployment.js'
import type { TradingDeployment } from '../chain/check-deployment.js'
import { createChainClient } from '../chain/client.js'
import { createGuiltyFinder } from '../chain/find-guilty.js'
import { createTransactionSigner } from '../chain/sign-transaction.js'
import type { LanePolicy } from '../chain/lane-policy.js'
import { openLane } from '../chain/transaction-lane.js'
import { untilAnswering } from '../chain/until-answering.js'
import type { Hex } from '../core/action.js'
import { takeLock } from '../data/lock.js'
import { openDatabase } from '../data/open.js'
import { createTransactionJournal, JOURNAL_MIGRATIONS } from '../data/transaction-journal.js'
import { createExecute, SIMULATION_LIMITS } from './execute.js'
import type { Executions } from './execute.js'
import type { ExecutorFacts } from './observe.js'
import { createTurns } from './turns.js'

export interface ExecutorOptions {
  readonly rpcUrl: string
  readonly privateKey: Hex
  readonly deployment: TradingDeployment
  /** Directory of executor.db. */
  readonly dataDir: string
  readonly timeoutMs: number
  readonly policy?: Partial<LanePolicy>
  readonly facts: ExecutorFacts
  readonly onFatal: (error: unknown) => void
}

export interface Executor extends Executions {
  /** Milliseconds since the chain last answered; it is asked several times a second. */
  readonly chainSilentMs: () => number
  /** Whoever waits is answered without a result; nothing is lost, since the journal is on disk. */
  stop(): Promise<void>
  /** Lets go of the journal; to be called when no execution is under way any more. */
  close(): void
}

const CHAIN_WAIT_MS = 30_000

/**
 * Opens the journal for this process alone, checks the chain, and sends again what the journal left open. Throws
 * AlreadyLocked when another executor has the journal, DeploymentMismatch when the chain is not the deployment's, and
 * ChainUnreachable when it does not answer for half a minute.
 */
export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  const path = join(options.dataDir, 'executor.db')
  const lock = takeLock(`${path}.lock`)
  try {
    const db = openDatabase({ path, migrations: JOURNAL_MIGRATIONS, synchronous: 'FULL' })
    try {
      const running = await startExecutor(options, createTransactionJournal(db))
      const close = () => {
        db.close()
        lock.release()
      }
      return { ...running, close }
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

type Journal = ReturnType<typeof createTransactionJournal>

async function startExecutor(options: ExecutorOptions, journal: Journal) {
  const { deployment, rpcUrl, facts, onFatal, timeoutMs } = options
  const read = createChainClient(rpcUrl, 'read')
  const signer = createTransactionSigner(options.privateKey, deployment.chainId)
  const check = () => checkDeployment(read, deployment, signer.address)
  await untilAnswering(check, CHAIN_WAIT_MS, facts.waitingForChain)

  const lane = await openLane({
    ...{ signer, journal, rpcUrl, facts, onFatal },
    ...(options.policy && { policy: options.policy }),
  })

  const { matching } = deployment
  const simulations = createTurns(SIMULATION_LIMITS)
  const executions = createExecute({
    matching,
    client: read,
    journal,
    lane,
    simulations,
    findGuilty: createGuiltyFinder({ client: read, deployment }),
    timeoutMs,
    facts,
  })
  const { chainSilentMs } = lane
  const stop = () => {
    simulations.close()
    return lane.stop()
  }
  return { ...executions, chainSilentMs, stop }
}
