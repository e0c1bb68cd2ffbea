import {
  askTransfer,
  askTransferRecord,
  transfersStream,
  transfersSubjects,
} from '../../bus-schemas/subjects.js'
import { encodeTransferAnswer, TRANSFER_PROGRESS_VERSION } from '../../bus-schemas/transfers.js'
import type { SenderPolicy } from '../../chain/sender/follow-transaction.js'
import { openKeySenders } from '../../chain/sender/key-senders.js'
import type { TransactionSender } from '../../chain/sender/transaction-sender.js'
import { whyNotSending } from '../../chain/sender/why-not-sending.js'
import { guardDeployment, untilVerified, type Deployment } from '../../chain/reads/deployment.js'
import { createHangUp, type HangUp } from '../../chain/reads/hang-up.js'
import type { Signers } from '../../chain/signing/open-signers.js'
import type { Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import { transfersOff } from '../../core/entry/transfer-refusals.js'
import { actionHashOf, type GasStanding, type TransferKind } from '../../core/transfer.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { openDatabase } from '../../data/open.js'
import { createGasSpent } from '../../data/gas-spent.js'
import {
  createRequestCounts,
  createTransferStore,
  TRANSFER_MIGRATIONS,
  type TransferStore,
} from '../../data/transfer-store.js'
import type { Bus, Subscription } from '../../runtime/bus/bus.js'
import { recordVersions } from '../../runtime/bus/stream-versions.js'
import type { Logger } from '../../runtime/process/log.js'
import {
  answerPing,
  type RunningProcess,
  type ProcessStanding,
} from '../../runtime/process/process.js'
import { createJobs, type Jobs } from './carry-out.js'
import {
  createBackOff,
  createFollower,
  createPreparationLedger,
  dueHashes,
  follow,
  followIfAnswering,
  markUnclear,
  unsettledHashes,
  type TransferFollowDeps,
} from './follow.js'
import { createJudge, createLimits } from './judge.js'
import { createRecordBook, createStepPublisher, STEPS_KEPT_MS, trimSteps } from './records.js'
import { restoreRecords } from './restore-records.js'
import { openChain, type SignedTransfer, type SubmitterChain, type TransferRules } from './rules.js'
import { answerAsks, createSubmitter, type RequestService } from './submitter.js'
import { openSender, type SenderFiles } from '../sending/open-sender.js'
import { createGasWallet } from '../sending/gas-wallet.js'
import { createTransactions, observeTransactions } from '../sending/transactions.js'

export interface SubmitterOptions<Transfer extends SignedTransfer> {
  readonly kind: TransferKind
  readonly createRules: (chain: SubmitterChain) => TransferRules<Transfer>
  readonly bus: Bus
  readonly rpcUrl: string
  /** Of accounts that matching accepts as trade executors; they pay the gas. */
  readonly signers: Signers
  readonly deployment: Deployment
  /** Directory of `<kind>s.db` and `<kind>-transactions.db`. */
  readonly dataDir: string
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  /** How long a request waits for its receipt before it is answered without one. */
  readonly answerWithinMs: number
  /** Replaces parts of the sender's default policy. */
  readonly policy?: Partial<SenderPolicy>
  /** Unix milliseconds. Defaults to the system clock. */
  readonly nowMs?: () => number
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

type Database = ReturnType<typeof openDatabase>

const CHAIN_WAIT_MS = 30_000
/** Pause between two looks at all unsettled transfers. */
const FOLLOW_EVERY_MS = 1_000
const HOUR_MS = 3_600_000

/** A submitter that takes requests. */
export interface RunningSubmitter extends RunningProcess {
  /** State of its gas wallet; never rejects. */
  readonly gasStanding: () => Promise<GasStanding>
}

/**
 * Opens the records and the journal for this process alone, after standing by while another submitter of the kind sends,
 * checks the chain, recovers what was left open and then answers requests. Throws AlreadyLocked when another submitter
 * holds the records, DeploymentMismatch when the chain is not the deployment's, and ChainUnreachable when it does not
 * answer for CHAIN_WAIT_MS.
 */
export async function openSubmitter<Transfer extends SignedTransfer>(
  options: SubmitterOptions<Transfer>,
): Promise<RunningSubmitter> {
  const { kind, dataDir, bus, log, onFatal } = options
  const running = await openSender(
    {
      owner: `${kind}-submitter`,
      bus,
      dataDir,
      log,
      onFatal,
      records: `${kind}s.db`,
      migrations: TRANSFER_MIGRATIONS,
      synchronous: 'FULL',
    },
    (files) => start(options, files),
  )
  return { gasStanding: running.gasStanding, stop: () => running.stop() }
}

async function start<Transfer extends SignedTransfer>(
  options: SubmitterOptions<Transfer>,
  { records: database, published }: SenderFiles,
): Promise<RunningSubmitter> {
  const { bus, rpcUrl, deployment, log, onFatal, nowMs = Date.now } = options
  const { signers } = options
  const { journal } = published
  await bus.declareStream({
    stream: transfersStream,
    subject: transfersSubjects,
    description: 'Every step of every deposit and withdrawal',
  })
  const onWarning = (message: string): void => log.warn(message)
  await recordVersions(bus, new Map([[transfersStream, TRANSFER_PROGRESS_VERSION]]), onWarning)
  const sender = signers.current.address
  const hangUp = createHangUp()
  const chain = await openChain({ rpcUrl, deployment, sender, nowMs, onWarning, hangUp })
  // The sender reports transactions from its opening on, before the submitter that follows them exists.
  const follower: { submitter?: StartableSubmitter } = {}
  const facts = observeTransactions(log, {
    changed: (intentId) => follower.submitter?.touch(intentId),
    unclear: (intentId) => follower.submitter?.unclear(intentId),
  })
  const rules = options.createRules(chain)
  const store = createTransferStore(database)
  const changed = restoreRecords({ rules, published, store, nowMs })
  const { chainId, matching, subAccounts } = deployment
  // Transfers call matching directly, so the contract that carries batches of matches is not checked here.
  const contracts = { matching, subAccounts, ...rules.contracts }
  const verifyChain = guardDeployment(chain.client, { chainId, contracts }, signers.current.address)
  await untilVerified(verifyChain, CHAIN_WAIT_MS, facts.waitingForChain)
  const { txSender } = await openKeySenders({
    signers,
    journal,
    rpcUrl,
    facts,
    onFatal,
    verifyChain,
    hangUp,
    ...(options.policy && { policy: options.policy }),
  })
  const submitter = assemble({
    ...options,
    rules,
    chain,
    published,
    txSender,
    database,
    store,
    nowMs,
    hangUp,
  })
  follower.submitter = submitter
  await submitter.start(changed)
  return submitter
}

interface AssembleOptions<Transfer extends SignedTransfer> extends SubmitterOptions<Transfer> {
  readonly rules: TransferRules<Transfer>
  readonly chain: SubmitterChain
  readonly published: PublishedJournal
  readonly txSender: TransactionSender
  readonly database: Database
  readonly store: TransferStore
  readonly nowMs: () => number
  readonly hangUp: HangUp
}

interface StartableSubmitter extends RunningSubmitter {
  /** Recovers what was left open, and reads these actions from the chain again, then answers requests. */
  start(changed: readonly Hex[]): Promise<void>
  /** The transaction of an intent changed. */
  touch(intentId: string): void
  /** No node has confirmed that it has the transaction of an intent. */
  unclear(intentId: string): void
}

function assemble<Transfer extends SignedTransfer>(
  options: AssembleOptions<Transfer>,
): StartableSubmitter {
  const { kind, txSender, bus, nowMs, onFatal } = options
  const stopping = new AbortController()
  const parts = createParts(options, stopping.signal)
  const { store, jobs, transactions, records, followDeps, publisher, ledger } = parts
  const unsettled = { kind, store, transactions }
  const elsewhere = createBackOff({ firstMs: FOLLOW_EVERY_MS, longestMs: HOUR_MS })
  const trimming = createBackOff({ firstMs: HOUR_MS, longestMs: HOUR_MS })
  let trimmed: Promise<unknown> | undefined
  const followOnce = (actionHash: Hex) => followIfAnswering(followDeps, actionHash)
  const follower = createFollower({
    follow: (actionHash) => follow(followDeps, actionHash),
    unsettled: () => dueHashes(unsettled, elsewhere),
    onPass: () => {
      publisher.wake()
      if (trimming.isDue(kind)) trimmed = trimSteps(bus, nowMs() - STEPS_KEPT_MS).catch(onFatal)
      ledger.settle().catch(onFatal)
    },
    everyMs: FOLLOW_EVERY_MS,
    onFatal,
  })
  let answering: RequestService | undefined
  let pings: Subscription | undefined

  return {
    gasStanding: parts.gas.standing,
    async start(changed) {
      await recover(parts, () => [...changed, ...unsettledHashes(unsettled)], followOnce)
      follower.start()
      const submitter = createSubmitter({ ...parts, kind, follow: followOnce })
      answering = await answerAsks({ ...options, ...submitter, gasStanding: parts.gas.standing })
      pings = await answerPing(bus, `${kind}-submitter`, () =>
        standing(txSender, options.published),
      )
      options.log.info({ sender: txSender.address }, `taking ${kind}s`)
    },
    touch(intentId) {
      const actionHash = actionHashOf(kind, intentId)
      if (actionHash === undefined) ledger.add(intentId)
      else follower.touch(actionHash)
    },
    unclear(intentId) {
      const actionHash = actionHashOf(kind, intentId)
      if (actionHash !== undefined) markUnclear(followDeps, actionHash)
    },
    async stop() {
      options.hangUp.soon()
      await answering?.stop()
      await pings?.stop()
      stopping.abort()
      // Stopping the sender ends the waits for receipts: jobs finish, and open requests are answered from their records.
      await txSender.stop()
      await jobs.idle()
      records.wakeAll()
      await answering?.drained()
      await follower.stop()
      await ledger.stop()
      await publisher.stop()
      await trimmed
    },
  }
}

type SubmitterParts<Transfer extends SignedTransfer> = ReturnType<typeof createParts<Transfer>>

function createParts<Transfer extends SignedTransfer>(
  options: AssembleOptions<Transfer>,
  stopping: AbortSignal,
) {
  const { kind, rules, chain, deployment, published, txSender, bus, database, store } = options
  const { log, nowMs, onFatal } = options
  const { client, reader, verifier, domain, clock } = chain
  const { matching } = deployment
  const publisher = createStepPublisher({
    bus,
    store,
    onFatal,
    onTrouble: (cause) => log.warn({ err: cause }, 'step not published, trying again'),
  })
  const transactions = createTransactions({ published, txSender, stopping })
  const records = createRecordBook({
    store,
    nowMs,
    claims: published.claims,
    trouble: published.trouble,
    published: () => transactions.published(),
    onStep: ({ actionHash, owner, status, txHash, revert, error }) => {
      log.info({ action_hash: actionHash, owner, status, tx_hash: txHash, revert, error }, kind)
      publisher.wake()
    },
  })
  const { address, readGas } = txSender
  const { reserveWei, hourBudgetWei } = options
  const { reservedWei, inFlightWei } = transactions
  const spent = createGasSpent(database)
  const gas = createGasWallet({
    address,
    readGas,
    spent,
    reservedWei,
    inFlightWei,
    reserveWei,
    hourBudgetWei,
    nowMs,
  })
  const owners = createRequestCounts(database, 'owner')
  const clients = createRequestCounts(database, 'client')
  const limits = createLimits({ ...rules, store, owners, clients, nowMs })
  const jobs: Jobs<Transfer> = createJobs({
    rules,
    records,
    store,
    transactions,
    gas,
    client,
    matching,
    nowMs,
    onFatal,
  })
  const judge = createJudge({
    kind,
    rules,
    verifier,
    domain,
    records,
    jobs,
    limits,
    gas,
    clock,
    reader,
    nowMs,
  })
  const followDeps: TransferFollowDeps = {
    kind,
    matching,
    records,
    transactions,
    gas,
    client,
    reader,
    nowMs,
    module: rules.module,
    revertName: rules.revertName,
    carryOutAgain: jobs.resume,
  }
  const ledger = createPreparationLedger({ client, matching, gas, transactions })
  return { store, publisher, records, transactions, gas, judge, jobs, followDeps, ledger }
}

/** Brings records to the state of the journal, then carries out what was claimed but never signed. */
async function recover<Transfer extends SignedTransfer>(
  { store, jobs, publisher }: SubmitterParts<Transfer>,
  unsettled: () => Hex[],
  followOnce: (actionHash: Hex) => Promise<void>,
): Promise<void> {
  for (const actionHash of unsettled()) await followOnce(actionHash)
  crash('transfer.recovery_mid')
  for (const { record } of store.unsettled()) jobs.resume(record.actionHash)
  publisher.wake()
}

function standing(
  txSender: TransactionSender,
  { trouble, term }: PublishedJournal,
): ProcessStanding {
  const why = whyNotSending(txSender) ?? trouble()
  return {
    ready: why === undefined,
    detail: why ?? 'taking requests',
    positions: { open_transactions: txSender.openCount(), journal_term: term },
  }
}

/** Answers for a submitter without a key or a manager: every request is refused, and the process counts as ready. */
export async function serveOff(bus: Bus, kind: TransferKind, why: string): Promise<RunningProcess> {
  const queue = `${kind}-submitter`
  const off = encodeTransferAnswer({ kind: 'refused', refusal: transfersOff(kind) })
  const refuse = (_: Uint8Array, replyTo: string): void => bus.reply(replyTo, off)
  const subscriptions = await Promise.all([
    bus.answer(askTransfer(kind), queue, refuse),
    bus.answer(askTransferRecord(kind), queue, refuse),
    answerPing(bus, queue, () => ({ ready: true, detail: `off: ${why}`, positions: {} })),
  ])
  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    },
  }
}
