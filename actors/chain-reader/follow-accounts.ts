import type { AccountObservation } from '../../core/account.js'
import type { Hex } from '../../core/action.js'
import type { ChainHead, Touch } from '../../chain/read-blocks.js'
import type { AccountWatch } from './account-watch.js'
import { type ChainPosition, createChainPosition } from './chain-position.js'
import type { SayAccounts } from './say-accounts.js'

/** Accounts read side by side; their questions travel together. */
const SIDE_BY_SIDE = 20
/** Accounts that each new block has read again although no event told of them. */
const LOOKED_AFTER_PER_BLOCK = 10
/** Rounds without the events of blocks after which every account is read instead. */
const UNTOLD_ROUNDS_MAX = 3
/** How long an account that traded waits for the feed to tell of the fill, milliseconds. */
export const AWAIT_FILL_MS = 5_000

/** What a round asks the chain; each rejects when there is no answer. */
export interface ChainSource {
  readHead(): Promise<ChainHead>
  readBlockHash(number: bigint): Promise<Hex>
  readTouches(first: bigint, last: bigint): Promise<Touch[]>
}

/** A market whose accounts are followed. */
export interface FollowedMarket {
  readonly market: string
  readonly watch: AccountWatch
  readonly observe: (subaccountId: bigint, head: ChainHead) => Promise<AccountObservation>
  readonly say: SayAccounts
}

export interface FollowAccountsOptions {
  readonly chain: ChainSource
  readonly markets: readonly FollowedMarket[]
  /** Milliseconds of a clock that never goes back. */
  readonly elapsedMs: () => number
}

/** Reads the accounts of live orders whenever they may have changed, and says what they have. */
export interface AccountFollower {
  /** Takes in the newest block; resolves with it. Rejects when the chain or the log does not answer: try again. */
  round(): Promise<ChainHead>
}

interface Followed extends FollowedMarket {
  /** What was last said of each account, without the block it was of. */
  readonly said: Map<bigint, string>
  /** Accounts that are to be read: at once, or when the fill of a transaction is told. */
  readonly due: Map<bigint, Due>
}

type Due =
  | { readonly kind: 'now' }
  | { readonly kind: 'after_fill'; readonly txHash: Hex; readonly atMs: number }

export function createAccountFollower(options: FollowAccountsOptions): AccountFollower {
  const { chain, elapsedMs } = options
  const follower: Follower = {
    chain,
    position: createChainPosition({ hashAt: (number) => chain.readBlockHash(number), elapsedMs }),
    markets: options.markets.map((market) => ({ ...market, said: new Map(), due: new Map() })),
    untoldRounds: 0,
  }
  return {
    async round() {
      const head = await chain.readHead()
      const isTaken = await noteChanges(follower, head, elapsedMs())
      if (!isTaken) return head
      for (const market of follower.markets) await sayDue(market, head, elapsedMs())
      return head
    },
  }
}

interface Follower {
  readonly chain: ChainSource
  readonly position: ChainPosition
  readonly markets: readonly Followed[]
  /** Rounds in a row in which the node did not tell the events of blocks that it has. */
  untoldRounds: number
}

/**
 * Notes whom the blocks up to the head may have changed; false when the head is not to be relied on. What is noted is
 * due until it is read, so the position moves on even if the reading fails.
 */
async function noteChanges(follower: Follower, head: ChainHead, nowMs: number): Promise<boolean> {
  const { position, markets } = follower
  const advance = await position.judge(head)
  if (advance.kind === 'wait') return false
  const touches =
    advance.kind === 'ahead' ? await touchesFrom(follower, advance.first, head) : undefined
  for (const market of markets) {
    if (touches !== undefined) noteTouches(market, touches, nowMs)
    if (advance.kind === 'ahead') lookAfter(market)
    // On another branch what was said may not hold, and events that nobody tells may be of anybody.
    if (advance.kind !== 'same' && touches === undefined) market.said.clear()
    noteNew(market)
  }
  position.reach(head)
  return true
}

/** What changed up to the head; undefined when the node has failed to tell so often that all accounts are read instead. */
async function touchesFrom(
  follower: Follower,
  first: bigint,
  head: ChainHead,
): Promise<Touch[] | undefined> {
  try {
    const touches = await follower.chain.readTouches(first, head.number)
    follower.untoldRounds = 0
    return touches
  } catch (error) {
    follower.untoldRounds += 1
    if (follower.untoldRounds < UNTOLD_ROUNDS_MAX) throw error
    return undefined
  }
}

function noteTouches(
  { watch, due, said }: Followed,
  touches: readonly Touch[],
  atMs: number,
): void {
  for (const { subaccountId, txHash, byTrade } of touches) {
    if (!watch.has(subaccountId)) continue
    // A fill that has been read but not been reported would count twice: as gone, and as promised.
    const waits = byTrade && !watch.hasFill(txHash) && due.get(subaccountId)?.kind !== 'now'
    due.set(subaccountId, waits ? { kind: 'after_fill', txHash, atMs } : { kind: 'now' })
    if (!waits) said.delete(subaccountId)
  }
}

/** Accounts that nothing was said of yet, and no more those that nobody follows. */
function noteNew({ watch, said, due }: Followed): void {
  for (const subaccountId of said.keys()) if (!watch.has(subaccountId)) said.delete(subaccountId)
  for (const subaccountId of due.keys()) if (!watch.has(subaccountId)) due.delete(subaccountId)
  for (const subaccountId of watch.accounts()) {
    if (!said.has(subaccountId) && !due.has(subaccountId)) due.set(subaccountId, { kind: 'now' })
  }
}

/**
 * Reads a few more, in turn: an event that a node has kept back is found out in time. Who placed an order is said again
 * whatever was said before, because what was read elsewhere for the order may be of another branch.
 */
function lookAfter({ said, due, watch }: Followed): void {
  for (let looked = 0; looked < Math.min(LOOKED_AFTER_PER_BLOCK, said.size); looked++) {
    const [oldest] = said
    if (oldest === undefined) return
    const [subaccountId, before] = oldest
    said.delete(subaccountId)
    if (!watch.takePlaced(subaccountId)) said.set(subaccountId, before)
    if (!due.has(subaccountId)) due.set(subaccountId, { kind: 'now' })
  }
}

async function sayDue(market: Followed, head: ChainHead, nowMs: number): Promise<void> {
  const { due, watch } = market
  const isReady = (it: Due): boolean =>
    it.kind === 'now' || watch.hasFill(it.txHash) || nowMs - it.atMs >= AWAIT_FILL_MS
  const ready = [...due].filter(([, it]) => isReady(it))
  for (let at = 0; at < ready.length; at += SIDE_BY_SIDE) {
    const group = ready.slice(at, at + SIDE_BY_SIDE)
    const observations = await Promise.all(group.map(([id]) => market.observe(id, head)))
    await sayNews(market, observations)
    for (const [id, it] of group) if (due.get(id) === it) due.delete(id)
  }
}

async function sayNews(
  { said, say, watch }: Followed,
  observations: readonly AccountObservation[],
): Promise<void> {
  const news = observations.filter((it) => said.get(it.subaccountId) !== fingerprint(it))
  if (news.length === 0) return
  await say(news)
  for (const observation of news) {
    watch.takePlaced(observation.subaccountId)
    said.set(observation.subaccountId, fingerprint(observation))
  }
}

const fingerprint = ({ base, quote, custodyOwner, leaving }: AccountObservation): string =>
  `${base} ${quote} ${custodyOwner ?? 'nobody'} ${leaving}`
