import { join } from 'node:path'
import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import { transfersStream, transfersSubjects } from '../../bus-schemas/subjects.js'
import type { Deployment } from '../../chain/deployment.js'
import type { LanePolicy } from '../../chain/lane-policy.js'
import { guardDeployment } from '../../chain/guard-deployment.js'
import { createTransactionSigner } from '../../chain/sign-transaction.js'
import { openLane } from '../../chain/transaction-lane.js'
import type { TransactionLane } from '../../chain/transaction-lane.js'
import { untilAnswering } from '../../chain/until-answering.js'
import type { Hex } from '../../core/action.js'
import type { TransferKind } from '../../core/transfer.js'
import { takeLock } from '../../data/lock.js'
import { openDatabase } from '../../data/open.js'
import { createTransactionJournal, JOURNAL_MIGRATIONS } from '../../data/transaction-journal.js'
import { TRANSFER_MIGRATIONS } from '../../data/transfer-store.js'
import { assemble } from './assemble.js'
import type { Assembled } from './assemble.js'
import { observeSubmitter } from './observe.js'
import { openChain } from './open-chain.js'
import type { SubmitterChain } from './open-chain.js'
import type { SignedTransfer, TransferRules } from './transfer-rules.js'

export interface SubmitterOptions<Transfer extends SignedTransfer> {
  readonly kind: TransferKind
  readonly createRules: (chain: SubmitterChain) => TransferRules<Transfer>
  readonly bus: Bus
  readonly rpcUrl: string
  /** Of an account that matching knows as a trade executor; it pays the gas. */
  readonly privateKey: Hex
  readonly deployment: Deployment
  /** Directory of `<kind>s.db` and `<kind>-transactions.db`. */
  readonly dataDir: string
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  /** How long a request waits for its receipt before it is answered without. */
  readonly answerWithinMs: number
  /** How the lane weighs what the chain tells it, where that differs from its own way. */
  readonly policy?: Partial<LanePolicy>
  /** Unix milliseconds. */
  readonly nowMs?: () => number
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

const CHAIN_WAIT_MS = 30_000
/** How often everything unsettled is looked at without anything having happened. */
const FOLLOW_EVERY_MS = 1_000

/**
 * Opens the records and the journal for this process alone, checks the chain, sees to what was left open, and answers
 * from then on. Throws AlreadyLocked when another submitter has the records, DeploymentMismatch when the chain is not
 * the deployment's, and ChainUnreachable when it does not answer for half a minute.
 */
export async function openSubmitter<Transfer extends SignedTransfer>(
  options: SubmitterOptions<Transfer>,
): Promise<Running> {
  const { kind, dataDir } = options
  const path = join(dataDir, `${kind}s.db`)
  const lock = takeLock(`${path}.lock`)
  const opened: { close(): void }[] = [{ close: () => lock.release() }]
  const closeAll = (): void => {
    for (const part of opened.splice(0).reverse()) part.close()
  }
  try {
    const records = openDatabase({ path, migrations: TRANSFER_MIGRATIONS, synchronous: 'FULL' })
    opened.push(records)
    const journal = openDatabase({
      path: join(dataDir, `${kind}-transactions.db`),
      migrations: JOURNAL_MIGRATIONS,
      synchronous: 'FULL',
    })
    opened.push(journal)
    const running = await start(options, { records, journal })
    return {
      stop: async () => {
        await running.stop()
        closeAll()
      },
    }
  } catch (error) {
    closeAll()
    throw error
  }
}

type Database = ReturnType<typeof openDatabase>

async function start<Transfer extends SignedTransfer>(
  options: SubmitterOptions<Transfer>,
  databases: { readonly records: Database; readonly journal: Database },
): Promise<Running> {
  const { bus, rpcUrl, deployment, log, onFatal, nowMs = Date.now } = options
  const signer = createTransactionSigner(options.privateKey, deployment.chainId)
  const { kind } = options
  await bus.declareStream({
    stream: transfersStream,
    subject: transfersSubjects,
    description: 'Every step of every deposit and withdrawal',
  })
  const onWarning = (message: string): void => log.warn(message)
  const chain = await openChain({ rpcUrl, deployment, nowMs, onWarning })
  const journal = createTransactionJournal(databases.journal)
  // The lane tells of transactions from its opening on; who hears it exists only with the lane.
  const hearer: { parts?: Assembled } = {}
  const { lane: laneFacts, ...facts } = observeSubmitter(log, kind, {
    changed: (intentId) => hearer.parts?.touch(intentId),
    unclear: (intentId) => hearer.parts?.unclear(intentId),
  })
  const rules = options.createRules(chain)
  const { chainId, matching, subAccounts } = deployment
  // The key calls matching itself: it has no business with the contract that carries batches of matches.
  const contracts = { matching, subAccounts, ...rules.contracts }
  const verifyChain = guardDeployment(chain.client, { chainId, contracts }, signer.address)
  await untilAnswering(verifyChain, CHAIN_WAIT_MS, laneFacts.waitingForChain)
  const lane: TransactionLane = await openLane({
    ...{ signer, journal, rpcUrl, facts: laneFacts, onFatal, verifyChain },
    ...(options.policy && { policy: options.policy }),
  })
  const assembled = assemble({
    ...{ kind, rules, chain, deployment, journal, lane, bus },
    ...{ reserveWei: options.reserveWei, hourBudgetWei: options.hourBudgetWei },
    ...{ answerWithinMs: options.answerWithinMs, followEveryMs: FOLLOW_EVERY_MS },
    ...{ database: databases.records, facts, nowMs, log, onFatal },
  })
  hearer.parts = assembled
  await assembled.start()
  return assembled
}
