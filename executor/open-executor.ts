import { maySettle } from '../chain/contracts/calldata.js'
import { createGuiltyFinder } from '../chain/contracts/find-guilty.js'
import { createGasUseReader } from '../chain/contracts/read-gas-use.js'
import { createMarkReader } from '../chain/contracts/read-mark.js'
import { eventOfBatch, outcomesOfBatch } from '../chain/contracts/simulate.js'
import type { SenderPolicy } from '../chain/sender/follow-transaction.js'
import { openKeySenders, type KeySenders } from '../chain/sender/key-senders.js'
import type { TransactionSender } from '../chain/sender/transaction-sender.js'
import { isUnchanged, readSenderHead, type SenderHead } from '../chain/reads/blocks.js'
import {
  createChainClient,
  orUnreachable,
  untilAnswering,
  type ChainClient,
} from '../chain/reads/client.js'
import {
  guardDeployment,
  untilVerified,
  type CalledContracts,
  type TradingDeployment,
} from '../chain/reads/deployment.js'
import { createCodeReader } from '../chain/reads/code-at-block.js'
import { createHangUp } from '../chain/reads/hang-up.js'
import { createClaimReader } from '../chain/contracts/read-claims.js'
import type { Acceptance } from '../chain/sender/tracking.js'
import type { Signers } from '../chain/signing/open-signers.js'
import type { Address, Hex } from '../core/action.js'
import type { Market } from '../core/model/market.js'
import { quoteE18, type QuoteE18 } from '../core/money.js'
import { SETTLEMENT_UNAVAILABLE } from '../core/revert.js'
import type { TransactionJournal } from '../core/transaction-journal.js'
import { openPublishedJournal, type PublishedJournal } from '../data/journal/published-journal.js'
import { JOURNAL_FILES, openJournalFile } from '../data/journal/journal-file.js'
import { TRIMMING } from '../data/journal/trim-journal.js'
import { takeLock } from '../data/open.js'
import type { Bus } from '../runtime/bus/bus.js'
import { createExecute, type Executions } from './execute.js'
import { createInFlightBook } from './in-flight.js'
import type { ExecutorObserver } from './observe.js'
import { createLostGas, LOST_GAS_PER_HOUR, type LostGas } from './lost-gas.js'
import { packBatches, packSingly } from './pack-matches.js'
import { createReadReversals, type OutcomeReversal } from './reversals.js'
import { createSettlementQueue, type SettlementQueue } from './settlement-queue.js'
import { termsOfTransaction, type MatchPacker } from './settlement.js'
import { watchFaults, type FaultWatch, type StandingFaults } from './watch-faults.js'
import { databasePath } from '../data/places.js'

export interface ExecutorOptions {
  /** Carries the journal's stream. */
  readonly bus: Bus
  readonly rpcUrl: string
  readonly signers: Signers
  readonly deployment: TradingDeployment
  /** Directory of executor.db. */
  readonly dataDir: string
  /** A damaged journal file is folded from its stream again; absent: it ends the start. */
  readonly onSetAside?: (message: string) => void
  /** The markets that are settled here. */
  readonly markets: readonly Market[]
  readonly timeoutMs: number
  /** Gas money that the signer keeps, in wei. */
  readonly gasReserveWei: bigint
  /** The highest nonce count of the signer that an empty journal accepts; by default any. */
  readonly acceptNonces?: number
  /** How long the queue waits for more settlements before each group; 0 by default. */
  readonly windowMs?: number
  /** Settlements with a smaller fee wait at most a block for others of the same accounts; by default none waits. */
  readonly shareBelowFee?: QuoteE18
  /** Gas that a signer that is code may lose in an hour for one owner; 3,000,000 by default. */
  readonly lostGasPerHour?: bigint
  /** USDC at 1e18 for 1e18 wei; 0 by default, at which gas costs nothing. */
  readonly gasTokenPrice?: QuoteE18
  readonly policy?: Partial<SenderPolicy>
  readonly facts: ExecutorObserver
  readonly onFatal: (error: unknown) => void
}

/** At most `limit` reversals with a number above `after`. */
export type ReadDurableReversals = (after: number, limit: number) => Promise<OutcomeReversal[]>

export interface Executor extends Executions {
  /** As `createReadReversals`, once all that it reads is on the bus. */
  readonly readReversals: ReadDurableReversals
  readonly faults: Pick<FaultWatch, 'standing'>
  /** Why no match can be settled now; undefined when one can. */
  readonly trouble: () => string | undefined
  /** Settles again after a foreign transaction, once that is recorded on the bus; rejects with ChainUnreachable. */
  readonly acceptForeign: (hash: Hex) => Promise<Acceptance>
  /** Settlements that wait to be simulated and sent. */
  readonly waiting: () => number
  readonly lostGas: Pick<LostGas, 'total' | 'top' | 'sinceMs'>
  /** Of the signer that sends what is new. */
  readonly address: Address
  /** Funds of the signer, in wei, at most a block old; rejects with ChainUnreachable. */
  readonly readBalance: () => Promise<bigint>
  /** Answers waiting requests without a result. Nothing is lost that was sent, because the journal's stream has it. */
  stop(): Promise<void>
  /** Closes the journal; call it when no execution is running. */
  close(): Promise<void>
}

const CHAIN_WAIT_MS = 30_000
const NO_QUOTE = quoteE18(0n)
/** Many times the longest pause between two answers of a working chain. */
const CHAIN_SILENT_MAX_MS = 5_000

/**
 * Opens the journal for this process alone, after standing by while another executor sends, checks the chain, and sends
 * again what the journal left open. Throws AlreadyLocked when another executor has the file, DeploymentMismatch when the
 * chain is not the deployment's, ChainUnreachable when it does not answer for half a minute, and JournalIncomplete when
 * the chain knows more of the signer than the journal's stream.
 */
export async function openExecutor(options: ExecutorOptions): Promise<Executor> {
  const path = databasePath(options.dataDir, JOURNAL_FILES.executor)
  const lock = takeLock(`${path}.lock`)
  try {
    const { onSetAside } = options
    const db = openJournalFile(path, { ...(onSetAside && { onSetAside }) })
    try {
      const { bus, facts, onFatal } = options
      const published = await openPublishedJournal({
        db,
        bus,
        owner: 'executor',
        facts,
        onFatal,
        trimming: TRIMMING,
      })
      const starting = startExecutor(options, published)
      const running = await starting.catch(async (error: unknown) => {
        await published.stop()
        throw error
      })
      const close = async () => {
        await published.stop()
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

async function startExecutor(
  options: ExecutorOptions,
  { journal, trouble: busTrouble }: PublishedJournal,
) {
  const { deployment, markets, rpcUrl, facts, onFatal, timeoutMs } = options
  const hangUp = createHangUp()
  const client = createChainClient(rpcUrl, 'read', hangUp)
  const { chainId, matching, batchExecutor } = deployment
  const found = await untilAnswering(
    () => withModules(client, markets),
    CHAIN_WAIT_MS,
    facts.waitingForChain,
  )
  const contracts = calledContracts(deployment, found)
  const verifyChain = guardDeployment(client, { chainId, contracts })
  await untilVerified(verifyChain, CHAIN_WAIT_MS, facts.waitingForChain)

  const keys = await openKeySenders({
    signers: options.signers,
    journal,
    rpcUrl,
    facts,
    onFatal,
    verifyChain,
    hangUp,
    reserve: { wei: options.gasReserveWei },
    ...(options.acceptNonces !== undefined && { acceptNonces: options.acceptNonces }),
    ...(options.policy && { policy: options.policy }),
    mayBeOurs: (call) => maySettle(call, deployment),
    ...(batchExecutor !== undefined && {
      outcomesOf: outcomesOfBatch(batchExecutor),
      eventPerIntent: eventOfBatch(batchExecutor),
    }),
  })
  const { txSender } = keys
  const sender = txSender.address
  const packer =
    batchExecutor === undefined
      ? packSingly({ client, matching, sender })
      : packBatches({ client, batchExecutor, sender })
  const readHead = () => readSenderHead(client, sender)
  const queue = openQueue(options, { journal, keys, client, packer })
  const faults = await watchFaults({
    client,
    deployment,
    sender,
    markets,
    packer,
    readHead,
    facts,
    onFatal,
  })
  const lostGas = createLostGas({ budget: options.lostGasPerHour ?? LOST_GAS_PER_HOUR, facts })
  const executions = createExecute({
    matching,
    markets,
    journal,
    txSender,
    queue,
    timeoutMs,
    facts,
    // Not hung up, and no stop waits for it: without an answer, only the name of the revert would tell which side is at fault.
    findGuilty: createGuiltyFinder({
      client: createChainClient(rpcUrl, 'long'),
      deployment,
      markets,
      sender,
    }),
    readMark: createMarkReader(client, markets),
    readGasUse: createGasUseReader({
      client: createChainClient(rpcUrl, 'long', hangUp),
      batchExecutor,
      onUnreadable: facts.unreadableReceipt,
    }),
    gasTokenPrice: options.gasTokenPrice ?? NO_QUOTE,
    lostGas,
    onVenueFault: faults.refused,
  })
  const stop = async () => {
    hangUp.soon()
    // Requests that wait for a receipt are answered at once, while the queue finishes its group.
    await Promise.all([queue.stop(), txSender.stop(), faults.stop()])
  }
  /** Why nothing is taken, whatever the market. */
  const standstill = () => troubleOf(txSender) ?? busTrouble()
  const trouble = () => standstill() ?? faults.trouble()
  const standing = () => withStandstill(faults.standing(), standstill(), markets)
  const reads = {
    ...lastingReads(journal, txSender, executions),
    faults: { standing },
    trouble,
    waiting: () => queue.waiting(),
    address: sender,
    lostGas,
    readBalance: async () => (await txSender.readGas()).balance,
  }
  return { ...executions, ...reads, stop }
}

/** What is answered once the bus holds the journal that it follows from: a process that continues must answer alike. */
function lastingReads(
  journal: TransactionJournal,
  txSender: TransactionSender,
  { isRunning }: Pick<Executions, 'isRunning'>,
): Pick<Executor, 'readReversals' | 'acceptForeign'> {
  const read = createReadReversals({ journal, isRunning })
  return {
    async readReversals(after, limit) {
      const reversals = read(after, limit)
      // A matcher remembers the number of the last one.
      await journal.durable()
      return reversals
    },
    async acceptForeign(hash) {
      const acceptance = await txSender.acceptForeign(hash)
      if (acceptance.kind === 'accepted') await journal.durable()
      return acceptance
    },
  }
}

/** The markets whose trade modules are there; the others alone are not settled (watch-faults.ts). */
async function withModules(
  client: ChainClient,
  markets: readonly Market[],
): Promise<readonly Market[]> {
  const codes = markets.map(({ market, tradeModuleAddress: address }) =>
    orUnreachable(`trade module of ${market}`, client.getCode({ address })),
  )
  const found = await Promise.all(codes)
  return markets.filter((_, i) => found[i] !== undefined)
}

/** The contracts that every settlement calls, and the trade modules of the markets, by name. */
function calledContracts(
  { matching, subAccounts, batchExecutor }: TradingDeployment,
  markets: readonly Market[],
): CalledContracts {
  const modules: Record<string, Address> = {}
  for (const { market, tradeModuleAddress } of markets) {
    modules[`trade module of ${market}`] = tradeModuleAddress
  }
  return { matching, subAccounts, ...modules, ...(batchExecutor && { batchExecutor }) }
}

/** While the executor takes nothing, every market whose matches the chain does not refuse anyway has that as its fault. */
function withStandstill(
  faults: StandingFaults | undefined,
  standstill: string | undefined,
  markets: readonly Market[],
): StandingFaults | undefined {
  if (faults === undefined || standstill === undefined) return faults
  const unavailable = markets.map(({ market }) => [market, SETTLEMENT_UNAVAILABLE] as const)
  return new Map([...unavailable, ...faults])
}

/** What holds up every match. The chain's silence comes first, because other reasons may follow from it. */
const troubleOf = (txSender: TransactionSender): string | undefined =>
  txSender.chainSilentMs() > CHAIN_SILENT_MAX_MS ? 'the chain does not answer' : txSender.trouble()

interface ExecutorParts {
  readonly journal: TransactionJournal
  readonly keys: KeySenders
  readonly client: ChainClient
  readonly packer: MatchPacker
}

function openQueue(options: ExecutorOptions, parts: ExecutorParts): SettlementQueue {
  const { journal, keys, client, packer } = parts
  const { deployment, markets, facts, windowMs = 0 } = options
  const { shareBelowFee = NO_QUOTE, gasTokenPrice = NO_QUOTE } = options
  const { txSender } = keys
  const sender = txSender.address
  const book = createInFlightBook()
  for (const { transaction } of journal.unsettledTransactions(sender)) {
    const gasLimit = transaction.attempts.at(-1)?.gasLimit ?? 0n
    book.add(transaction.evmNonce, termsOfTransaction(transaction, markets), { gasLimit })
  }
  // What a retiring key has in flight is in no book: nothing is judged before a block shows it.
  const readHead = async (): Promise<SenderHead | undefined> => {
    const head = await readSenderHead(client, sender)
    return (await keys.isDrainedAt(client, head.blockHash)) ? head : undefined
  }
  return createSettlementQueue({
    journal,
    txSender,
    book,
    facts,
    windowMs,
    shareBelowFee,
    gasTokenPrice,
    packer,
    readHead,
    isUnchanged: (head) => isUnchanged(client, sender, head),
    readClaims: createClaimReader({ client, deployment }),
    readCode: createCodeReader(client),
  })
}
