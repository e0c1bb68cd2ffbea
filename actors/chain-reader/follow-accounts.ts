import type { AccountEvents } from '../../chain/contracts/chain-contract.js'
import type { SeenMarket } from '../../chain/contracts/read-liquidations.js'
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
import type { Market } from '../../core/model/market.js'
import type { TouchedNews } from '../../core/touched-blocks.js'
import { within } from '../../runtime/process/within.js'
import type { AccountWatch } from './account-watch.js'
import { createBesideRounds, type BesideRounds } from './beside-rounds.js'
import { createChainPosition, type Advance, type ChainPosition } from './chain-position.js'
import {
  createCloseOutFollower,
  type CloseOutFollower,
  type FollowedCloseOuts,
} from './follow-close-outs.js'
import type { LiquidationFollower } from './follow-liquidations.js'
import type { PublishFacts } from './publish-facts.js'
import {
  createReadEvents,
  newsOf,
  type BlockEvents,
  type EventSource,
  type ReadEvents,
} from './read-events.js'

/** Accounts read concurrently; their chain reads share batches. */
const CONCURRENT_READS = 100
/** Accounts read again with each new block without an event, in rotation. */
const REFRESHED_PER_BLOCK = 10
/** Accounts whose facts change with prices that are read again with each new block, in rotation. */
const PRICED_PER_BLOCK = 40
/** A round reads accounts for so long: the next one tells what later blocks touched. */
const READ_FOR_MS = 500
/** How long a round waits for the events of the blocks: the facts of markets are due again then. */
export const EVENTS_WITHIN_MS = 1_000
/** The name of what is read beside the rounds for all markets. */
export const LIQUIDATIONS = 'liquidations'
/** How long an account that traded waits for its fill in the feed, in milliseconds. */
export const AWAIT_FILL_MS = 5_000

/** The chain reads of a round; each rejects when the chain does not answer. */
export interface ChainSource extends EventSource {
  readHead(): Promise<ChainHead>
  readBlockHash(number: bigint): Promise<Hex>
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
  /** Absent where the chain liquidates no accounts of the market. */
  readonly liquidated?: Market
  /** Whether an account is to be read in every block, because prices change its facts. Absent where none is. */
  readonly isPriced?: (facts: AccountFacts) => boolean
  /** The encoding of account facts in the log: equal facts have equal texts. */
  readonly wire: Pick<ContractWire, 'accountFacts'>
}

/** The facts of a market, observed in each round and published also unchanged, where their age counts. */
export interface FollowedFacts {
  readonly observe: (head: ChainHead, readAtMs: number) => Promise<MarketObservation>
  /** Whether what was observed belongs into the log. Rejects as `publish` does. */
  readonly isDue: (observation: MarketObservation) => Promise<boolean>
  readonly publish: PublishFacts['market']
  /** Whether every account is to be read again after these facts. */
  readonly outdate: (before: MarketFacts, now: MarketFacts) => boolean
  /** Events besides those of balances and custody that change the facts of an account. */
  readonly events: (facts: MarketFacts) => AccountEvents | undefined
}

export interface FollowAccountsOptions {
  readonly chain: ChainSource
  readonly markets: readonly FollowedMarket[]
  /** Absent where liquidations are not followed. */
  readonly liquidations?: LiquidationFollower
  /** Called with what the blocks since the last announcement touched. */
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
   * Publishes the facts of the markets at the newest block, and those of the accounts once it is known which its events touch:
   * when they are late, a later round publishes these, and this one waits EVENTS_WITHIN_MS only. Rejects when the chain answers
   * for no market or not about the events, or the log does not; can be repeated. A market for which alone it does not answer
   * keeps what is due, and does not hold up the others. Close-outs and liquidations are read beside the rounds.
   */
  round(): Promise<ReadRound>
  /** Resolves when nothing is read beside the rounds. */
  ended(): Promise<void>
}

/** What a round has processed. */
export interface ReadRound {
  readonly head: ChainHead
  /** Whether it is known which accounts the blocks touched, up to this head or the one of a round before. */
  readonly isNoted: boolean
  /** Whether accounts are due that there was no time for. */
  readonly isUnfinished: boolean
  /** The markets for which the chain did not answer, and what is read beside the rounds. */
  readonly unanswered: ReadonlyMap<string, ChainUnreachable>
}

interface MarketRead extends Omit<FollowedMarket, 'closeOuts'> {
  readonly closeOuts: CloseOutFollower | undefined
  /** The last published facts of each account, without their block; oldest first. */
  readonly published: Map<bigint, string>
  /** Accounts to read: at once, or when the fill of a transaction is in the feed. */
  readonly due: Map<bigint, Due>
  /** Accounts to read in every block, the one that was read longest ago first. */
  readonly priced: Set<bigint>
  /** The last observed facts of the market, as its log has them. */
  seen: MarketFacts | undefined
}

type Due =
  | { readonly kind: 'now' }
  | { readonly kind: 'after_fill'; readonly txHash: Hex; readonly atMs: number }

export function createAccountFollower(options: FollowAccountsOptions): AccountFollower {
  const { chain, elapsedMs, nowMs, announce = () => undefined } = options
  const followed = (market: FollowedMarket): MarketRead => ({
    ...market,
    closeOuts: market.closeOuts && createCloseOutFollower(market.closeOuts),
    published: new Map(),
    due: new Map(),
    priced: new Set(),
    seen: undefined,
  })
  const follower: FollowerState = {
    readEvents: createReadEvents(chain),
    announce,
    liquidations: options.liquidations,
    position: createChainPosition({ hashAt: (number) => chain.readBlockHash(number), elapsedMs }),
    markets: options.markets.map(followed),
    beside: createBesideRounds(),
    noting: undefined,
  }
  return {
    add: (market) => void follower.markets.push(followed(market)),
    ended: () => follower.beside.ended(),
    async round() {
      const readAtMs = nowMs()
      const head = await chain.readHead()
      const unanswered = new Map<string, ChainUnreachable>()
      const advance = await follower.position.compare(head)
      // The node may lag.
      if (advance.kind === 'wait') return { head, unanswered, isNoted: true, isUnfinished: false }
      const readUntilMs = elapsedMs() + READ_FOR_MS
      const publish = publishTo(follower.markets, unanswered)
      const begun = follower.noting === undefined
      const noting = (follower.noting ??= beginNoting(follower, head, advance))
      // The facts of the markets first: they are good for seconds only, and events and accounts take long.
      await publish((market) => publishMarket(market, head, readAtMs))
      const answered = follower.markets.filter(({ market }) => !unanswered.has(market))
      if (begun) noting.seen = new Map(answered.map((market) => [market, market.seen]))
      readBeside(follower, head)
      const isNoted = await noteEvents(follower, noting, elapsedMs)
      let isUnfinished = false
      if (isNoted)
        await publish(async (market) => {
          // Another one was added meanwhile, or had no answer.
          if (!noting.seen.has(market)) return
          const isTimeLeft = (): boolean => elapsedMs() < readUntilMs
          const at = { head: noting.head, seen: noting.seen.get(market) }
          const isDone = await publishDue(market, at, { nowMs: elapsedMs(), isTimeLeft })
          isUnfinished ||= !isDone
        })
      const [first] = unanswered.values()
      if (first !== undefined && unanswered.size === follower.markets.length) throw first
      for (const [name, error] of follower.beside.unanswered()) unanswered.set(name, error)
      return { head, unanswered, isNoted, isUnfinished }
    },
  }
}

/** Does something for one market after the other; one for which the chain does not answer is left out from then on. */
const publishTo =
  (markets: readonly MarketRead[], unanswered: Map<string, ChainUnreachable>) =>
  async (what: (market: MarketRead) => Promise<void>): Promise<void> => {
    for (const market of markets) {
      if (unanswered.has(market.market)) continue
      await what(market).catch((error: unknown) => {
        if (!(error instanceof ChainUnreachable)) throw error
        unanswered.set(market.market, error)
      })
    }
  }

/** For readers alone, so that no round waits for it. */
function readBeside({ beside, markets, liquidations }: FollowerState, head: ChainHead): void {
  for (const { market, closeOuts, seen } of markets)
    if (closeOuts !== undefined && seen !== undefined)
      beside.begin(market, () => closeOuts.round(seen, head))
  if (liquidations === undefined) return
  const liquidated = markets.flatMap(({ liquidated: market, seen }): SeenMarket[] =>
    market === undefined || seen === undefined ? [] : [{ market, seen }],
  )
  beside.begin(LIQUIDATIONS, () => liquidations.round(liquidated, head.number))
}

interface FollowerState {
  readonly readEvents: ReadEvents
  readonly announce: (touched: TouchedNews) => void
  readonly position: ChainPosition
  readonly markets: MarketRead[]
  readonly beside: BesideRounds
  readonly liquidations: LiquidationFollower | undefined
  /** What is under way, from this round or an earlier one. */
  noting: BlockNotes | undefined
}

/** What the blocks up to a head may have changed, while it is read. */
interface BlockNotes {
  readonly head: ChainHead
  readonly advance: Advance
  /** The facts of the markets at that head, of those that had an answer; undefined where the contract type has none. */
  seen: ReadonlyMap<MarketRead, MarketFacts | undefined>
  /** Never rejects. */
  readonly events: Promise<BlockEvents | { readonly error: unknown }>
}

function beginNoting(follower: FollowerState, head: ChainHead, advance: Advance): BlockNotes {
  const read = follower.readEvents(advance, head, follower.markets.flatMap(eventsOf))
  const events = read.catch((error: unknown) => ({ error }))
  return { head, advance, events, seen: new Map() }
}

/**
 * Marks the accounts that the blocks up to the head may have changed as due; false while the events are not read. Due accounts
 * stay due until they are read, so the position advances even if the read fails. Rejects as the read of the events does.
 */
async function noteEvents(
  follower: FollowerState,
  { head, advance, events }: BlockNotes,
  elapsedMs: () => number,
): Promise<boolean> {
  const read = await within(events, EVENTS_WITHIN_MS)
  if (read === undefined) return false
  follower.noting = undefined
  if ('error' in read) throw read.error
  const { touches } = read
  const { position, markets } = follower
  const nowMs = elapsedMs()
  for (const market of markets) {
    if (touches !== undefined) noteTouches(market, touches, nowMs)
    if (advance.kind === 'ahead') refreshSome(market)
    // After a reorganisation, or without the events, every account may have changed.
    if (advance.kind !== 'same' && touches === undefined) market.published.clear()
    noteNew(market)
  }
  position.advance(head)
  follower.announce(newsOf(advance, head, read))
  return true
}

const eventsOf = ({ facts, seen }: MarketRead): AccountEvents[] => {
  const events = seen && facts?.events(seen)
  return events === undefined ? [] : [events]
}

function noteTouches(
  { watch, due, published, module }: MarketRead,
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
function noteNew({ watch, published, due, priced }: MarketRead): void {
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
function refreshSome({ published, due, watch, priced }: MarketRead): void {
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
async function publishMarket(market: MarketRead, head: ChainHead, readAtMs: number): Promise<void> {
  const { facts, seen, due, watch } = market
  if (facts === undefined) return
  const observation = await facts.observe(head, readAtMs)
  if (await facts.isDue(observation)) await facts.publish(observation)
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
  market: MarketRead,
  { head, seen }: { readonly head: ChainHead; readonly seen: MarketFacts | undefined },
  { nowMs, isTimeLeft }: ReadingTime,
): Promise<boolean> {
  const { due, watch } = market
  const isReady = (it: Due): boolean =>
    it.kind === 'now' || watch.hasFill(it.txHash) || nowMs - it.atMs >= AWAIT_FILL_MS
  const ready = [...due].filter(([, it]) => isReady(it))
  for (let at = 0; at < ready.length; at += CONCURRENT_READS) {
    if (at > 0 && !isTimeLeft()) return false
    const group = ready.slice(at, at + CONCURRENT_READS)
    const observations = await Promise.all(group.map(([id]) => market.observe(id, head, seen)))
    notePriced(market, observations)
    await publishChanged(market, observations)
    for (const [id, it] of group) if (due.get(id) === it) due.delete(id)
  }
  return true
}

function notePriced(
  { isPriced, priced }: MarketRead,
  observations: readonly AccountObservation[],
): void {
  if (isPriced === undefined) return
  for (const { subaccountId, facts } of observations) {
    priced.delete(subaccountId)
    if (isPriced(facts)) priced.add(subaccountId)
  }
}

async function publishChanged(
  market: MarketRead,
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
  { wire }: MarketRead,
  { facts, custodyOwner, leaving }: AccountObservation,
): string => `${wire.accountFacts.write(facts)} ${custodyOwner ?? 'none'} ${leaving}`
