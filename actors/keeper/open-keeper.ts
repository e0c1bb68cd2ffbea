import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { UpkeepCall } from '../../chain/contracts/chain-contract.js'
import type { LanePolicy } from '../../chain/lane/follow-transaction.js'
import { openKeyLanes } from '../../chain/lane/key-lanes.js'
import type { TransactionLane } from '../../chain/lane/transaction-lane.js'
import { CHAIN_SILENT_MAX_MS, whyNotSending } from '../../chain/lane/why-not-sending.js'
import { ChainUnreachable, createChainClient, untilAnswering } from '../../chain/reads/client.js'
import { guardDeployment, type Deployment } from '../../chain/reads/deployment.js'
import type { Signers } from '../../chain/signing/open-signers.js'
import type { Market } from '../../core/model/market.js'
import type { GasStanding } from '../../core/transfer.js'
import { createGasSpent, KEEPER_MIGRATIONS } from '../../data/gas-spent.js'
import { JOURNAL_FILES, openJournalFile } from '../../data/journal/journal-file.js'
import {
  observeJournal,
  openPublishedJournal,
  type PublishedJournal,
} from '../../data/journal/published-journal.js'
import { TRIMMING } from '../../data/journal/trim-journal.js'
import { openDatabase, takeLock } from '../../data/open.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import { answerPing, type Running, type Standing } from '../../runtime/process/process.js'
import {
  createGasWallet,
  createTransactions,
  observeTransactions,
} from '../transfer-submitter/transactions.js'
import { Docket, type LateJob } from './docket.js'
import { createRound, type KeeperFacts } from './round.js'
import { Unread } from './unread.js'

export interface KeeperOptions {
  readonly bus: Bus
  readonly rpcUrl: string
  /** They pay the gas, and have the contracts' role for what is not open to any caller. */
  readonly signers: Signers
  readonly deployment: Deployment
  /** Directory of `keeper.db` and `keeper-transactions.db`. */
  readonly dataDir: string
  /** Those that are registered by now. */
  readonly markets: () => readonly Market[]
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  /** Replaces parts of the lane's default policy. */
  readonly policy?: Partial<LanePolicy>
  readonly facts: KeeperFacts
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** A keeper that works. */
export interface Keeping extends Running {
  /** State of its gas wallet; never rejects. */
  readonly gasStanding: () => Promise<GasStanding>
  readonly late: () => readonly LateJob[]
}

const NAME = 'keeper'
const CHAIN_WAIT_MS = 30_000
/** Pause between two looks for a new block. */
const LOOK_EVERY_MS = 500
/** A quarter of the gas budget is left for what is done once for a market, however many accounts need work. */
const OF_MARKETS_SHARE = 4n

/**
 * Opens the journal for this process alone, after standing by while another keeper sends, checks the chain, sends again what
 * the journal left open, and then does what is due at each block. Throws as openSubmitter does.
 */
export async function openKeeper(options: KeeperOptions): Promise<Keeping> {
  const { bus, dataDir, log, onFatal } = options
  const path = join(dataDir, 'keeper.db')
  const lock = takeLock(`${path}.lock`)
  const opened: { close(): unknown }[] = [{ close: () => lock.release() }]
  const closeAll = async (): Promise<void> => {
    for (const part of opened.splice(0).reverse()) await part.close()
  }
  try {
    const spentFile = openDatabase({ path, migrations: KEEPER_MIGRATIONS, synchronous: 'NORMAL' })
    opened.push(spentFile)
    const db = openJournalFile(join(dataDir, JOURNAL_FILES[NAME]))
    opened.push(db)
    const facts = observeJournal(log)
    const published = await openPublishedJournal({
      ...{ db, bus, owner: NAME, facts, onFatal, trimming: TRIMMING },
    })
    opened.push({ close: () => published.stop() })
    const running = await start(options, published, createGasSpent(spentFile))
    return {
      ...running,
      stop: async () => {
        await running.stop()
        await closeAll()
      },
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

async function start(
  options: KeeperOptions,
  published: PublishedJournal,
  spent: ReturnType<typeof createGasSpent>,
): Promise<Keeping> {
  const { bus, rpcUrl, deployment, signers, log, onFatal } = options
  const client = createChainClient(rpcUrl, 'read')
  const { chainId, matching, subAccounts } = deployment
  const laneFacts = observeTransactions(log, { changed: () => undefined, unclear: () => undefined })
  const verifyChain = guardDeployment(client, { chainId, contracts: { matching, subAccounts } })
  await untilAnswering(verifyChain, CHAIN_WAIT_MS, laneFacts.waitingForChain)
  const { journal } = published
  const { lane } = await openKeyLanes({
    ...{ signers, journal, rpcUrl, facts: laneFacts, onFatal, verifyChain },
    ...(options.policy && { policy: options.policy }),
  })
  const stopping = new AbortController()
  const { signal } = stopping
  const transactions = createTransactions({ published, lane, stopping: signal })
  const gas = createGasWallet({
    ...{ address: lane.address, readGas: lane.readGas, spent, nowMs: Date.now },
    ...{ reservedWei: transactions.reservedWei, inFlightWei: transactions.inFlightWei },
    ...{ reserveWei: options.reserveWei, hourBudgetWei: options.hourBudgetWei },
  })
  const docket = new Docket<UpkeepCall>()
  const unread = new Unread(options.facts)
  const round = createRound({
    ...{ client, deployment, markets: options.markets, docket, unread },
    ...{ transactions, gas, facts: options.facts, stopping: signal },
    // Rounded down.
    ofMarketsWei: options.hourBudgetWei / OF_MARKETS_SHARE,
  })
  const running = lookOften(round, unread, signal)
  running.catch(onFatal)
  const late = () => docket.late()
  const pings = await answerPing(bus, NAME, () => standing(lane, published, unread, late()))
  log.info({ sender: lane.address }, 'keeping the contracts')
  return {
    gasStanding: gas.standing,
    late,
    async stop() {
      await pings.stop()
      stopping.abort()
      await running
      await lane.stop()
    },
  }
}

const CHAIN = 'the chain'

/** Until it is aborted; rejects with what is no missing answer of the chain. */
async function lookOften(
  round: () => Promise<void>,
  unread: Unread,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      await round()
      unread.answered(CHAIN)
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      unread.failed(CHAIN, error)
    }
    await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

function standing(
  lane: TransactionLane,
  { trouble, term }: PublishedJournal,
  unread: Unread,
  late: readonly LateJob[],
): Standing {
  const why = whyNotSending(lane) ?? unread.trouble(CHAIN_SILENT_MAX_MS) ?? trouble()
  return {
    ready: why === undefined,
    detail: why ?? (late.length === 0 ? 'nothing is late' : late.map(lateWords).join('; ')),
    positions: { open_transactions: lane.openCount(), journal_term: term },
  }
}

const lateWords = ({ job, sinceSec, why }: LateJob): string =>
  `${job} has been due for ${sinceSec} s${why === undefined ? '' : ` (${why})`}`

/** Answers for a keeper without a key: it does nothing, and counts as ready. */
export async function serveOff(bus: Bus): Promise<Running> {
  const pings = await answerPing(bus, NAME, () => ({
    ...{ ready: true, detail: 'off: no key', positions: {} },
  }))
  return { stop: () => pings.stop() }
}
