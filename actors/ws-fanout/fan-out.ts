import type { Bus } from '../../bus-schemas/bus.js'
import type { Logger } from '../../bus-schemas/log.js'
import type { FrameWords } from '../../core/frame-message.js'
import type { Market } from '../../core/market.js'
import type { Standing } from '../answer-ping.js'
import { openAuthenticate } from './authenticate.js'
import type { SessionLimits } from './limits.js'
import { openMarketFeed, type MarketFeed } from './market-feed.js'
import { createReplayer } from './replay.js'
import { startServer } from './server.js'

export interface FanOutOptions {
  readonly bus: Bus
  readonly markets: readonly Market[]
  /** Resolves any identifier a client may use to one of the markets. */
  readonly findMarket: (identifier: string) => Market | undefined
  readonly port: number
  readonly allowedOrigins: readonly string[]
  /** What auth frames are to say. */
  readonly words: FrameWords
  /** Unix milliseconds; the clock's unless given. */
  readonly nowMs?: () => number
  readonly log: Logger
  /** A feed cannot go on; the process has to end. */
  readonly onFailure: (error: Error) => void
  readonly ringChanges?: number
  readonly linkedChanges?: number
  readonly limits?: SessionLimits
}

export interface FanOut {
  readonly port: number
  /** Ready once every feed is read; positions are the newest sequence by market. */
  standing(): Standing
  /** How many clients are connected. */
  clients(): number
  stop(): Promise<void>
}

/** Starts following every market and serving clients; upgrades are answered 503 until all feeds are read. */
export async function startFanOut(options: FanOutOptions): Promise<FanOut> {
  const { bus, markets, log, findMarket, words, nowMs = Date.now } = options
  const authenticate = await openAuthenticate({ bus, words, nowMs })
  const feeds = new Map<string, MarketFeed>()
  for (const market of markets) {
    feeds.set(market.market, await openMarketFeed({ ...options, market }))
  }
  const isReady = (): boolean => [...feeds.values()].every((feed) => feed.isCaughtUp())
  const findFeed = (identifier: string): MarketFeed | undefined =>
    feeds.get(findMarket(identifier)?.market ?? '')
  const listedFeeds = [...feeds.values()]
    .filter(({ market }) => market.enabled)
    .toSorted((a, b) => (a.market.market < b.market.market ? -1 : 1))
  const server = await startServer({
    ...options,
    ...{ authenticate, findFeed, listedFeeds, isReady },
    replayer: createReplayer(bus),
  })
  log.info({ markets: [...feeds.keys()] }, 'following')

  function standing(): Standing {
    const ready = isReady()
    return {
      ready,
      detail: ready ? `${server.clients()} clients` : 'reading the feed',
      positions: Object.fromEntries([...feeds].map(([name, feed]) => [name, feed.headSeq()])),
    }
  }

  async function stop(): Promise<void> {
    await server.stop()
    await Promise.all([...feeds.values()].map((feed) => feed.stop()))
  }
  return { port: server.port, standing, clients: () => server.clients(), stop }
}
