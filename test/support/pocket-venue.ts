import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../bus-schemas/operations.js'
import type { OrderReply } from '../../bus-schemas/orders.js'
import { askPing, feedStream } from '../../bus-schemas/subjects.js'
import { randomNonce, signOrder, type MarketEntry, type OrderBody } from '../../client/index.js'
import type { Change } from '../../core/model/change.js'
import type { Side } from '../../core/model/order.js'
import { provideBundles } from '../../devnet/bundle.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { loadDeployedMarkets } from '../../data/markets.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import { openWorld, type Trader, type World } from './devnet-world.js'
import { eventually } from './eventually.js'
import { EXECUTOR_KEY, EXECUTOR_SECRET } from './executor-world.js'
import { freePort } from './free-port.js'
import { ask } from './intake-stage.js'
import { startNatsServer, type TestNatsServer } from './nats-server.js'
import { registerMarkets } from './registered.js'
import { tempDir } from './temp-dir.js'

const MARKET = 'cNGN-USDC'
const ASK_MS = 500
const ENDS_WITHIN_MS = 40_000
const SETTLED_WITHIN_MS = 40_000

const MAINS = {
  intake: 'actors/order-intake/main.js',
  matcher: 'actors/matcher/main.js',
  /** A second one for the same market. */
  twin: 'actors/matcher/main.js',
  perpMatcher: 'actors/matcher/main.js',
  futureMatcher: 'actors/matcher/main.js',
  executor: 'executor/main.js',
  projector: 'actors/projector/main.js',
  chainReader: 'actors/chain-reader/main.js',
} as const

export type PocketProcess = keyof typeof MAINS

/** The processes that an order passes on its way to the chain, real ones, and what they stand on. */
export interface PocketVenue {
  readonly world: World
  readonly bus: Bus
  /** Directory of the processes' databases. */
  readonly dataDir: string
  /** What every process is told. */
  readonly env: Readonly<Record<string, string>>
  /**
   * Starts a process, to crash at this point if one is given, with these settings besides; resolves when it is ready or
   * has died of that.
   */
  start(
    process: PocketProcess,
    crashAt?: string,
    settings?: Readonly<Record<string, string>>,
  ): Promise<void>
  /** Resolves with the signal that ended it; rejects when it lives on for long. */
  ended(process: PocketProcess): Promise<NodeJS.Signals | null>
  signal(process: PocketProcess, signal: NodeJS.Signals): void
  /** Signs an order of this trader, on spot unless another market is given. */
  order(trader: Trader, side: Side, amount: string, market?: OrderMarket): Promise<OrderBody>
  /** Sends it again and again until it is answered, as a careful client does. */
  place(body: OrderBody): Promise<OrderReply>
  cancel(body: OrderBody): Promise<OrderReply>
  /** Changes of these orders, in the order of the market's feed; of spot by default. */
  changesOf(ids: readonly string[], market?: string): Promise<Change[]>
  stop(): Promise<void>
}

/** What signing an order needs of a market, and a price at which it may be filled. */
export interface OrderMarket {
  readonly entry: MarketEntry
  readonly price: string
}

/** More markets than spot: the settings that list them, and which of them a process runs. */
export interface MoreMarkets {
  readonly settings: Readonly<Record<string, string>>
  readonly marketOf: Partial<Record<PocketProcess, string>>
}

/**
 * Starts a bus and a chain with contracts, on which `prepare` may open more markets; the processes are started by the
 * test, with these settings besides.
 */
export async function openPocketVenue(
  settings: Readonly<Record<string, string>> = {},
  prepare: (world: World, dataDir: string) => Promise<MoreMarkets> | undefined = () => undefined,
): Promise<PocketVenue> {
  const directory = tempDir()
  const [server, world] = await Promise.all([startNatsServer(), openWorld(), provideBundles()])
  const bus = await connectNatsBus({ url: server.url, name: 'test' })
  const more = await prepare(world, directory.path)
  const env = {
    ...(await environment(directory.path, world, server)),
    ...more?.settings,
    ...settings,
  }
  await registerMarkets(bus, loadDeployedMarkets(env).markets)
  const marketOf = (name: PocketProcess): string => more?.marketOf[name] ?? MARKET
  const children = new Map<PocketProcess, ChildProcess>()
  return {
    world,
    bus,
    env,
    dataDir: directory.path,
    start: async (name, crashAt, own = {}) => {
      const armed = crashAt === undefined ? {} : { CRASH_AT: crashAt }
      const child = spawn(process.execPath, [inProject(`bundle/${MAINS[name]}`)], {
        env: { ...env, MARKET: marketOf(name), ...armed, ...own },
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      children.set(name, child)
      await untilReady(child, READY_BY_PING.has(name) ? { bus, market: marketOf(name) } : undefined)
    },
    ended: async (name) => {
      const child = children.get(name)
      await eventually(() => hasEnded(child), ENDS_WITHIN_MS)
      return child?.signalCode ?? null
    },
    signal: (name, signal) => void children.get(name)?.kill(signal),
    order: (trader, side, amount, market = spotOf(world)) =>
      sign(world, trader, { ...market, side, amount }),
    place: (body) => askUntilAnswered(bus, 'place', body),
    cancel: ({ owner_address, nonce }) => askUntilAnswered(bus, 'cancel', { owner_address, nonce }),
    changesOf: async (ids, market = MARKET) =>
      (await readChanges(bus, market)).filter(({ orderId }) => ids.includes(orderId)),
    stop: async () => {
      for (const child of children.values()) child.kill('SIGKILL')
      await Promise.all(
        [...children.values()].filter((it) => !hasEnded(it)).map((it) => once(it, 'exit')),
      )
      await bus.close()
      await Promise.all([server.stop(), world.anvil.stop()])
      directory.remove()
    },
  }
}

const hasEnded = (child: ChildProcess | undefined): boolean =>
  child === undefined || child.exitCode !== null || child.signalCode !== null

async function environment(dataDir: string, world: World, server: TestNatsServer) {
  const deploymentFile = join(dataDir, 'deployment.json')
  writeFileSync(deploymentFile, JSON.stringify(world.at))
  const port = await freePort()
  return {
    NODE_ENV: 'test',
    NATS_URL: server.url,
    RPC_URL: world.anvil.rpcUrl,
    DEPLOYMENT_FILE: deploymentFile,
    DATA_DIR: dataDir,
    EXECUTOR_PRIVATE_KEY: EXECUTOR_KEY,
    EXECUTOR_SECRET,
    EXECUTOR_PORT: `${port}`,
    EXECUTOR_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'info',
  }
}

/** Matchers are ready when they have caught up. */
const READY_BY_PING: ReadonlySet<PocketProcess> = new Set<PocketProcess>([
  ...(['matcher', 'perpMatcher', 'futureMatcher'] as const),
])

/** A process is ready when its log says that it started, and when it answers so if it is asked. */
async function untilReady(
  child: ChildProcess,
  asked: { readonly bus: Bus; readonly market: string } | undefined,
): Promise<void> {
  let started = false
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.includes('"msg":"started"')) started = true
  })
  await eventually(() => started || hasEnded(child), ENDS_WITHIN_MS)
  if (asked === undefined || hasEnded(child)) return
  const { bus, market } = asked
  await eventually(
    async () => hasEnded(child) || (await isReady(bus, `matcher-${market}`)),
    ENDS_WITHIN_MS,
  )
}

async function isReady(bus: Bus, name: string): Promise<boolean> {
  try {
    return decodePingAnswer(await bus.ask(askPing(name), new Uint8Array(), ASK_MS)).ready
  } catch (error) {
    if (error instanceof NoAnswer) return false
    throw error
  }
}

let orders = 0

/** All that signing needs of the market's record. */
const spotOf = ({ at }: World): OrderMarket => ({
  entry: {
    asset_address: at.wrapped_cngn,
    sub_id: '0',
    trade_module_address: at.spot_trade_module,
  } as MarketEntry,
  price: '0.00065',
})

function sign(
  { at: { matching } }: World,
  trader: Trader,
  { entry: market, price, ...wish }: OrderMarket & { side: Side; amount: string },
): Promise<OrderBody> {
  orders += 1
  return signOrder(
    trader.account,
    { chainId: ANVIL_CHAIN_ID, matching },
    {
      market,
      price,
      ...wish,
      orderId: `pocket-${orders}`,
      subaccountId: String(trader.subaccountId),
      nonce: randomNonce(),
      expirySec: Math.floor(Date.now() / 1_000) + 3_600,
    },
  )
}

async function askUntilAnswered(
  bus: Bus,
  what: 'place' | 'cancel',
  body: unknown,
): Promise<OrderReply> {
  const giveUpAt = performance.now() + SETTLED_WITHIN_MS
  for (;;) {
    try {
      const answer = await ask(bus, what, body, { timeoutMs: ASK_MS })
      if (answer.kind === 'order' || answer.refusal.status < 500) return answer
    } catch (error) {
      if (!(error instanceof NoAnswer) || performance.now() > giveUpAt) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function readChanges(bus: Bus, market: string): Promise<Change[]> {
  const changes: Change[] = []
  for (let next = 1; ;) {
    const messages = await bus.read(feedStream(market), next, 512)
    if (messages.length === 0) return changes
    changes.push(...messages.flatMap(({ data }) => decodeBlock(data).changes))
    next += messages.length
  }
}
