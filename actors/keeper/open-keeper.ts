import { setTimeout as delay } from 'node:timers/promises'
import type { UpkeepCall } from '../../chain/contracts/chain-contract.js'
import type { SenderPolicy } from '../../chain/sender/follow-transaction.js'
import { openKeySenders } from '../../chain/sender/key-senders.js'
import type { TransactionSender } from '../../chain/sender/transaction-sender.js'
import { CHAIN_SILENT_MAX_MS, whyNotSending } from '../../chain/sender/why-not-sending.js'
import { ChainUnreachable, createChainClient } from '../../chain/reads/client.js'
import { guardDeployment, untilVerified, type Deployment } from '../../chain/reads/deployment.js'
import { createHangUp } from '../../chain/reads/hang-up.js'
import type { Signers } from '../../chain/signing/open-signers.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { Market } from '../../core/model/market.js'
import type { GasStanding } from '../../core/transfer.js'
import { createGasSpent, KEEPER_MIGRATIONS } from '../../data/gas-spent.js'
import type { PublishedJournal } from '../../data/journal/published-journal.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import {
  answerPing,
  type RunningProcess,
  type ProcessStanding,
} from '../../runtime/process/process.js'
import { within } from '../../runtime/process/within.js'
import { openSender } from '../sending/open-sender.js'
import { createGasWallet } from '../sending/gas-wallet.js'
import { createTransactions, observeTransactions } from '../sending/transactions.js'
import { Docket, type LateJob } from './docket.js'
import { createListing, type SeriesListing, type SeriesOrders } from './list-series.js'
import { createRound, type KeeperObserver, type Rescue } from './round.js'
import { SeenHead, UnreadContracts } from './unread.js'

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
  /** By which the series follow each other that its key opens; none by default. */
  readonly calendar?: FuturesCalendar
  /** How series are registered and disabled; not at all by default. */
  readonly orders?: SeriesOrders
  /** Accounts with which it takes over what others cannot carry; none by default. */
  readonly rescue?: Rescue
  readonly reserveWei: bigint
  readonly hourBudgetWei: bigint
  /** Pause between two looks for a new block. */
  readonly lookEveryMs?: number
  /** Replaces parts of the sender's default policy. */
  readonly policy?: Partial<SenderPolicy>
  readonly facts: KeeperObserver
  readonly log: Logger
  readonly onFatal: (error: unknown) => void
}

/** A keeper that works. */
export interface RunningKeeper extends RunningProcess {
  /** State of its gas wallet; never rejects. */
  readonly gasStanding: () => Promise<GasStanding>
  readonly late: () => readonly LateJob[]
}

const NAME = 'keeper'
const CHAIN_WAIT_MS = 30_000
const LOOK_EVERY_MS = 500
const LIST_EVERY_MS = 5_000
/** An order that no intake answers outlasts the time that a process has to stop; the next keeper gives it again. */
const ORDERED_WITHIN_MS = 2_000
/** A quarter of the gas budget is left for what is done once for a market, however many accounts need work. */
const OF_MARKETS_SHARE = 4n

/**
 * Opens the journal for this process alone, after standing by while another keeper sends, checks the chain, sends again what
 * the journal left open, and then does what is due at each block. Throws as openSender does, and ChainUnreachable or
 * DeploymentMismatch by the check of the chain.
 */
export function openKeeper(options: KeeperOptions): Promise<RunningKeeper> {
  const { bus, dataDir, log, onFatal } = options
  return openSender(
    {
      owner: NAME,
      bus,
      dataDir,
      log,
      onFatal,
      records: 'keeper.db',
      migrations: KEEPER_MIGRATIONS,
      synchronous: 'NORMAL',
    },
    ({ records, published }) => start(options, published, createGasSpent(records)),
  )
}

async function start(
  options: KeeperOptions,
  published: PublishedJournal,
  spent: ReturnType<typeof createGasSpent>,
): Promise<RunningKeeper> {
  const { bus, rpcUrl, deployment, signers, log, onFatal } = options
  const hangUp = createHangUp()
  const client = createChainClient(rpcUrl, 'read', hangUp)
  const { chainId, matching, subAccounts } = deployment
  const senderFacts = observeTransactions(log, {
    changed: () => undefined,
    unclear: () => undefined,
  })
  const verifyChain = guardDeployment(client, { chainId, contracts: { matching, subAccounts } })
  await untilVerified(verifyChain, CHAIN_WAIT_MS, senderFacts.waitingForChain)
  const { journal } = published
  const leftOpen = journal.unsettledIntents()
  const { txSender } = await openKeySenders({
    signers,
    journal,
    rpcUrl,
    facts: senderFacts,
    onFatal,
    verifyChain,
    hangUp,
    ...(options.policy && { policy: options.policy }),
  })
  const stopping = new AbortController()
  const { signal } = stopping
  const transactions = createTransactions({ published, txSender, stopping: signal })
  const gas = createGasWallet({
    address: txSender.address,
    readGas: txSender.readGas,
    spent,
    nowMs: Date.now,
    reservedWei: transactions.reservedWei,
    inFlightWei: transactions.inFlightWei,
    reserveWei: options.reserveWei,
    hourBudgetWei: options.hourBudgetWei,
  })
  const { markets, facts, orders, calendar = 'none' } = options
  const docket = new Docket<UpkeepCall>()
  const unread = new UnreadContracts(options.facts)
  const seen = new SeenHead()
  const round = createRound({
    client,
    deployment,
    markets,
    docket,
    unread,
    seen,
    transactions,
    leftOpen,
    gas,
    facts,
    stopping: signal,
    calendar,
    rescue: options.rescue ?? { accounts: [], mostUsd: 0n },
    // Rounded down.
    ofMarketsWei: options.hourBudgetWei / OF_MARKETS_SHARE,
  })
  const everyMs = options.lookEveryMs ?? LOOK_EVERY_MS
  const running = lookOften({ round, unread, signal, everyMs })
  const unlessStopping = (error: unknown): void => void (signal.aborted || onFatal(error))
  running.catch(unlessStopping)
  const listing =
    orders &&
    createListing({
      client,
      deployment,
      markets,
      calendar,
      keeper: txSender.address,
      orders,
      facts,
    })
  const listed = listing === undefined ? undefined : listOften(listing, signal)
  listed?.catch(unlessStopping)
  const late = () => [...docket.late(), ...(listing?.late() ?? [])]
  const pings = await answerPing(bus, NAME, () =>
    standing(txSender, published, { unread, seen }, late()),
  )
  log.info({ sender: txSender.address }, 'keeping the contracts')
  return {
    gasStanding: gas.standing,
    late,
    async stop() {
      hangUp.soon()
      await pings.stop()
      stopping.abort()
      await Promise.all([running, listed && within(listed, ORDERED_WITHIN_MS)])
      await txSender.stop()
    },
  }
}

const CHAIN = 'the chain'

interface KeeperLoop {
  readonly round: () => Promise<void>
  readonly unread: UnreadContracts
  readonly signal: AbortSignal
  readonly everyMs: number
}

/** Until it is aborted; rejects with what is no missing answer of the chain. */
async function lookOften({ round, unread, signal, everyMs }: KeeperLoop): Promise<void> {
  while (!signal.aborted) {
    try {
      await round()
      unread.answered(CHAIN)
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      unread.failed(CHAIN, error)
    }
    await delay(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

async function listOften(listing: SeriesListing, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await listing.round()
    await delay(LIST_EVERY_MS, undefined, { signal }).catch(() => undefined)
  }
}

function standing(
  txSender: TransactionSender,
  { trouble, term }: PublishedJournal,
  { unread, seen }: { readonly unread: UnreadContracts; readonly seen: SeenHead },
  late: readonly LateJob[],
): ProcessStanding {
  const cannotRead = unread.trouble(CHAIN_SILENT_MAX_MS) ?? seen.trouble()
  const why = whyNotSending(txSender) ?? cannotRead ?? trouble()
  const block = seen.number
  return {
    ready: why === undefined,
    detail: why ?? (late.length === 0 ? 'nothing is late' : late.map(lateWords).join('; ')),
    positions: {
      open_transactions: txSender.openCount(),
      journal_term: term,
      ...(block !== undefined && { block: Number(block) }),
    },
  }
}

const lateWords = ({ job, sinceSec, why }: LateJob): string =>
  `${job} has been due for ${sinceSec} s${why === undefined ? '' : ` (${why})`}`

/** Answers for a keeper without a key: it does nothing, and counts as ready. */
export async function serveOff(bus: Bus): Promise<RunningProcess> {
  const pings = await answerPing(bus, NAME, () => ({
    ready: true,
    detail: 'off: no key',
    positions: {},
  }))
  return { stop: () => pings.stop() }
}
