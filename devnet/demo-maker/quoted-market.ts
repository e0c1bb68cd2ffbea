import {
  createLocalBook,
  type MarketEntry,
  type RestClient,
  type SigningDomain,
  type SocketClient,
  type TypedDataSigner,
} from '../../client/index.js'
import type { Logger } from '../../runtime/process/log.js'
import { createDesk, isPassing } from './desk.js'
import type { FlowMarket } from './flow.js'
import { createMaker, type Maker } from './maker.js'
import { pause } from './pause.js'
import type { QuotePricing } from './pricings.js'
import type { QuoteCentre } from './quotes.js'

const ROUND_EVERY_MS = 1_000
/** Retry interval while the venue restarts; a longer one would leave the book empty. */
const RETRY_EVERY_MS = 2_000
/** Failures in a row that are no longer those of a restart. */
const WORTH_A_WARNING = 3
const QUOTES_LIVE_SEC = 300
/** Orders that take quotes: what they leave rests no longer than that. */
const TAKERS_LIVE_SEC = 60

export interface QuotedMarketParts {
  readonly rest: RestClient
  readonly socket: SocketClient
  readonly signer: TypedDataSigner
  readonly domain: SigningDomain
  readonly market: MarketEntry
  readonly pricing: QuotePricing
  /** The account that quotes, and the one that takes quotes. */
  readonly subaccounts: readonly [string, string?]
  readonly around: () => QuoteCentre | undefined
  readonly log: Logger
}

export interface QuotedMarket {
  /** For the flow; undefined without a second account and until quotes stand. */
  flow(): FlowMarket | undefined
  /** Ends the rounds and cancels the quotes, as far as the venue answers. */
  stop(): Promise<void>
}

/** Keeps quotes in a market until it is stopped. `fail` is called with what no retry can mend. */
export function quoteMarket(
  parts: QuotedMarketParts,
  fail: (error: unknown) => void,
): QuotedMarket {
  const { socket, market, pricing, subaccounts, around, log } = parts
  const book = createLocalBook()
  const stopping = new AbortController()
  const unsubscribe = socket.subscribe('book', market.market, {
    onSnapshot: (data, seq) => book.reset(data, seq),
    onUpdate: (data, seq) => book.apply(data, seq),
  })
  const common = { ...parts, nowMs: Date.now }
  const [quoting, taking] = subaccounts
  const desk = createDesk({
    ...common,
    name: 'demo-maker',
    subaccountId: quoting,
    expiresInSec: QUOTES_LIVE_SEC,
  })
  const taker =
    taking === undefined
      ? undefined
      : createDesk({
          ...common,
          name: 'demo-taker',
          subaccountId: taking,
          expiresInSec: TAKERS_LIVE_SEC,
        })
  let maker: Maker | undefined

  async function open(): Promise<Maker> {
    await desk.clear()
    log.info({ market: market.market, owner: parts.signer.address }, 'quoting')
    return createMaker({ desk, book, grid: pricing, around, nowMs: Date.now })
  }

  async function run(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted;) {
      try {
        maker ??= await open()
        await maker.refresh()
        failures = 0
      } catch (error) {
        if (!isPassing(error)) throw error
        failures += 1
        const level = failures === WORTH_A_WARNING ? 'warn' : 'info'
        log[level]({ err: error, market: market.market }, 'not quoted; trying again')
      }
      await pause(failures === 0 ? ROUND_EVERY_MS : RETRY_EVERY_MS, stopping.signal)
    }
  }

  const running = run().catch(fail)
  return {
    flow() {
      if (taker === undefined || maker === undefined) return undefined
      const { quotes } = maker
      return { market: market.market, grid: pricing, around, quotes, taker }
    },
    async stop() {
      stopping.abort()
      unsubscribe()
      await running
      await maker?.withdraw()
    },
  }
}
