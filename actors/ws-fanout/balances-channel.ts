import type { Address } from '../../core/action.js'
import type { AccountFunds } from '../../chain/contracts/funds-reader.js'
import type { Change } from '../../core/model/change.js'
import { isoTime } from '../../core/time.js'
import type { AccountBalances } from '../../interface/balances.js'
import type { BalancesUpdate } from '../../interface/socket.js'
import type { OwnerBalances } from './balances.js'
import type { MarketFeed } from './market-feed.js'
import { textFrame, type Snapshot } from './server-frames.js'
import { SnapshotFailed } from './snapshots.js'
import type { Subscriber } from './subscribers.js'
import type { TopicStream } from './topic-stream.js'

/** Changes of the feeds that come within this time are one update. */
const JOIN_MS = 50
/** How often the accounts of subscribers are read again, and of how many owners at a time, in rotation. */
const READ_EVERY_MS = 1_000
const OWNERS_PER_ROUND = 64
/** Updates of an owner that stay in memory. */
const KEPT_UPDATES = 32
/** How long an owner without subscribers is followed: a client reconnects within it. */
const IDLE_MS = 60_000

export interface BalancesChannelParts {
  readonly balances: OwnerBalances
  readonly listedFeeds: () => readonly MarketFeed[]
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** The `balances` channel: what the accounts of an owner hold, whole in each frame. It is of no market. */
export interface BalancesChannel {
  topic(owner: Address): TopicStream
  stop(): void
}

/** An owner whose accounts are followed. */
interface FollowedOwner {
  readonly owner: Address
  readonly subscribers: Set<Subscriber>
  readonly unwatch: readonly (() => void)[]
  /** As last read. */
  seen: readonly AccountFunds[]
  /** What was sent last, and the same without the block: a new block alone is not a change. */
  shown: string
  amounts: string
  /** Number of the newest update. */
  head: number
  readonly updates: { readonly seq: number; readonly frame: Buffer }[]
  joining: NodeJS.Timeout | undefined
  isReading: boolean
  /** A settlement has moved balances since the last read. */
  hasMoved: boolean
  usedAtMs: number
}

/**
 * Reads the accounts of subscribers each second, and once a match of them is settled; what their orders claim follows the
 * feeds. Numbers begin at the clock, so that those of an earlier process, or of another worker, do not return.
 */
export function createBalancesChannel(parts: BalancesChannelParts): BalancesChannel {
  const { listedFeeds, nowMs } = parts
  const followed = new Map<Address, FollowedOwner>()
  const look = createLook(parts)
  let timer: NodeJS.Timeout | undefined

  function follow(owner: Address): FollowedOwner {
    const known = followed.get(owner)
    if (known !== undefined) return known
    const one: FollowedOwner = {
      owner,
      subscribers: new Set(),
      seen: [],
      shown: '[]',
      amounts: '[]',
      updates: [],
      head: firstNumber(nowMs()),
      joining: undefined,
      usedAtMs: nowMs(),
      isReading: false,
      hasMoved: false,
      unwatch: listedFeeds().map(({ channels }) =>
        channels.claims.watch(owner, (change) => look.afterChange(one, change)),
      ),
    }
    followed.set(owner, one)
    timer ??= setInterval(round, READ_EVERY_MS).unref()
    return one
  }

  /** Reads the owners that were not read for longest, and forgets those without a subscriber. */
  function round(): void {
    const unused = nowMs() - IDLE_MS
    for (const one of [...followed.values()].slice(0, OWNERS_PER_ROUND)) {
      followed.delete(one.owner)
      if (one.subscribers.size === 0 && one.usedAtMs < unused) leave(one)
      else followed.set(one.owner, one)
      if (one.subscribers.size > 0) void look.whenIdle(one)
    }
    if (followed.size > 0) return
    clearInterval(timer)
    timer = undefined
  }

  return {
    topic: (owner) => ({
      key: 'balances',
      channel: 'balances',
      market: undefined,
      headSeq: () => followed.get(owner)?.head ?? 0,
      snapshot: () => look.snapshot(follow(owner)),
      recentAfter: (afterSeq) => updatesAfter(followed.get(owner), afterSeq),
      subscribe(subscriber) {
        const one = follow(owner)
        one.usedAtMs = nowMs()
        one.subscribers.add(subscriber)
      },
      unsubscribe(subscriber) {
        const one = followed.get(owner)
        one?.subscribers.delete(subscriber)
        if (one !== undefined) one.usedAtMs = nowMs()
      },
    }),
    stop() {
      clearInterval(timer)
      for (const one of followed.values()) leave(one)
      followed.clear()
    },
  }
}

/** Looks at the accounts of one owner, and tells the subscribers what has changed. */
function createLook({ balances, nowMs }: BalancesChannelParts) {
  /** False when the chain does not answer and an account was never seen. */
  async function read(one: FollowedOwner): Promise<boolean> {
    const seen = await balances.read(balances.knownAccounts(one.owner))
    if (seen !== undefined && newest(seen) >= newest(one.seen)) one.seen = seen
    publish(one)
    return seen !== undefined
  }

  function publish(one: FollowedOwner): void {
    const accounts = balances.show(one.owner, one.seen)
    const amounts = JSON.stringify(accounts.map(withoutBlock))
    if (amounts === one.amounts) return
    Object.assign(one, { amounts, shown: JSON.stringify(accounts) })
    const seq = one.head + 1
    const frame = updateOf(accounts, { seq, atMs: nowMs() })
    one.updates.push({ seq, frame })
    if (one.updates.length > KEPT_UPDATES) one.updates.shift()
    one.head = seq
    for (const subscriber of one.subscribers) subscriber.deliver(frame)
  }

  async function whenIdle(one: FollowedOwner): Promise<void> {
    if (one.isReading) return
    one.isReading = true
    one.hasMoved = false
    await read(one).finally(() => (one.isReading = false))
  }

  return {
    afterChange(one: FollowedOwner, { kind }: Change): void {
      one.hasMoved ||= kind === 'OrderFilled' || kind === 'FillReversed'
      one.joining ??= setTimeout(() => {
        one.joining = undefined
        publish(one)
        if (one.hasMoved) void whenIdle(one)
      }, JOIN_MS).unref()
    },
    whenIdle,
    async snapshot(one: FollowedOwner): Promise<Snapshot> {
      one.usedAtMs = nowMs()
      if (!(await read(one))) throw new SnapshotFailed('the chain gives no answer')
      return { seq: one.head, data: [Buffer.from(one.shown)] }
    },
  }
}

/** When the newest of these reads began; two reads may overlap. */
const newest = (seen: readonly AccountFunds[]): number =>
  seen.reduce((ms, { readAtMs }) => Math.max(ms, readAtMs), 0)

/** Room for a thousand updates in each millisecond of a process's life, within the exact integers of a number. */
const firstNumber = (nowMs: number): number => nowMs * 1_000

function leave({ unwatch, joining }: FollowedOwner): void {
  for (const end of unwatch) end()
  clearTimeout(joining)
}

const withoutBlock = (account: AccountBalances): AccountBalances => ({
  ...account,
  block_number: 0,
  block_time: '',
})

function updateOf(
  accounts: readonly AccountBalances[],
  { seq, atMs }: { readonly seq: number; readonly atMs: number },
): Buffer {
  const update: BalancesUpdate = {
    type: 'update',
    channel: 'balances',
    seq,
    prev_seq: seq - 1,
    ts: isoTime(atMs),
    data: accounts,
  }
  return textFrame(JSON.stringify(update))
}

/** Undefined when they are no longer held, or the number was never given. */
function updatesAfter(one: FollowedOwner | undefined, afterSeq: number) {
  if (one === undefined) return undefined
  const oldest = one.updates[0]?.seq ?? one.head + 1
  if (afterSeq < oldest - 1) return undefined
  const frames = one.updates.filter(({ seq }) => seq > afterSeq).map(({ frame }) => frame)
  return { frames, upTo: one.head }
}
