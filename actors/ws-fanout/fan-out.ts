import { setTimeout as delay } from 'node:timers/promises'
import type { FundsReader } from '../../chain/contracts/funds-reader.js'
import type { Market } from '../../core/model/market.js'
import type { FrameWords } from '../../core/entry/auth-frame.js'
import { keyEndBy, keyEndsBy } from '../../runtime/bus/ask-session-keys.js'
import type { Bus } from '../../runtime/bus/bus.js'
import type { IsAllowed } from '../../runtime/http/origins.js'
import type { Logger } from '../../runtime/process/log.js'
import type { OrderRate } from '../../runtime/process/order-rate.js'
import type { ProcessStanding } from '../../runtime/process/process.js'
import { answerBalances, answerOrderFacts } from './answers.js'
import { createBalances } from './balances.js'
import { createBalancesChannel } from './balances-channel.js'
import type { SessionLimits } from './limits.js'
import { watchKeys } from './key-watch.js'
import { openLiquidationsChannel } from './liquidations-channel.js'
import { createLeaseKeeper, KEEP_EVERY_MS } from './lease-keeper.js'
import { openMarketFeed, type MarketFeed } from './market-feed.js'
import { createReplayer } from './replay.js'
import { startServer } from './server.js'
import { openAuthenticate } from './session.js'

const LOOK_EVERY_MS = 50

export interface FanOutOptions {
  readonly bus: Bus
  /** The same bus with the archive of the feeds, for the fold from their beginning; replays read the streams alone. */
  readonly feeds?: Bus
  readonly markets: readonly Market[]
  /** Finds one of these markets by any of its names. */
  readonly findMarket: (identifier: string, markets: readonly Market[]) => Market | undefined
  readonly port: number
  readonly host: string
  /** Number of trusted proxies in front, besides the gateway. */
  readonly trustedProxies: number
  /** Listens once every feed has been read, because other workers serve the port meanwhile. */
  readonly listensWhenReady?: boolean
  readonly isAllowedOrigin: IsAllowed
  /** Domain and product in the text of auth frames. */
  readonly words: FrameWords
  /** Unix milliseconds. Defaults to the system clock. */
  readonly nowMs?: () => number
  /** What the chain shows of accounts; absent without a node. */
  readonly funds?: FundsReader | undefined
  /** How many orders an owner may send; absent: any number. */
  readonly orderRate?: OrderRate | undefined
  readonly log: Logger
  /** A feed cannot go on; the process has to end. */
  readonly onFailure: (error: Error) => void
  readonly ringChanges?: number
  readonly linkedChanges?: number
  readonly limits?: SessionLimits
  /** See MarketFeedOptions. */
  readonly onFrames?: (market: string, storedAtMs: number) => void
}

export interface FanOut {
  readonly port: number
  /** Ready once every feed is read; positions are the newest sequence by market. */
  standing(): ProcessStanding
  /** Follows one market more, or takes the new texts of a known one. */
  follow(market: Market): Promise<void>
  /** Connected clients. */
  clients(): number
  stop(): Promise<void>
}

/** Those of listed markets, by their names. */
const listedOf = (feeds: Iterable<MarketFeed>): readonly MarketFeed[] =>
  [...feeds]
    .filter(({ market }) => market.enabled)
    .toSorted((a, b) => (a.market.market < b.market.market ? -1 : 1))

/** Finds a followed feed by any name of its market. */
const findIn =
  (feeds: ReadonlyMap<string, MarketFeed>, findMarket: FanOutOptions['findMarket']) =>
  (identifier: string): MarketFeed | undefined => {
    const known = Array.from(feeds.values(), ({ market }) => market)
    return feeds.get(findMarket(identifier, known)?.market ?? '')
  }

/** Follows every market and serves clients; upgrades that come before all feeds are read are refused with 503. */
export async function startFanOut(options: FanOutOptions): Promise<FanOut> {
  const { bus, markets, log, findMarket, words, nowMs = Date.now } = options
  const authenticate = await openAuthenticate({ bus, words, readKeyEnd: keyEndBy(bus), nowMs })
  const leases = createLeaseKeeper({ bus, log })
  const keeping = setInterval(() => leases.keep(), KEEP_EVERY_MS)
  const feeds = new Map<string, MarketFeed>()
  /** Before the server listens there is no client to tell. */
  let tellClients: (feed: MarketFeed) => void = () => undefined
  const onListed = (name: string): void => {
    const feed = feeds.get(name)
    if (feed === undefined) return
    tellClients(feed)
    leases.widen(name)
  }
  const follow = async (market: Market): Promise<void> => {
    const known = feeds.get(market.market)
    if (known !== undefined) return known.reword(market)
    const from = options.feeds ?? bus
    const onPlaced = leases.onPlaced.bind(leases)
    const feed = await openMarketFeed({ ...options, bus: from, market, onListed, onPlaced })
    feeds.set(market.market, feed)
    if (feed.market.enabled && feed.isCaughtUp()) onListed(market.market)
  }
  for (const market of markets) await follow(market)
  const liquidations = await openLiquidationsChannel({ bus, onFailure: options.onFailure })
  const isReady = (): boolean =>
    liquidations.isCaughtUp() && [...feeds.values()].every((feed) => feed.isCaughtUp())
  const findFeed = findIn(feeds, findMarket)
  const listedFeeds = () => listedOf(feeds.values())
  const balances = createBalances({ listedFeeds, reader: options.funds, nowMs })
  const channel = createBalancesChannel({ balances, listedFeeds, nowMs })
  const venue = { balances: channel, liquidations }
  while (options.listensWhenReady === true && !isReady()) await delay(LOOK_EVERY_MS)
  const server = await startServer({
    ...options,
    authenticate,
    leases,
    findFeed,
    listedFeeds,
    venue,
    isReady,
    marketNamed: (name) => feeds.get(name)?.market,
    standOf: (name, orderId) => feeds.get(name)?.standOf(orderId),
    replayer: createReplayer(bus),
  })
  tellClients = (feed) => server.onListed(feed)
  const keys = watchKeys({ sessions: () => server.sessions(), readEnds: keyEndsBy(bus), nowMs })
  const answering = { bus, log, balances, listedFeeds, isReady }
  const answers = [await answerBalances(answering), await answerOrderFacts(answering)]
  log.info({ markets: [...feeds.keys()] }, 'following')

  function standing(): ProcessStanding {
    const ready = isReady()
    return {
      ready,
      detail: ready ? `${server.clients()} clients` : 'reading the feed',
      positions: Object.fromEntries([...feeds].map(([name, feed]) => [name, feed.headSeq()])),
    }
  }

  async function stop(): Promise<void> {
    await Promise.all(answers.map((answer) => answer.stop()))
    venue.balances.stop()
    await server.stop()
    clearInterval(keeping)
    await Promise.all([keys.stop(), leases.stop()])
    await Promise.all([liquidations, ...feeds.values()].map((followed) => followed.stop()))
  }
  return { port: server.port, follow, standing, clients: () => server.clients(), stop }
}
