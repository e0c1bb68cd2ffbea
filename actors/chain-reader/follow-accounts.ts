import type { AccountEvents } from '../../chain/contracts/chain-contract.js'
import type { ChainHead } from '../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Touch } from '../../chain/reads/touches.js'
import type { Address, Hex } from '../../core/action.js'
import type { ContractWire } from '../../core/contracts/contract.js'
import type {
  AccountFacts,
  MarketFacts,
  MarketObservation,
  AccountObservation,
} from '../../core/model/observation.js'
import type { TouchedNews } from '../../core/touched-blocks.js'
import type { AccountWatch } from './account-watch.js'
import { createChainPosition, type Advance, type ChainPosition } from './chain-position.js'
import {
  createCloseOutFollower,
  type CloseOutFollower,
  type FollowedCloseOuts,
} from './follow-close-outs.js'
import type { PublishFacts } from './publish-facts.js'

/** Accounts read concurrently; their chain reads share batches. */
const CONCURRENT_READS = 100
/** Accounts read again with each new block without an event, in rotation. */
const REFRESHED_PER_BLOCK = 10
/** Accounts whose facts change with prices that are read again with each new block, in rotation. */
const PRICED_PER_BLOCK = 40
/** Failed reads of events in succession after which every account is read instead. */
const FAILED_ROUNDS_MAX = 3
/** A round reads accounts for so long: the next one tells what later blocks touched. */
const READ_FOR_MS = 500
/** More accounts than this are announced as all. */
const ANNOUNCED_MAX = 5_000
/** How long an account that traded waits for its fill in the feed, in milliseconds. */
export const AWAIT_FILL_MS = 5_000

/** The chain reads of a round; each rejects when the chain does not answer. */
export interface ChainSource {
  readHead(): Promise<ChainHead>
  readBlockHash(number: bigint): Promise<Hex>
  readTouches(first: bigint, last: bigint, events: readonly AccountEvents[]): Promise<Touch[]>
  /** The keys whose code the blocks up to the head may have changed; undefined when that cannot be told. */
  readDelegations(first: bigint, head: ChainHead): Promise<readonly Address[] | undefined>
}

/** A market whose accounts are followed. */
export interface FollowedMarket {
  readonly market: string
  /** The trade module that settles its matches. */
  readonly module: Address
  readonly watch: AccountWatch
  /** `seen` are the facts of the market at the head, where its contract type has any. */
  readonly observe: (
    subaccountId: bigint,
    head: ChainHead,
    seen: MarketFacts | undefined,
  ) => Promise<AccountObservation>
  readonly publish: PublishFacts['accounts']
  /** Absent where the market's contract type has no facts of the market. */
  readonly facts?: FollowedFacts
  /** Absent where the chain closes no positions of the market. */
  readonly closeOuts?: FollowedCloseOuts
  /** Whether an account is to be read in every block, because prices change its facts. Absent where none is. */
  readonly isPriced?: (facts: AccountFacts) => boolean
  /** The encoding of account facts in the log: equal facts have equal texts. */
  readonly wire: Pick<ContractWire, 'accountFacts'>
}

/** The facts of a market, observed and published in each round, also unchanged: their age counts. */
export interface FollowedFacts {
  readonly observe: (head: ChainHead, readAtMs: number) => Promise<MarketObservation>
  readonly publish: PublishFacts['market']
  /** Whether every account is to be read again after these facts. */
  readonly outdate: (before: MarketFacts, now: MarketFacts) => boolean
  /** Events besides those of balances and custody that change the facts of an account. */
  readonly events: (facts: MarketFacts) => AccountEvents | undefined
}

export interface FollowAccountsOptions {
  readonly chain: ChainSource
  readonly markets: readonly FollowedMarket[]
  /** Called in each round with what the blocks since the round before touched. */
  readonly announce?: (touched: TouchedNews) => void
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Milliseconds of a monotonic clock. */
  readonly elapsedMs: () => number
}

/** Reads the accounts of live orders when they may have changed, and publishes changed facts. */
export interface AccountFollower {
  /** Follows the accounts of one market more from the next round on. */
  add(market: FollowedMarket): void
  /**
   * Processes the newest block. Rejects when the chain answers for no market, or the log does not; can be repeated. A
   * market for which alone it does not answer keeps what is due, and does not hold up the others.
   */
  round(): Promise<Round>
}

/** What a round has processed. */
export interface Round {
  readonly head: ChainHead
  /** Whether accounts are due that there was no time for. */
  readonly isUnfinished: boolean
  /** The markets for which the chain did not answer. */
  readonly unanswered: ReadonlyMap<string, ChainUnreachable>
}

interface Followed extends Omit<FollowedMarket, 'closeOuts'> {
  readonly closeOuts: CloseOutFollower | undefined
  /** The last published facts of each account, without their block; oldest first. */
  readonly published: Map<bigint, string>
  /** Accounts to read: at once, or when the fill of a transaction is in the feed. */
  readonly due: Map<bigint, Due>
  /** Accounts to read in every block, the one that was read longest ago first. */
  readonly priced: Set<bigint>
  /** The last published facts of the market. */
  seen: MarketFacts | undefined
}

type Due =
  | { readonly kind: 'now' }
  | { readonly kind: 'after_fill'; readonly txHash: Hex; readonly atMs: number }

export function createAccountFollower(options: FollowAccountsOptions): AccountFollower {
  const { chain, elapsedMs, nowMs, announce = () => undefined } = options
  const followed = (market: FollowedMarket): Followed => ({
    ...market,
    closeOuts: market.closeOuts && createCloseOutFollower(market.closeOuts),
    ...{ published: new Map(), due: new Map(), priced: new Set(), seen: undefined },
  })
  const follower: Follower = {
    ...{ chain, announce },
    position: createChainPosition({ hashAt: (number) => chain.readBlockHash(number), elapsedMs }),
    markets: options.markets.map(followed),
    failedRounds: 0,
  }
  return {
    add: (market) => void follower.markets.push(followed(market)),
    async round() {
      const readAtMs = nowMs()
      const head = await chain.readHead()
      const unanswered = new Map<string, ChainUnreachable>()
      const isProcessed = await noteChanges(follower, head, elapsedMs())
      if (!isProcessed) return { head, unanswered, isUnfinished: false }
      const readUntilMs = elapsedMs() + READ_FOR_MS
      let isUnfinished = false
      const publish = async (what: (market: Followed) => Promise<void>): Promise<void> => {
        for (const market of follower.markets) {
          if (unanswered.has(market.market)) continue
          await what(market).catch((error: unknown) => {
            if (!(error instanceof ChainUnreachable)) throw error
            unanswered.set(market.market, error)
          })
        }
      }
      // The facts of the markets first: they are good for seconds only, and many accounts take long.
      await publish((market) => publishMarket(market, head, readAtMs))
      await publish(async (market) => {
        const isTimeLeft = (): boolean => elapsedMs() < readUntilMs
        const isDone = await publishDue(market, head, { nowMs: elapsedMs(), isTimeLeft })
        isUnfinished ||= !isDone
      })
      // For readers alone: what orders wait for comes first.
      await publish(async ({ closeOuts, seen }) => {
        if (seen !== undefined) await closeOuts?.round(seen, head)
      })
      const [first] = unanswered.values()
      if (first !== undefined && unanswered.size === follower.markets.length) throw first
      return { head, unanswered, isUnfinished }
    },
  }
}

interface Follower {
  readonly chain: ChainSource
  readonly announce: (touched: TouchedNews) => void
  readonly position: ChainPosition
  readonly markets: Followed[]
  /** Rounds in succession in which reading the events failed. */
  failedRounds: number
}

/**
 * Marks the accounts that the blocks up to the head may have changed as due; false when the node may lag. Due accounts
 * stay due until they are read, so the position advances even if the read fails.
 */
async function noteChanges(follower: Follower, head: ChainHead, nowMs: number): Promise<boolean> {
  const { position, markets } = follower
  const advance = await position.compare(head)
  if (advance.kind === 'wait') return false
  const [touches, keys] =
    advance.kind === 'ahead'
      ? await Promise.all([
          touchesFrom(follower, advance.first, head),
          keysFrom(follower, advance.first, head),
        ])
      : []
  for (const market of markets) {
    if (touches !== undefined) noteTouches(market, touches, nowMs)
    if (advance.kind === 'ahead') refreshSome(market)
    // After a reorganisation, or without the events, every account may have changed.
    if (advance.kind !== 'same' && touches === undefined) market.published.clear()
    noteNew(market)
  }
  position.advance(head)
  follower.announce(newsOf(advance, head, touches, keys))
  return true
}

function newsOf(
  advance: Advance,
  { number: head }: ChainHead,
  touches: readonly Touch[] | undefined,
  keys: readonly Address[] | undefined,
): TouchedNews {
  if (advance.kind === 'same') return { first: head + 1n, head, accounts: [], keys: [] }
  const first = advance.kind === 'ahead' ? advance.first : head
  const accounts = touches && new Set(touches.map(({ subaccountId }) => subaccountId))
  const areFew = accounts !== undefined && accounts.size <= ANNOUNCED_MAX
  return { first, head, ...(areFew && { accounts: [...accounts] }), ...(keys && { keys }) }
}

/** Without an answer the keys are not known, and the code of each is read again. */
async function keysFrom(
  { chain }: Follower,
  first: bigint,
  head: ChainHead,
): Promise<readonly Address[] | undefined> {
  try {
    return await chain.readDelegations(first, head)
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
    return undefined
  }
}

/** The changes up to the head; undefined after FAILED_ROUNDS_MAX failures, when all accounts are read instead. */
async function touchesFrom(
  follower: Follower,
  first: bigint,
  head: ChainHead,
): Promise<Touch[] | undefined> {
  try {
    const events = follower.markets.flatMap(eventsOf)
    const touches = await follower.chain.readTouches(first, head.number, events)
    follower.failedRounds = 0
    return touches
  } catch (error) {
    if (!(error instanceof ChainUnreachable)) throw error
    follower.failedRounds += 1
    if (follower.failedRounds < FAILED_ROUNDS_MAX) throw error
    return undefined
  }
}

const eventsOf = ({ facts, seen }: Followed): AccountEvents[] => {
  const events = seen && facts?.events(seen)
  return events === undefined ? [] : [events]
}

function noteTouches(
  { watch, due, published, module }: Followed,
  touches: readonly Touch[],
  atMs: number,
): void {
  for (const { subaccountId, txHash, tradedBy } of touches) {
    if (!watch.has(subaccountId)) continue
    // Funds read after a fill that the matcher has not seen would count it twice: as spent, and as reserved.
    const isOwn = tradedBy.includes(module)
    const waits = isOwn && !watch.hasFill(txHash) && due.get(subaccountId)?.kind !== 'now'
    due.set(subaccountId, waits ? { kind: 'after_fill', txHash, atMs } : { kind: 'now' })
    if (!waits) published.delete(subaccountId)
  }
}

/** Makes new accounts due and drops those that are no longer watched. */
function noteNew({ watch, published, due, priced }: Followed): void {
  for (const subaccountId of published.keys()) {
    if (!watch.has(subaccountId)) published.delete(subaccountId)
  }
  for (const ids of [due, priced]) {
    for (const subaccountId of ids.keys()) if (!watch.has(subaccountId)) ids.delete(subaccountId)
  }
  for (const subaccountId of watch.accounts()) {
    if (!published.has(subaccountId) && !due.has(subaccountId))
      due.set(subaccountId, { kind: 'now' })
  }
}

/**
 * Makes accounts due whose facts change with prices, and a few others in rotation, so that an event withheld by a node is
 * found in time. The facts of an account with a new order are published again, because the intake may have read them on
 * another branch.
 */
function refreshSome({ published, due, watch, priced }: Followed): void {
  for (const subaccountId of [...priced].slice(0, PRICED_PER_BLOCK)) {
    if (!due.has(subaccountId)) due.set(subaccountId, { kind: 'now' })
  }
  for (const [subaccountId, facts] of [...published].slice(0, REFRESHED_PER_BLOCK)) {
    published.delete(subaccountId)
    if (!watch.takePlaced(subaccountId)) published.set(subaccountId, facts)
    if (!due.has(subaccountId)) due.set(subaccountId, { kind: 'now' })
  }
}

/** Publishes the facts of the market; they come before those of accounts at the same block. */
async function publishMarket(market: Followed, head: ChainHead, readAtMs: number): Promise<void> {
  const { facts, seen, due, watch } = market
  if (facts === undefined) return
  const observation = await facts.observe(head, readAtMs)
  await facts.publish(observation)
  market.seen = observation.facts
  if (seen === undefined || !facts.outdate(seen, observation.facts)) return
  for (const subaccountId of watch.accounts()) due.set(subaccountId, { kind: 'now' })
}

interface ReadingTime {
  /** Milliseconds of a monotonic clock. */
  readonly nowMs: number
  readonly isTimeLeft: () => boolean
}

/** Reads the accounts that are due, some at least; false when there was no time for all. */
async function publishDue(
  market: Followed,
  head: ChainHead,
  { nowMs, isTimeLeft }: ReadingTime,
): Promise<boolean> {
  const { due, watch } = market
  const isReady = (it: Due): boolean =>
    it.kind === 'now' || watch.hasFill(it.txHash) || nowMs - it.atMs >= AWAIT_FILL_MS
  const ready = [...due].filter(([, it]) => isReady(it))
  for (let at = 0; at < ready.length; at += CONCURRENT_READS) {
    if (at > 0 && !isTimeLeft()) return false
    const group = ready.slice(at, at + CONCURRENT_READS)
    const observations = await Promise.all(
      group.map(([id]) => market.observe(id, head, market.seen)),
    )
    notePriced(market, observations)
    await publishChanged(market, observations)
    for (const [id, it] of group) if (due.get(id) === it) due.delete(id)
  }
  return true
}

function notePriced(
  { isPriced, priced }: Followed,
  observations: readonly AccountObservation[],
): void {
  if (isPriced === undefined) return
  for (const { subaccountId, facts } of observations) {
    priced.delete(subaccountId)
    if (isPriced(facts)) priced.add(subaccountId)
  }
}

async function publishChanged(
  market: Followed,
  observations: readonly AccountObservation[],
): Promise<void> {
  const { published, publish, watch } = market
  const changed = observations.filter(
    (it) => published.get(it.subaccountId) !== fingerprint(market, it),
  )
  if (changed.length === 0) return
  await publish(changed)
  for (const observation of changed) {
    watch.takePlaced(observation.subaccountId)
    published.set(observation.subaccountId, fingerprint(market, observation))
  }
}

/** The observation as text, without its block. */
const fingerprint = (
  { wire }: Followed,
  { facts, custodyOwner, leaving }: AccountObservation,
): string => `${wire.accountFacts.write(facts)} ${custodyOwner ?? 'none'} ${leaving}`
