import { setTimeout as delay } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { loadDeployment } from '../chain/reads/deployment.js'
import { OutcomeUnknown, VenueRefused, type MarketEntry } from '../client/index.js'
import { createLocalBook } from '../client/local-book.js'
import { createRestClient, type RestClient } from '../client/rest.js'
import { createSocketClient } from '../client/socket.js'
import { parseDecimal } from '../core/decimal.js'
import type { Logger } from '../runtime/process/log.js'
import { runProcess, type Running } from '../runtime/process/process.js'
import { readDemoMakerConfig, type DemoMakerConfig } from './demo-maker/config.js'
import { createDesk } from './demo-maker/desk.js'
import { createMaker, type Maker } from './demo-maker/maker.js'
import {
  PERPETUAL_PRICING,
  referenceCents,
  SPOT_PRICING,
  type Pricing,
} from './demo-maker/quotes.js'

const ROUND_EVERY_MS = 1_000
/** Retry interval while the venue restarts; a longer one would leave the book empty. */
const RETRY_EVERY_MS = 2_000
/** How often the mark of a perpetual is read. */
const MARK_EVERY_MS = 5_000
/** Deadline of the cancels on shutdown: less than the process has to end. */
const WITHDRAW_WITHIN_MS = 3_000

/** A market that the maker quotes, and the account that it trades from. */
interface Quoted {
  readonly market: string
  readonly subaccountId: string
  readonly pricing: Pricing
  /** Follows the price to quote around. */
  readonly follow: (rest: RestClient) => Reference
}

/** The price to quote around, and how to bring it up to date. */
interface Reference {
  current(): bigint | undefined
  refresh(): Promise<void>
}

const quotedOf = (config: DemoMakerConfig): Quoted[] => [
  {
    market: config.DEMO_MAKER_MARKET,
    subaccountId: config.DEMO_MAKER_SUBACCOUNT_ID,
    pricing: SPOT_PRICING,
    follow: () => ({
      current: () => referenceCents(Date.now()),
      refresh: () => Promise.resolve(),
    }),
  },
  ...(config.DEMO_MAKER_PERP_SUBACCOUNT_ID === undefined
    ? []
    : [
        {
          market: config.DEMO_MAKER_PERP_MARKET,
          subaccountId: config.DEMO_MAKER_PERP_SUBACCOUNT_ID,
          pricing: PERPETUAL_PRICING,
          follow: (rest: RestClient) => followMark(rest, config.DEMO_MAKER_PERP_MARKET),
        },
      ]),
]

/** The mark of a perpetual as the venue shows it; undefined while it shows none. */
function followMark(rest: RestClient, market: string): Reference {
  let mark: bigint | undefined
  let refreshAtMs = 0
  return {
    current: () => mark,
    async refresh() {
      if (Date.now() < refreshAtMs) return
      refreshAtMs = Date.now() + MARK_EVERY_MS
      const { perp } = await findMarket(rest, market)
      const shown = parseDecimal(perp?.mark_price ?? '0', 18) ?? 0n
      mark = shown === 0n ? undefined : shown / 10n ** BigInt(18 - PERPETUAL_PRICING.decimals)
    },
  }
}

interface Start {
  readonly config: DemoMakerConfig
  readonly log: Logger
  readonly quoted: Quoted
}

/** A small market maker for the development venue: a client without privileges that keeps quotes in the book. */
async function start({ config, log, quoted }: Start): Promise<Running> {
  const { chainId, matching } = await loadDeployment(config.DEPLOYMENT_FILE)
  const rest = createRestClient(config.GATEWAY_URL)
  const url = new URL('/v1/ws', config.GATEWAY_URL.replace(/^http/, 'ws')).href
  const socket = createSocketClient({ url, WebSocket })
  const book = createLocalBook()
  const reference = quoted.follow(rest)
  const stopping = new AbortController()
  let maker: Maker | undefined
  socket.subscribe('book', quoted.market, {
    onSnapshot: (data, seq) => book.reset(data, seq),
    onUpdate: (data, seq) => book.apply(data, seq),
  })

  async function open(): Promise<Maker> {
    const signer = privateKeyToAccount(config.DEMO_MAKER_PRIVATE_KEY)
    const desk = createDesk({
      rest,
      market: await findMarket(rest, quoted.market),
      signer,
      domain: { chainId, matching },
      subaccountId: quoted.subaccountId,
      nowMs: Date.now,
      log,
    })
    await desk.clear()
    log.info({ market: quoted.market, owner: signer.address }, 'quoting')
    const { pricing } = quoted
    return createMaker({
      desk,
      book,
      pricing,
      reference: () => reference.current(),
      nowMs: Date.now,
    })
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      let waitMs = ROUND_EVERY_MS
      try {
        maker ??= await open()
        await reference.refresh()
        await maker.refresh()
      } catch (error) {
        if (!isPassing(error)) throw error
        waitMs = RETRY_EVERY_MS
        log.warn({ err: error, market: quoted.market }, 'not quoted; trying again')
      }
      await pause(waitMs, stopping.signal)
    }
  }

  const running = run()
  return {
    async stop() {
      stopping.abort()
      const withdrawn = running.then(() => maker?.withdraw())
      await Promise.race([withdrawn, pause(WITHDRAW_WITHIN_MS)])
      socket.close()
    },
  }
}

const isPassing = (error: unknown): boolean =>
  [OutcomeUnknown, VenueRefused, NotListed].some((kind) => error instanceof kind)

async function startAll(config: DemoMakerConfig, log: Logger): Promise<Running> {
  const running: Running[] = []
  for (const quoted of quotedOf(config)) running.push(await start({ config, log, quoted }))
  return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) }
}

/** The venue may list the market later. */
class NotListed extends Error {
  override readonly name = 'NotListed'
}

async function findMarket(rest: RestClient, name: string): Promise<MarketEntry> {
  const market = (await rest.markets()).find((one) => one.market === name)
  if (market === undefined) throw new NotListed(`the venue does not list ${name}`)
  return market
}

/** Resolves after the delay, or as soon as the signal is aborted. */
function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined)
}

const config = readDemoMakerConfig()
runProcess({
  name: 'demo-maker',
  level: config.LOG_LEVEL,
  start: ({ log }) => startAll(config, log),
})
