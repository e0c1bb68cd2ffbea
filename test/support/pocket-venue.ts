import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decodeBlock } from '../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../bus-schemas/operations.js'
import type { OrderAnswer } from '../../bus-schemas/orders.js'
import { askPing, feedStream } from '../../bus-schemas/subjects.js'
import { randomNonce, signOrder, type MarketEntry, type OrderBody } from '../../client/index.js'
import type { Change } from '../../core/engine/change.js'
import type { Side } from '../../core/engine/order.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { connectNatsBus } from '../../runtime/bus/nats-bus.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import { openWorld, type Trader, type World } from './devnet-world.js'
import { eventually } from './eventually.js'
import { EXECUTOR_KEY } from './executor-world.js'
import { freePort } from './free-port.js'
import { ask } from './intake-stage.js'
import { startNatsServer, type TestNatsServer } from './nats-server.js'
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
  executor: 'executor/main.js',
  projector: 'actors/projector/main.js',
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
  /** Signs an order of this trader. */
  order(trader: Trader, side: Side, amount: string): Promise<OrderBody>
  /** Sends it again and again until it is answered, as a careful client does. */
  place(body: OrderBody): Promise<OrderAnswer>
  cancel(body: OrderBody): Promise<OrderAnswer>
  /** Changes of these orders, in the feed's order. */
  changesOf(ids: readonly string[]): Promise<Change[]>
  stop(): Promise<void>
}

/** Starts a bus and a chain with contracts; the processes are started by the test, with these settings besides. */
export async function openPocketVenue(
  settings: Readonly<Record<string, string>> = {},
): Promise<PocketVenue> {
  const directory = tempDir()
  const [server, world] = await Promise.all([startNatsServer(), openWorld()])
  const bus = await connectNatsBus({ url: server.url, name: 'test' })
  const env = { ...(await environment(directory.path, world, server)), ...settings }
  const children = new Map<PocketProcess, ChildProcess>()
  return {
    ...{ world, bus, env, dataDir: directory.path },
    start: async (name, crashAt, more = {}) => {
      const armed = crashAt === undefined ? {} : { CRASH_AT: crashAt }
      const child = spawn(
        process.execPath,
        [fileURLToPath(new URL(`../../${MAINS[name]}`, import.meta.url))],
        {
          env: { ...env, ...armed, ...more },
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      children.set(name, child)
      await untilReady(name, child, bus)
    },
    ended: async (name) => {
      const child = children.get(name)
      await eventually(() => hasEnded(child), ENDS_WITHIN_MS)
      return child?.signalCode ?? null
    },
    signal: (name, signal) => void children.get(name)?.kill(signal),
    order: (trader, side, amount) => sign(world, trader, { side, amount }),
    place: (body) => askUntilAnswered(bus, 'place', body),
    cancel: ({ owner_address, nonce }) => askUntilAnswered(bus, 'cancel', { owner_address, nonce }),
    changesOf: async (ids) =>
      (await readChanges(bus)).filter(({ orderId }) => ids.includes(orderId)),
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
    MARKET,
    EXECUTOR_PRIVATE_KEY: EXECUTOR_KEY,
    EXECUTOR_PORT: `${port}`,
    EXECUTOR_URL: `http://127.0.0.1:${port}`,
    LOG_LEVEL: 'info',
  }
}

/** A process is ready when its log says that it started, the matcher when it has caught up. */
async function untilReady(name: PocketProcess, child: ChildProcess, bus: Bus): Promise<void> {
  let started = false
  child.stdout?.on('data', (chunk: Buffer) => {
    if (chunk.includes('"msg":"started"')) started = true
  })
  await eventually(() => started || hasEnded(child), ENDS_WITHIN_MS)
  if (name !== 'matcher' || hasEnded(child)) return
  await eventually(
    async () => hasEnded(child) || (await isReady(bus, `matcher-${MARKET}`)),
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

function sign(
  world: World,
  trader: Trader,
  { side, amount }: { side: Side; amount: string },
): Promise<OrderBody> {
  orders += 1
  const { matching, wrapped_cngn, spot_trade_module } = world.at
  // All that signing needs of a market's record.
  const market = {
    asset_address: wrapped_cngn,
    sub_id: '0',
    trade_module_address: spot_trade_module,
  }
  return signOrder(
    trader.account,
    { chainId: ANVIL_CHAIN_ID, matching },
    {
      market: market as MarketEntry,
      orderId: `pocket-${orders}`,
      subaccountId: String(trader.subaccountId),
      nonce: randomNonce(),
      expirySec: Math.floor(Date.now() / 1_000) + 3_600,
      ...{ side, amount, price: '0.00065' },
    },
  )
}

async function askUntilAnswered(
  bus: Bus,
  what: 'place' | 'cancel',
  body: unknown,
): Promise<OrderAnswer> {
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

async function readChanges(bus: Bus): Promise<Change[]> {
  const changes: Change[] = []
  for (let next = 1; ;) {
    const messages = await bus.read(feedStream(MARKET), next, 512)
    if (messages.length === 0) return changes
    changes.push(...messages.flatMap(({ data }) => decodeBlock(data).changes))
    next += messages.length
  }
}
