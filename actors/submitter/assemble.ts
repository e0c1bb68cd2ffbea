import type { Database } from 'better-sqlite3'
import type { Bus, Subscription } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import type { Deployment } from '../../chain/deployment.js'
import type { TransactionLane } from '../../chain/transaction-lane.js'
import type { TransactionJournal } from '../../chain/transaction-journal.js'
import type { Hex } from '../../core/action.js'
import { crash } from '../../core/crash-point.js'
import type { TransferKind } from '../../core/transfer.js'
import { createGasSpent, createRequestCounts } from '../../data/request-counts.js'
import { createTransferStore } from '../../data/transfer-store.js'
import { answerPing } from '../answer-ping.js'
import type { Standing } from '../answer-ping.js'
import { answerAsks } from './answer-asks.js'
import type { Answering } from './answer-asks.js'
import { createBackOff } from './back-off.js'
import { follow, followIfAnswering, markUnclear } from './follow.js'
import type { FollowDeps } from './follow.js'
import { createFollower } from './follower.js'
import { createGasWallet } from './gas.js'
import { createJobs } from './jobs.js'
import type { Jobs } from './jobs.js'
import { createJudge } from './judge.js'
import { createLimits } from './limits.js'
import type { SubmitterFacts } from './observe.js'
import type { SubmitterChain } from './open-chain.js'
import { createPreparationLedger } from './preparation-ledger.js'
import { createStepPublisher } from './publish-steps.js'
import { createRecordBook } from './record-book.js'
import { createSubmitter } from './submitter.js'
import { actionHashOf, createTransactions } from './transactions.js'
import type { SignedTransfer, TransferRules } from './transfer-rules.js'
import { STEPS_KEPT_MS, trimSteps } from './trim-steps.js'
import { dueHashes, unsettledHashes } from './unsettled.js'

export interface AssembleOptions<Transfer extends SignedTransfer> {
  readonly kind: TransferKind
  readonly rules: TransferRules<Transfer>
  readonly chain: SubmitterChain
  readonly deployment: Deployment
  readonly journal: TransactionJournal
  readonly lane: TransactionLane
  readonly bus: Bus
  /** The records; closed by whoever opened it. */
  readonly database: Database
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  readonly answerWithinMs: number
  readonly followEveryMs: number
  readonly facts: Omit<SubmitterFacts, 'lane'>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** A submitter's parts, put together. */
export interface Assembled extends Running {
  /** Sees to what was left open, then answers. */
  start(): Promise<void>
  /** Something happened to the transaction of an intent. */
  touch(intentId: string): void
  unclear(intentId: string): void
}

/** A chain that has been silent for longer is not one that deposits can be promised on. */
const CHAIN_SILENT_MAX_MS = 10_000
const HOUR_MS = 3_600_000

export function assemble<Transfer extends SignedTransfer>(
  options: AssembleOptions<Transfer>,
): Assembled {
  const { kind, lane, bus, onFatal } = options
  const stopping = new AbortController()
  const parts = createParts(options, stopping.signal)
  const { store, jobs, transactions, records, followDeps, publisher, ledger } = parts
  const unsettled = { kind, store, transactions }
  const elsewhere = createBackOff({ firstMs: options.followEveryMs, longestMs: HOUR_MS })
  const trimming = createBackOff({ firstMs: HOUR_MS, longestMs: HOUR_MS })
  const trim = () => trimSteps(bus, options.nowMs() - STEPS_KEPT_MS).catch(onFatal)
  let trimmed: Promise<unknown> | undefined
  const lookOnce = (actionHash: Hex) => followIfAnswering(followDeps, actionHash)
  const follower = createFollower({
    follow: (actionHash) => follow(followDeps, actionHash),
    unsettled: () => dueHashes(unsettled, elsewhere),
    onLook: () => {
      publisher.wake()
      if (trimming.isDue(kind)) trimmed = trim()
      ledger.settle().catch(onFatal)
    },
    everyMs: options.followEveryMs,
    onFatal,
  })
  let answering: Answering | undefined
  let pings: Subscription | undefined

  return {
    async start() {
      await recover(parts, () => unsettledHashes(unsettled), lookOnce)
      follower.start()
      const submitter = createSubmitter({ ...parts, kind, follow: lookOnce })
      answering = await answerAsks({ ...options, ...submitter, gasStanding: parts.gas.standing })
      pings = await answerPing(bus, `${kind}-submitter`, () => standing(lane))
      options.log.info({ sender: lane.address }, `taking ${kind}s`)
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
      await answering?.stop()
      await pings?.stop()
      stopping.abort()
      // Whoever waits for a receipt is woken without one, and so the jobs end and the askers are answered.
      await lane.stop()
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

type Parts<Transfer extends SignedTransfer> = ReturnType<typeof createParts<Transfer>>

function createParts<Transfer extends SignedTransfer>(
  options: AssembleOptions<Transfer>,
  stopping: AbortSignal,
) {
  const { kind, rules, chain, deployment, journal, lane, bus, database } = options
  const { facts, nowMs, onFatal } = options
  const { client, reader, verifier, domain, clock } = chain
  const { matching } = deployment
  const store = createTransferStore(database)
  const onTrouble = facts.publishingTrouble
  const publisher = createStepPublisher({ bus, store, onTrouble, onFatal })
  const records = createRecordBook({
    store,
    nowMs,
    onStep: (record) => {
      facts.stepped(record)
      publisher.wake()
    },
  })
  const transactions = createTransactions({ journal, lane, stopping })
  const { address, readGas } = lane
  const { reserveWei, hourBudgetWei } = options
  const { reservedWei } = transactions
  const spent = createGasSpent(database)
  const gas = createGasWallet({
    ...{ address, readGas, spent, reservedWei, reserveWei, hourBudgetWei, nowMs },
  })
  const owners = createRequestCounts(database, 'owner')
  const clients = createRequestCounts(database, 'client')
  const limits = createLimits({ ...rules, store, owners, clients, nowMs })
  const judge = createJudge({
    ...{ kind, rules, verifier, domain, records, limits, gas, clock, reader, nowMs },
  })
  const jobs: Jobs<Transfer> = createJobs({
    ...{ rules, records, store, transactions, gas, client, matching, nowMs, onFatal },
  })
  const followDeps: FollowDeps = {
    ...{ kind, matching, records, transactions, gas, client, reader, nowMs },
    ...{ module: rules.module, revertName: rules.revertName, carryOutAgain: jobs.resume },
  }
  const ledger = createPreparationLedger({ client, matching, gas, transactions })
  return { store, publisher, records, transactions, gas, judge, jobs, followDeps, ledger }
}

/** Records are brought to what the journal says; what was claimed and never signed is carried out now. */
async function recover<Transfer extends SignedTransfer>(
  { store, jobs, publisher }: Parts<Transfer>,
  unsettled: () => Hex[],
  lookOnce: (actionHash: Hex) => Promise<void>,
): Promise<void> {
  for (const actionHash of unsettled()) await lookOnce(actionHash)
  crash('transfer.recovery_mid')
  for (const { record } of store.unsettled()) jobs.resume(record.actionHash)
  publisher.wake()
}

function standing(lane: TransactionLane): Standing {
  const frozen = lane.frozen() !== undefined
  const silent = lane.chainSilentMs() > CHAIN_SILENT_MAX_MS
  const trouble = frozen ? 'a stranger uses the key' : 'the chain does not answer'
  return {
    ready: !frozen && !silent,
    detail: frozen || silent ? trouble : 'taking requests',
    positions: { open_transactions: lane.openCount() },
  }
}
