import type { UpkeepCall } from '../../chain/contracts/chain-contract.js'
import {
  createCensus,
  readAccounts,
  type Census,
  type Sought,
} from '../../chain/contracts/holders.js'
import { blockCalls, type ObservingDeps } from '../../chain/contracts/observe-account.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import { roomyGasLimit, simulateCall } from '../../chain/contracts/simulate.js'
import { readHead, type BlockPlace } from '../../chain/reads/blocks.js'
import { ChainUnreachable, orUnreachable } from '../../chain/reads/client.js'
import type { PlainCalls } from '../../chain/reads/plain-calls.js'
import { undefinedOnFailure } from '../../chain/reads/read-failure.js'
import { readTransferReceipt } from '../../chain/reads/read-transfer.js'
import type { Hex } from '../../core/action.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import { isOfMarket, type Duty, type Job } from '../../core/contracts/upkeep.js'
import type { Market } from '../../core/model/market.js'
import { blockTimeSec } from '../../core/time.js'
import type { GasWallet } from '../sending/gas-wallet.js'
import type { Transactions } from '../sending/transactions.js'
import type { Docket, ScopedDuty } from './docket.js'
import { intentFrom, intentOf, type UpkeepIntent } from './intent.js'
import type { SeenHead, UnreadContracts } from './unread.js'

/** What a keeper reports; called synchronously. */
export interface KeeperObserver {
  readonly sent: (job: Job, intentId: string) => void
  /** Nothing was sent: the simulation reverted, or there is no money for it. */
  readonly refused: (job: Job, subject: string, why: string) => void
  readonly confirmed: (job: Job) => void
  /** Mined and reverted; the cost is lost, in wei. */
  readonly lost: (job: Job, costWei: bigint) => void
  /** The contracts of a market cannot be read, or the chain does not answer; told once until they can, or it does. */
  readonly unreadable: (what: string, cause: Error) => void
}

/** Accounts that the keeper's key owns, with which it takes over what others cannot carry. */
export interface Rescue {
  readonly accounts: readonly bigint[]
  /** Most that one takeover may bind of them, in USD at 1e18. */
  readonly mostUsd: bigint
}

export interface RoundDeps extends ObservingDeps {
  /** Those of which the contracts are kept. */
  readonly markets: () => readonly Market[]
  /** By which the series follow each other that its key opens. */
  readonly calendar: FuturesCalendar
  /** What it takes over with. */
  readonly rescue: Rescue
  readonly docket: Docket<UpkeepCall>
  readonly unread: UnreadContracts
  readonly seen: SeenHead
  readonly transactions: Transactions
  /** Intents that the keeper before left unsettled: what became of them is booked, also where they are final by now. */
  readonly leftOpen: readonly string[]
  readonly gas: Pick<GasWallet, 'read' | 'pauseFor' | 'paid'>
  /** Of an hour's gas budget, what no work for single accounts may use, in wei. */
  readonly ofMarketsWei: bigint
  readonly facts: KeeperObserver
  readonly stopping: AbortSignal
}

/** Duties that are tried at one block, each with a simulation. */
const TRIED_AT_ONCE = 64
/** After so many questions in a row without an answer the node answers none. */
const UNANSWERED_AT_MOST = 3

/**
 * One look at the newest block: reads what is due there, and sends a transaction for what can be done. Does nothing where the
 * block is that of the last look, unless that left accounts to read. Rejects with ChainUnreachable.
 */
export function createRound(deps: RoundDeps): () => Promise<void> {
  const census = createCensus(deps)
  const book = createBook(deps)
  let last: Hex | undefined
  return async () => {
    const head = await readHead(deps.client)
    if (head.hash === last) return
    deps.docket.passed(blockTimeSec(head.timestamp))
    const isPartial = await readDuties(deps, census, head)
    const busy = await book.busyAt(head)
    await tryAll(deps, head, busy)
    last = isPartial ? undefined : head.hash
    deps.seen.seen(head, isPartial)
  }
}

/** Whether accounts are left to read. */
async function readDuties(deps: RoundDeps, census: Census, head: BlockPlace): Promise<boolean> {
  const registered = deps.markets()
  const kept = scopesOf(registered)
  if (kept.size === 0) return false
  const { accounts, mostUsd } = deps.rescue
  const [{ holders, isPartial }, rescuers] = await Promise.all([
    census.at(head, soughtIn([...kept.values()])),
    readAccounts(deps, head, accounts),
  ])
  const atSec = blockTimeSec(head.timestamp)
  const block = {
    ...blockCalls(deps, head),
    atSec,
    holders,
    rescuers,
    mostUsd,
    markets: registered,
    keeper: deps.transactions.address,
    calendar: deps.calendar,
  }
  await Promise.all(
    [...kept].map(async ([scope, market]) => {
      const read = chainContractOf(market)?.readDuties
      if (read === undefined) return
      try {
        const duties = await orUnreachable(`upkeep of ${market.market}`, read(market, block))
        deps.docket.observe(scope, duties, atSec)
        deps.unread.answered(market.market)
      } catch (error) {
        // The contracts of the other markets are kept meanwhile.
        if (!(error instanceof ChainUnreachable)) throw error
        deps.unread.failed(market.market, error)
      }
    }),
  )
  return isPartial
}

function soughtIn(markets: readonly Market[]): Sought {
  const others = markets.flatMap((market) => {
    const hasLedger = chainContractOf(market)?.hasLedger
    if (hasLedger === undefined) return []
    const counts = (id: bigint, calls: PlainCalls) => hasLedger(market, id, calls)
    return [[market.marginManagerAddress, counts] as const]
  })
  return {
    assets: new Set(markets.map(({ assetAddress }) => assetAddress)),
    managers: new Set(markets.map(({ marginManagerAddress }) => marginManagerAddress)),
    others: new Map(others),
  }
}

/** A market for each asset with its manager; others of the same, such as further series, are kept with it. */
function scopesOf(markets: readonly Market[]): ReadonlyMap<string, Market> {
  const scopes = new Map<string, Market>()
  for (const market of markets) {
    if (chainContractOf(market)?.readDuties === undefined) continue
    const { assetAddress, marginManagerAddress } = market
    const scope = `${assetAddress}-${marginManagerAddress}`
    if (!scopes.has(scope)) scopes.set(scope, market)
  }
  return scopes
}

const subjectOf = ({ scope, subject }: { scope: string; subject: string }): string =>
  `${scope}/${subject}`

/** What the keeper's transactions have come to. */
interface KeeperLedger {
  /** Books what was mined, and resolves with the subjects that have a transaction whose effect the block may lack. */
  busyAt(head: BlockPlace): Promise<Set<string>>
}

function createBook({
  client,
  deployment,
  transactions,
  leftOpen,
  gas,
  docket,
  facts,
  stopping,
}: RoundDeps): KeeperLedger {
  /** Of transactions that are not final; bounded by them. */
  let booked = new Set<string>()
  /** Those of the last look that were not booked: they may become final between two looks. Bounded by them. */
  let unbooked = leftOpen

  async function bookOne(intentId: string, { scope, subject, job }: UpkeepIntent): Promise<void> {
    const state = transactions.stateOf(intentId)
    if (state?.kind !== 'mined' || booked.has(intentId)) return
    const { hash, status, revert } = state.transaction
    const receipt = await readTransferReceipt(client, deployment, hash).catch(undefinedOnFailure)
    // Booked by a later look, or by the next keeper: another's receipt may be read meanwhile.
    if (receipt === undefined || stopping.aborted) return
    booked.add(intentId)
    gas.paid(hash, receipt.costWei)
    if (status === 'success') {
      facts.confirmed(job)
      docket.succeeded({ scope, subject, job })
      return
    }
    facts.lost(job, receipt.costWei)
    docket.failed({ scope, subject, job }, revert ?? 'reverted')
  }

  return {
    async busyAt(head) {
      const busy = new Set<string>()
      const open = new Set(transactions.unsettledIntents())
      const isFinal = (intentId: string) =>
        !open.has(intentId) && transactions.stateOf(intentId)?.kind === 'mined'
      const looked = [...unbooked.filter(isFinal), ...open].flatMap((intentId) => {
        const intent = intentFrom(intentId)
        return intent === undefined ? [] : [{ intentId, intent }]
      })
      for (const { intentId, intent } of looked) {
        const state = transactions.stateOf(intentId)
        const isSeen = state?.kind === 'mined' && state.transaction.blockNumber <= head.number
        // What is due was read without the effect of one that is not seen.
        if (isSeen) await bookOne(intentId, intent)
        else busy.add(subjectOf(intent))
      }
      unbooked = looked.map(({ intentId }) => intentId).filter((id) => !booked.has(id))
      booked = new Set([...booked].filter((intentId) => open.has(intentId)))
      return busy
    },
  }
}

/** Rejects with ChainUnreachable where the node leaves several duties in a row without an answer. */
async function tryAll(deps: RoundDeps, head: BlockPlace, busy: Set<string>): Promise<void> {
  const ready = deps.docket.ready((duty) => busy.has(subjectOf(duty)))
  let unanswered = 0
  for (const duty of ready.slice(0, TRIED_AT_ONCE)) {
    if (deps.stopping.aborted) return
    // Another job of the subject may have been sent at this block.
    if (busy.has(subjectOf(duty))) continue
    try {
      if (await isSent(deps, head, duty)) busy.add(subjectOf(duty))
      unanswered = 0
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      // What a node does not answer for one account holds back nothing else.
      deps.docket.failed(duty, error.message)
      deps.facts.refused(duty.job, duty.subject, error.message)
      unanswered += 1
      if (unanswered === UNANSWERED_AT_MOST) throw error
    }
  }
}

/** Simulates what is due and sends it. Rejects with ChainUnreachable. */
async function isSent(
  deps: RoundDeps,
  head: BlockPlace,
  duty: ScopedDuty<UpkeepCall>,
): Promise<boolean> {
  const { client, transactions, gas } = deps
  const intentId = intentOf({ ...duty, blockNumber: head.number })
  // Decided at this block before a restart, or at another block with its number.
  if (transactions.stateOf(intentId) !== undefined) return false
  const { to, data } = duty.task
  const [simulation, money] = await Promise.all([
    simulateCall(client, { from: transactions.address, to, data }, `simulation of ${duty.job}`),
    gas.read(),
  ])
  if (deps.stopping.aborted) return false
  if (simulation.kind === 'reverts') return isRefused(deps, duty, simulation.revert)
  const gasLimit = roomyGasLimit(simulation.gas)
  const { maxFeePerGas, maxPriorityFeePerGas } = money
  const costWei = gasLimit * maxFeePerGas
  const keptWei = isOfMarket(duty.job) ? 0n : deps.ofMarketsWei
  const why = transactions.shortage(money, costWei)?.why ?? gas.pauseFor(costWei, money, keptWei)
  if (why !== undefined) return isRefused(deps, duty, why)
  const fees = { gasLimit, maxFeePerGas, maxPriorityFeePerGas }
  if (!transactions.send({ intentId, to, data }, fees))
    return isRefused(deps, duty, 'nothing can be signed')
  deps.docket.sent(duty)
  deps.facts.sent(duty.job, intentId)
  return true
}

function isRefused({ docket, facts }: RoundDeps, duty: Duty & ScopedDuty<UpkeepCall>, why: string) {
  docket.refused(duty, why)
  facts.refused(duty.job, duty.subject, why)
  return false
}
