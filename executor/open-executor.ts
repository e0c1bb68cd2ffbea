import { join } from 'node:path'
import type { TradingDeployment } from '../chain/check-deployment.js'
import { createChainClient } from '../chain/client.js'
import type { ChainClient } from '../chain/client.js'
import { eventOfBatch, outcomesOfBatch } from '../chain/encode-batch.js'
import { createGuiltyFinder } from '../chain/find-guilty.js'
import { createBalanceReader } from '../chain/read-balances.js'
import { isUnchanged, readHead } from '../chain/read-head.js'
import { createTransactionSigner } from '../chain/sign-transaction.js'
import { guardDeployment } from '../chain/guard-deployment.js'
import type { LanePolicy } from '../chain/lane-policy.js'
import { openLane } from '../chain/transaction-lane.js'
import type { TransactionLane } from '../chain/transaction-lane.js'
import { untilAnswering } from '../chain/until-answering.js'
import type { Hex } from '../core/action.js'
import type { Market } from '../core/market.js'
import { takeLock } from '../data/lock.js'
import { openDatabase } from '../data/open.js'
import { createTransactionJournal, JOURNAL_MIGRATIONS } from '../data/transaction-journal.js'
import { carryBatches } from './carry-batches.js'
import { carrySingly } from './carry-singly.js'
import { createExecute } from './execute.js'
import type { Executions } from './execute.js'
import { createInFlightBook } from './in-flight.js'
import type { ExecutorFacts } from './observe.js'
import { createReadReversals } from './reversals.js'
import type { ReadReversals } from './reversals.js'
import { createSettlementQueue } from './settlement-queue.js'
import type { SettlementQueue } from './settlement-queue.js'
import { termsOfTransaction } from './settlement.js'

export interface ExecutorOptions {
  readonly rpcUrl: string
  readonly privateKey: Hex
  readonly deployment: TradingDeployment
  /** Directory of executor.db. */
  readonly dataDir: string
  /** The markets that are settled here. */
  readonly markets: readonly Market[]
  readonly timeoutMs: number
  /** Gas money that the signer keeps, in wei. */
  readonly gasReserveWei: bigint
  /** Nonces of the signer that may have been used without the journal's knowledge; any number unless told. */
  readonly acceptNonces?: number
  /** How long a batch is gathered beyond what comes while the last one is tried out; not at all unless told. */
  readonly windowMs?: number
  readonly policy?: Partial<LanePolicy>
  readonly facts: ExecutorFacts
  readonly onFatal: (error: unknown) => void
}

export interface Executor extends Executions {
  readonly readReversals: ReadReversals
  /** Why no match could be settled now. */
  readonly trouble: () => string | undefined
  /** Whoever waits is answered without a result; nothing is lost, since the journal is on disk. */
  stop(): Promise<void>
  /** Lets go of the journal; to be called when no execution is under way any more. */
  close(): void
}

const CHAIN_WAIT_MS = 30_000
/** Many times as long as a chain that works leaves between two answers. */
const CHAIN_SILENT_MAX_MS = 5_000

/**
 * Opens the journal for this process alone, checks the chain, and sends again what the journal left open. Throws
 * AlreadyLocked when another executor has the journal, DeploymentMismatch when the chain is not the deployment's, and
 * ChainUnreachable when it does not answer for half a minute, and JournalIncomplete when the chain knows more of the
 * signer than the journal.
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
  const { deployment, markets, rpcUrl, facts, onFatal, timeoutMs } = options
  const client = createChainClient(rpcUrl, 'read')
  const signer = createTransactionSigner(options.privateKey, deployment.chainId)
  const { chainId, matching, subAccounts, spotTradeModule, batchExecutor } = deployment
  const contracts = {
    ...{ matching, subAccounts, spotTradeModule },
    ...(batchExecutor !== undefined && { batchExecutor }),
  }
  const verifyChain = guardDeployment(client, { chainId, contracts }, signer.address)
  await untilAnswering(verifyChain, CHAIN_WAIT_MS, facts.waitingForChain)

  const lane = await openLane({
    ...{ signer, journal, rpcUrl, facts, onFatal, verifyChain },
    reserve: { wei: options.gasReserveWei },
    ...(options.acceptNonces !== undefined && { acceptNonces: options.acceptNonces }),
    ...(options.policy && { policy: options.policy }),
    ...(batchExecutor !== undefined && {
      outcomesOf: outcomesOfBatch(batchExecutor),
      eventPerIntent: eventOfBatch(batchExecutor),
    }),
  })
  const queue = openQueue(options, { journal, lane, client })
  const executions = createExecute({
    ...{ matching, markets, journal, lane, queue, timeoutMs, facts },
    findGuilty: createGuiltyFinder({ client, deployment }),
  })
  const readReversals = createReadReversals({ journal, lane, isRunning: executions.isRunning })
  const stop = async () => {
    // Whoever waits for a receipt is woken before the queue is waited for.
    await Promise.all([queue.stop(), lane.stop()])
  }
  return { ...executions, readReversals, trouble: () => troubleOf(lane), stop }
}

/** What holds for every match; a silence comes first, since it makes the lane doubt everything else. */
const troubleOf = (lane: TransactionLane): string | undefined =>
  lane.chainSilentMs() > CHAIN_SILENT_MAX_MS ? 'the chain does not answer' : lane.trouble()

interface Parts {
  readonly journal: Journal
  readonly lane: TransactionLane
  readonly client: ChainClient
}

function openQueue(options: ExecutorOptions, { journal, lane, client }: Parts): SettlementQueue {
  const { deployment, markets, facts, windowMs = 0 } = options
  const { matching, subAccounts, batchExecutor } = deployment
  const sender = lane.address
  const book = createInFlightBook()
  for (const { transaction } of journal.unsettledTransactions(sender)) {
    book.add(transaction.evmNonce, termsOfTransaction(transaction, markets))
  }
  return createSettlementQueue({
    ...{ journal, lane, book, facts, windowMs },
    carrier:
      batchExecutor === undefined
        ? carrySingly({ client, matching, sender })
        : carryBatches({ client, batchExecutor, sender }),
    readHead: () => readHead(client, sender),
    isUnchanged: (head) => isUnchanged(client, sender, head),
    readBalances: createBalanceReader(client, subAccounts),
  })
}
