import type { ClientOptions } from 'ws'
import { startFanOut, type FanOut, type FanOutOptions } from '../../actors/ws-fanout/fan-out.js'
import { encodeBlock } from '../../bus-schemas/blocks.js'
import { feedStream, feedSubject } from '../../bus-schemas/subjects.js'
import type { Change } from '../../core/model/change.js'
import type { Market } from '../../core/model/market.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { createMemoryBus, type MemoryBus } from '../../runtime/bus/memory-bus.js'
import { createLog } from '../../runtime/process/log.js'
import { aMarket } from './builders.js'
import { eventually } from './eventually.js'
import { connectSocket, type SocketClient } from './socket-client.js'

/** A fan-out over a bus in memory with one market, and clients on real sockets. */
export interface FanOutRig {
  readonly bus: MemoryBus
  readonly market: Market
  /** The same market and, when wanted, more. */
  readonly markets: readonly Market[]
  readonly failures: Error[]
  /** The running fan-out; another one after `restart`. */
  fanOut(): FanOut
  url(): string
  publish(changes: readonly Change[], perBlock?: number, market?: string): Promise<void>
  connect(options?: ClientOptions): Promise<SocketClient>
  restart(options?: Partial<FanOutOptions>): Promise<void>
  /** Closes every client and the fan-out. */
  end(): Promise<void>
}

export async function startRig(options: Partial<FanOutOptions> = {}): Promise<FanOutRig> {
  const market = aMarket()
  const markets = options.markets ?? [market]
  const bus = createMemoryBus()
  for (const one of markets) await declareFeed(bus, one.market)
  const failures: Error[] = []
  const clients: SocketClient[] = []
  const namesOf = ({ market: name, aliases, assetAddress, subId }: Market): string[] => [
    name,
    ...aliases,
    `${assetAddress}:${subId}`,
  ]

  const start = (more: Partial<FanOutOptions>): Promise<FanOut> =>
    startFanOut({
      bus,
      markets,
      findMarket: (identifier) =>
        markets.find((one) => one.enabled && namesOf(one).includes(identifier)),
      port: 0,
      host: '127.0.0.1',
      trustedProxies: 0,
      isAllowedOrigin: (origin) => origin === 'https://app.example',
      words: { domain: 'localhost', product: 'service' },
      log: createLog('test', 'silent'),
      onFailure: (error) => failures.push(error),
      ...options,
      ...more,
    })

  let fanOut = await start({})
  return {
    bus,
    market,
    markets,
    failures,
    fanOut: () => fanOut,
    url: () => `ws://127.0.0.1:${fanOut.port}/v1/ws`,
    publish: (changes, perBlock, name = market.market) =>
      publishChanges(bus, name, changes, perBlock),
    async connect(clientOptions) {
      await eventually(() => fanOut.standing().ready)
      const client = await connectSocket(`ws://127.0.0.1:${fanOut.port}/v1/ws`, clientOptions)
      clients.push(client)
      return client
    },
    async restart(more = {}) {
      await fanOut.stop()
      fanOut = await start(more)
    },
    async end() {
      for (const client of clients) client.ws.terminate()
      await fanOut.stop()
      await bus.close()
    },
  }
}

/** Publishes changes as a market's matcher would, so many to a block, in the order given. */
export async function publishChanges(
  bus: Bus,
  market: string,
  changes: readonly Change[],
  perBlock = 3,
): Promise<void> {
  for (let at = 0; at < changes.length; at += perBlock) {
    const run = changes.slice(at, at + perBlock)
    const firstSeq = (run[0] as Change).seq
    const block = { market, commandSeq: firstSeq, commandIndex: 0, firstSeq, changes: run }
    await bus.append(feedSubject(market), encodeBlock(block))
  }
}

/** Declares a market's feed as its matcher does. */
export async function declareFeed(bus: Bus, market: string): Promise<void> {
  await bus.declareStream({
    stream: feedStream(market),
    subject: feedSubject(market),
    description: 'changes of a market',
  })
}
