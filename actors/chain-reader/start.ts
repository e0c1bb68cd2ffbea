import { decodeBlock } from '../../bus-schemas/block-message.js'
import { type Bus, StreamMissing, type Subscription } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { Running } from '../../bus-schemas/process.js'
import { commandsStream, commandsSubject, feedStream } from '../../bus-schemas/subjects.js'
import type { AccountObservation } from '../../core/account.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/market.js'
import type { ChainHead } from '../../chain/read-blocks.js'
import { ChainUnreachable } from '../../chain/chain-unreachable.js'
import { type Standing, answerPing } from '../answer-ping.js'
import { type AccountWatch, createAccountWatch } from './account-watch.js'
import {
  type AccountFollower,
  type ChainSource,
  type FollowedMarket,
  createAccountFollower,
} from './follow-accounts.js'
import { openSayAccounts } from './say-accounts.js'

export const PROCESS_NAME = 'chain-reader'

/** Facts are old when no block was taken in for so long. */
export const SILENCE_MS = 10_000
/** Half of what the chain takes for a block: a new one is seldom looked for in vain more than once. */
const POLL_MS = 1_000

export interface ChainReaderOptions {
  readonly bus: Bus
  /** Markets whose orders are paid for with what their accounts hold. */
  readonly markets: readonly Market[]
  readonly chain: ChainSource
  readonly observe: (
    market: Market,
    subaccountId: bigint,
    head: ChainHead,
  ) => Promise<AccountObservation>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
  /** Milliseconds between two looks at the chain. */
  readonly pollMs?: number
  /** A feed cannot be followed any further, or the log not be written. */
  readonly onFatal: (error: unknown) => void
}

interface FollowedFeed {
  readonly watch: AccountWatch
  readonly subscription: Subscription
  isCaughtUp(): boolean
}

/** Follows the accounts of live orders on the chain and tells each market's log what they have. */
export async function startChainReader(options: ChainReaderOptions): Promise<Running> {
  const { bus, markets, log } = options
  const stopping = new AbortController()
  const feeds: FollowedFeed[] = []
  const followed: FollowedMarket[] = []
  for (const market of markets) {
    const feed = await followFeed(options, market)
    feeds.push(feed)
    followed.push(await openMarket(options, market, feed.watch, stopping.signal))
  }
  const elapsedMs = () => performance.now()
  const follower = createAccountFollower({ chain: options.chain, markets: followed, elapsedMs })
  const rounds = repeatRounds(options, follower, stopping.signal)
  const pings = await answerPing(bus, PROCESS_NAME, () => standing(feeds, rounds.last()))
  log.info({ markets: markets.map(({ market }) => market) }, 'following accounts')
  return {
    stop: async () => {
      await pings.stop()
      stopping.abort(new Error('the chain reader is stopping'))
      await rounds.stopped()
      await Promise.all(feeds.map(({ subscription }) => subscription.stop()))
    },
  }
}

async function openMarket(
  { bus, nowMs, observe, log }: ChainReaderOptions,
  market: Market,
  watch: AccountWatch,
  signal: AbortSignal,
): Promise<FollowedMarket> {
  const name = market.market
  await bus.declareStream({
    stream: commandsStream(name),
    subject: commandsSubject(name),
    description: `Everything that changes ${name}, in order`,
  })
  const onUnknown = (err: unknown) => log.warn({ err, market: name }, 'append not acknowledged')
  const say = await openSayAccounts({ bus, market: name, nowMs, signal, onUnknown })
  return {
    market: name,
    watch,
    observe: (subaccountId, head) => observe(market, subaccountId, head),
    say: async (observations) => {
      await say(observations)
      log.debug({ market: name, accounts: observations.length }, 'accounts observed')
    },
  }
}

async function followFeed({ bus, onFatal }: ChainReaderOptions, { market }: Market) {
  const stream = feedStream(market)
  const watch = createAccountWatch()
  const { firstSeq, lastSeq } = await bus.streamState(stream).catch((error: unknown) => {
    // The market's matcher has not run yet; following waits for it.
    if (error instanceof StreamMissing) return { firstSeq: 1, lastSeq: 0 }
    throw error
  })
  let reached = firstSeq - 1
  const subscription = await bus.follow({
    stream,
    fromSeq: firstSeq,
    onMessage: ({ seq, data }) => {
      const block = decodeBlock(data)
      assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
      watch.apply(block)
      reached = seq
    },
    onError: onFatal,
  })
  return { watch, subscription, isCaughtUp: () => reached >= lastSeq }
}

interface LastRound {
  readonly head: ChainHead | undefined
  /** Since the last round that succeeded, or the start. */
  readonly silentMs: number
  readonly trouble: string | undefined
}

/** One round after the other, with a pause between; the chain's silence is waited out. */
function repeatRounds(
  { pollMs = POLL_MS, log, onFatal }: ChainReaderOptions,
  follower: AccountFollower,
  signal: AbortSignal,
) {
  let timer: NodeJS.Timeout | undefined
  let head: ChainHead | undefined
  let goodAtMs = performance.now()
  let trouble: string | undefined
  const failed = (error: unknown): void => {
    if (signal.aborted) return
    if (!(error instanceof ChainUnreachable)) return onFatal(error)
    if (trouble === undefined) log.warn({ err: error }, 'the chain does not answer')
    trouble = error.message
  }
  const round = async (): Promise<void> => {
    try {
      head = await follower.round()
      goodAtMs = performance.now()
      if (trouble !== undefined)
        log.info({ block_number: String(head.number) }, 'the chain answers')
      trouble = undefined
    } catch (error) {
      failed(error)
    }
  }
  let running = Promise.resolve()
  const schedule = (ms: number): void => {
    if (signal.aborted) return
    timer = setTimeout(() => {
      running = round().then(() => schedule(pollMs))
    }, ms)
  }
  schedule(0)
  return {
    last: (): LastRound => ({ head, silentMs: performance.now() - goodAtMs, trouble }),
    stopped: async () => {
      clearTimeout(timer)
      await running
    },
  }
}

function standing(feeds: readonly FollowedFeed[], last: LastRound): Standing {
  const accounts = feeds.reduce((sum, { watch }) => sum + watch.size(), 0)
  const positions = {
    accounts,
    ...(last.head !== undefined && {
      block_number: Number(last.head.number),
      block_time_sec: Number(last.head.timestamp),
    }),
  }
  if (!feeds.every((feed) => feed.isCaughtUp())) {
    return { ready: false, detail: 'replaying the feed', positions }
  }
  if (last.head === undefined) {
    return { ready: false, detail: last.trouble ?? 'no block yet', positions }
  }
  if (last.silentMs > SILENCE_MS) {
    const detail = `no answer from the chain for ${Math.floor(last.silentMs / 1_000)} s`
    return { ready: false, detail, positions }
  }
  return { ready: true, detail: 'following accounts', positions }
}
