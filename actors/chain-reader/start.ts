import { randomUUID } from 'node:crypto'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { encodeTouched } from '../../bus-schemas/reports.js'
import { commandsStream, feedStream, tellTouched } from '../../bus-schemas/subjects.js'
import type { SeenBlock } from '../../chain/contracts/observe-account.js'
import type { CloseOutsRead, CloseOutSpan } from '../../chain/contracts/read-close-outs.js'
import type { ReadLiquidations } from '../../chain/contracts/read-liquidations.js'
import { chainContractOf } from '../../chain/contracts/registry.js'
import type { ChainHead } from '../../chain/reads/blocks.js'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/model/market.js'
import { tradingOf } from '../../core/contracts/registry.js'
import { isObservationDue } from '../../core/engine/facts-due.js'
import { createNumbering, termOf, type Numbering } from '../../core/model/command.js'
import { ACCOUNTS_IDLE_MAX } from '../../core/model/limits.js'
import type { MarketObservation, AccountObservation } from '../../core/model/observation.js'
import { blockTimeSec } from '../../core/time.js'
import type { TouchedNews } from '../../core/touched-blocks.js'
import type { LastNumbers } from '../../runtime/actor/last-numbers.js'
import { leadStreamActor, takeNextTerm } from '../../runtime/actor/lead-stream.js'
import { Fenced } from '../../runtime/actor/leadership.js'
import { NoAnswer, stateOrEmpty, type Bus, type Subscription } from '../../runtime/bus/bus.js'
import { createMissingLogs, joinMarketLog, LogMissing } from '../../runtime/bus/market-log.js'
import type { Logger } from '../../runtime/process/log.js'
import {
  answerPing,
  type RunningProcess,
  type ProcessStanding,
} from '../../runtime/process/process.js'
import { createAccountWatch, IDLE_ACCOUNTS_MAX, type AccountWatch } from './account-watch.js'
import { createAccountFollower, type ChainSource, type FollowedMarket } from './follow-accounts.js'
import { openLiquidations } from './follow-liquidations.js'
import { openFacts, type PublishFacts } from './publish-facts.js'
import { createQuietMarket, type FollowedOrders, type QuietMarketOptions } from './quiet-market.js'
import { POLL_MS, repeatRounds, SILENCE_MS, type LastRound } from './rounds.js'
import { openLastNumbers, PROCESS_NAME } from './stand-by.js'
import { createClockTeller, skewInWords, type ClockTeller } from './tell-clock.js'

export interface ChainReaderOptions {
  readonly bus: Bus
  /** Markets whose contract needs account facts. */
  readonly markets: readonly Market[]
  readonly chain: ChainSource
  readonly observe: (
    market: Market,
    subaccountId: bigint,
    head: SeenBlock,
  ) => Promise<AccountObservation>
  /** Absent where no market has facts of its own. */
  readonly observeMarket?: (
    market: Market,
    head: ChainHead,
    readAtMs: number,
  ) => Promise<MarketObservation | undefined>
  /** Absent where the chain closes no positions. */
  readonly readCloseOuts?: (market: Market, span: CloseOutSpan) => Promise<CloseOutsRead>
  /** Absent where liquidations are not followed. */
  readonly readLiquidations?: ReadLiquidations
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
  /** Unique to the process; random by default. */
  readonly id?: string
  /** What is known of the logs already. */
  readonly lastNumbers?: LastNumbers
  /** Milliseconds between two rounds. */
  readonly pollMs?: number
  /** A feed cannot be followed, the log cannot be written, or another reader leads. */
  readonly onFatal: (error: unknown) => void
}

export interface ChainReader extends RunningProcess {
  /** Follows the accounts of one market more. */
  follow(market: Market): Promise<void>
  standing(): ProcessStanding
  /** Since the last round that succeeded, or the start. */
  silentMs(): number
  /** How far our clock is ahead of the chain's, in milliseconds, negative behind it; undefined while that is not known. */
  clockAheadMs(): number | undefined
}

interface FollowedFeed extends FollowedOrders {
  readonly watch: AccountWatch
  readonly subscription: Subscription
  isCaughtUp(): boolean
}

/**
 * Takes a term and begins it in each market's log, then follows the accounts of live orders on chain and appends their facts.
 * Throws Fenced when another chain reader leads.
 */
export async function startChainReader(options: ChainReaderOptions): Promise<ChainReader> {
  const { bus, markets, log, onFatal } = options
  const stopping = new AbortController()
  const feeds: FollowedFeed[] = []
  /** Why markets are not followed, by market. */
  const stopped = new Map<string, string>()
  const elapsedMs = () => performance.now()
  const { chain, nowMs } = options
  const announce = announceTo(bus)
  const clock = createClockTeller({ nowMs, elapsedMs })
  const { signal } = stopping
  const missingLogs = createMissingLogs({ bus, onError: onFatal })
  const { id = randomUUID(), lastNumbers = openLastNumbers(bus) } = options
  for (const market of markets) await lastNumbers.read(market)
  const lead = await takeNextTerm(leadStreamActor({ bus, log, name: PROCESS_NAME, id }), {
    above: lastNumbers.term(),
    onFenced: onFatal,
  })
  const numbers = createNumbering(lead.term)
  const follower = createAccountFollower({
    chain,
    markets: [],
    announce,
    elapsedMs,
    nowMs,
    ...(await openLiquidations(options)),
  })
  let onLife = (): void => undefined
  const parts = { clock, signal, numbers, lastNumbers, onLife: () => onLife() }
  const follow = async (market: Market): Promise<void> => {
    const feed = await followFeed(options, market)
    feeds.push(feed)
    const open = async (): Promise<void> =>
      follower.add(await openMarket(options, market, { ...parts, feed }))
    try {
      await open()
    } catch (error) {
      if (!(error instanceof LogMissing)) throw error
      const { market: name } = market
      log.error({ err: error, market: name }, 'the market is stopped, the others go on')
      stopped.set(name, error.message)
      missingLogs.await(name, async () => {
        await open()
        stopped.delete(name)
        log.info({ market: name }, 'the log is restored, the market goes on')
      })
    }
  }
  for (const market of markets) await follow(market)
  const rounds = repeatRounds({ ...options, follower, clock, signal })
  onLife = () => rounds.hurry()
  const standing = () =>
    standingOf(feeds, [...stopped.values(), ...skewInWords(clock.aheadMs())], rounds.last())
  const pings = await answerPing(bus, PROCESS_NAME, standing)
  log.info({ markets: markets.map(({ market }) => market) }, 'following accounts')
  return {
    follow,
    standing,
    clockAheadMs: () => clock.aheadMs(),
    silentMs: () => rounds.last().silentMs,
    stop: async () => {
      await pings.stop()
      await missingLogs.stop()
      stopping.abort(new Error('the chain reader is stopping'))
      await rounds.stopped()
      await follower.ended()
      await Promise.all(feeds.map(({ subscription }) => subscription.stop()))
      await lead.stop()
    },
  }
}

/** Tells the order intake what blocks touched; without an intake, nothing. */
function announceTo(bus: Pick<Bus, 'ask'>): (touched: TouchedNews) => void {
  return (touched) => {
    bus.ask(tellTouched, encodeTouched(touched), POLL_MS).catch((error: unknown) => {
      // A gap shows in the next announcement.
      if (!(error instanceof NoAnswer)) throw error
    })
  }
}

interface ReaderMarketParts {
  readonly feed: FollowedFeed
  readonly clock: ClockTeller
  readonly signal: AbortSignal
  readonly numbers: Numbering
  readonly lastNumbers: LastNumbers
  /** Called when a market whose facts rest has an order. */
  readonly onLife: () => void
}

async function openMarket(
  options: ChainReaderOptions,
  row: Market,
  { feed, clock, signal, numbers, lastNumbers, onLife }: ReaderMarketParts,
): Promise<FollowedMarket> {
  const { bus, nowMs, observe, log } = options
  const name = row.market
  const onRaised = (what: string) => log.warn(what)
  const market = await joinMarketLog(bus, row, { writer: PROCESS_NAME, nowMs, onRaised })
  const onUnknown = (err: unknown) => log.warn({ err, market: name }, 'append not acknowledged')
  // Of a log that came back after the term was taken, while the stream of terms had forgotten the later one.
  const logged = termOf(await lastNumbers.read(market))
  if (logged >= numbers.term) {
    throw new Fenced(`${commandsStream(name)} holds term ${logged} of another chain reader`)
  }
  const publish = await openFacts({
    bus,
    market: name,
    contractType: market.contractType,
    nowMs,
    numbers,
    signal,
    onUnknown,
  })
  clock.add(publish.clock)
  return {
    market: name,
    module: market.tradeModuleAddress,
    watch: feed.watch,
    wire: tradingOf(market).wire,
    ...isPricedOf(market),
    observe: (subaccountId, head, seen) => observe(market, subaccountId, { ...head, seen }),
    ...factsOf(options, market, { publish, lastNumbers, orders: feed, onLife }),
    ...closeOutsOf(options, market, publish),
    ...(chainContractOf(market)?.liquidating !== undefined && { liquidated: market }),
    publish: async (observations) => {
      await publish.accounts(observations)
      log.debug({ market: name, accounts: observations.length }, 'accounts observed')
    },
  }
}

/** Whether an account is read in every block; nothing where none of the contract type is. */
function isPricedOf(market: Market): Pick<FollowedMarket, 'isPriced'> {
  const isPriced = chainContractOf(market)?.isPriced
  return isPriced === undefined ? {} : { isPriced }
}

interface FactsParts extends Pick<QuietMarketOptions, 'lastNumbers' | 'orders' | 'onLife'> {
  readonly publish: PublishFacts
}

/** How the market's own facts are followed; nothing where its contract type has none. */
function factsOf(
  { observeMarket: observe, nowMs }: ChainReaderOptions,
  market: Market,
  { publish, ...parts }: FactsParts,
): Pick<FollowedMarket, 'facts'> {
  const contract = chainContractOf(market)
  if (observe === undefined || contract?.readMarketFacts === undefined) return {}
  const trading = tradingOf(market)
  const quiet = createQuietMarket({ ...parts, market, nowMs })
  let logged: MarketObservation | undefined
  return {
    facts: {
      async observe(head, readAtMs) {
        const observation = await observe(market, head, readAtMs)
        assert(observation !== undefined, `${market.market} has facts of its own`)
        return observation
      },
      isDue: async (read) => {
        const mayRest = await quiet.mayRest()
        if (logged === undefined || !mayRest) return true
        return isObservationDue(trading, { logged, read, nowMs: nowMs() })
      },
      publish: async (observation) => {
        await publish.market(observation)
        logged = observation
      },
      outdate: (before, now) => contract.outdatesAccounts?.(before, now) ?? false,
      events: (seen) => contract.accountEvents?.(seen),
    },
  }
}

/** How the positions that the chain closes are followed; nothing where its contract type closes none. */
function closeOutsOf(
  { readCloseOuts: read }: ChainReaderOptions,
  market: Market,
  publish: PublishFacts,
): Pick<FollowedMarket, 'closeOuts'> {
  const closing = chainContractOf(market)?.closing
  if (read === undefined || closing === undefined) return {}
  return {
    closeOuts: {
      hasBegun: closing.hasBegun,
      read: (span) => read(market, span),
      publish: publish.closed,
    },
  }
}

async function followFeed({ bus, onFatal }: ChainReaderOptions, row: Market) {
  const { market } = row
  const stream = feedStream(market)
  // Facts of a market outdate those of all its accounts at once.
  const isCheap = chainContractOf(row)?.readMarketFacts === undefined
  const watch = createAccountWatch(isCheap ? ACCOUNTS_IDLE_MAX : IDLE_ACCOUNTS_MAX)
  const { firstSeq, lastSeq } = await stateOrEmpty(bus, stream)
  let reached = firstSeq - 1
  const isCaughtUp = (): boolean => reached >= lastSeq
  const orders: FollowedOrders = {
    watch,
    isKnown: () => firstSeq === 1 && isCaughtUp(),
    onBlock: () => undefined,
  }
  const subscription = await bus.follow({
    stream,
    fromSeq: firstSeq,
    onMessage: ({ seq, data }) => {
      const block = decodeBlock(data)
      assert(block.market === market, `a block of ${block.market} in the feed of ${market}`)
      watch.apply(block)
      reached = seq
      orders.onBlock()
    },
    onError: onFatal,
  })
  return Object.assign(orders, { watch, subscription, isCaughtUp })
}

function standingOf(
  feeds: readonly FollowedFeed[],
  troubles: readonly string[],
  last: LastRound,
): ProcessStanding {
  const accounts = feeds.reduce((sum, { watch }) => sum + watch.size(), 0)
  const positions = {
    accounts,
    ...(last.head !== undefined && {
      block_number: Number(last.head.number),
      block_time_sec: blockTimeSec(last.head.timestamp),
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
  const why = troubles[0] ?? last.silentMarket
  return { ready: why === undefined, detail: why ?? 'following accounts', positions }
}
