import { setTimeout as delay } from 'node:timers/promises'
import { decodeTouched } from '../../bus-schemas/reports.js'
import { tellTouched } from '../../bus-schemas/subjects.js'
import { createMarketReader, type MarketReader } from '../../chain/contracts/market-reader.js'
import { createFundsReader, type OrderFundsReader } from '../../chain/contracts/observe-account.js'
import { readWiring } from '../../chain/contracts/wiring.js'
import { checkClock, createHeadReader } from '../../chain/reads/blocks.js'
import {
  ChainUnreachable,
  createChainClient,
  createCircuitBreaker,
} from '../../chain/reads/client.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { createAccountReader, type AccountReader } from '../../chain/reads/read-account.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../chain/signing/verify-signature.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { createTouchedIds, type TouchedIds, type TouchedNews } from '../../core/touched-blocks.js'
import type { Subscription } from '../../runtime/bus/bus.js'
import {
  readQuestion,
  warnOfUnreadable,
  type AnswerParts,
} from '../../runtime/bus/read-question.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import type { MarketHalts } from './market-halts.js'

/** Time between two blocks of the target chain. */
export const BLOCK_TIME_MS = 2_000

/** The chain clients of order-intake. */
interface IntakeChain {
  readonly accounts: AccountReader
  readonly funds: OrderFundsReader
  readonly chainMarkets: MarketReader
  readonly readWiring: ReadWiring
  readonly verifier: SignatureVerifier
  readonly touched: TouchedIds
  /** The signing domain, for the detail of a refusal. */
  readonly domain: Readonly<Record<string, unknown>>
}

/** The sender of wallet calls where EXECUTOR_ADDRESS is not set: a wallet that looks at the sender may then answer otherwise than in a match. */
const UNKNOWN_SENDER: Address = `0x${'0'.repeat(40)}`

/** Throws ClockDiffers when this machine's clock is behind the chain's; a chain that does not answer is accepted. */
export async function openChain(
  { rpcUrl, executor = UNKNOWN_SENDER }: { readonly rpcUrl: string; readonly executor?: Address },
  deployment: Deployment,
  onWarning: (message: string) => void,
): Promise<IntakeChain> {
  const probe = createChainClient(rpcUrl, 'probe')
  await checkClock({ client: probe, nowMs: Date.now, onWarning })
  const breaker = createCircuitBreaker()
  const judge = createChainClient(rpcUrl, 'judge')
  const domain = { chainId: deployment.chainId, verifyingContract: deployment.matching }
  const readHead = createHeadReader(probe)
  const touched = createTouchedIds(() => performance.now())
  const asker = { matching: deployment.matching, sender: executor }
  const reads = createSignatureReads({ judge, probe, breaker, readHead, asker })
  const bounds = { cacheMs: BLOCK_TIME_MS, touched: touched.accounts }
  const options = { client: probe, breaker, deployment, readHead, ...bounds }
  return {
    touched,
    accounts: createAccountReader(options),
    funds: createFundsReader(options),
    chainMarkets: createMarketReader({ ...options, nowMs: Date.now }),
    readWiring: (market) => readWiring({ client: probe, deployment }, market),
    verifier: createSignatureVerifier({ domain, touched: touched.keys, ...reads }),
    domain: { name: 'Matching', version: '1.0', ...domain },
  }
}

/** What of a market on the chain makes it another than its row says; rejects while the chain does not answer. */
export type ReadWiring = (market: Market) => Promise<string | undefined>

interface WiringCheckOptions {
  readonly readWiring: ReadWiring
  readonly halts: Pick<MarketHalts, 'close'>
  readonly log: Logger
  /** Called with a defect. */
  readonly onFatal: (error: unknown) => void
  /** Pause after a question without an answer. */
  readonly retryMs?: number
}

interface WiringCheck extends RunningProcess {
  /** Closes the market to new orders if its wiring is wrong. Resolves after the first question; one without an answer is repeated. */
  check(market: Market): Promise<void>
}

const RETRY_MS = 2_000

/** Closes markets that are wired otherwise than their rows say, each alone. */
export function checkWirings(options: WiringCheckOptions): WiringCheck {
  const { readWiring, halts, log, onFatal, retryMs = RETRY_MS } = options
  const stopping = new AbortController()
  const { signal } = stopping

  /** Whether there was an answer. */
  async function ask(market: Market): Promise<boolean> {
    try {
      const why = await readWiring(market)
      if (why === undefined) return true
      log.error({ market: market.market, why }, 'new orders are refused, the other markets go on')
      halts.close(market.market, `${market.market}: ${why}`)
      return true
    } catch (error) {
      if (!(error instanceof ChainUnreachable)) throw error
      log.debug({ err: error, market: market.market }, 'wiring not read, asking again')
      return false
    }
  }
  async function askUntilAnswered(market: Market): Promise<void> {
    do await delay(retryMs, undefined, { ref: false, signal })
    while (!(await ask(market)))
  }
  return {
    async check(market) {
      if (await ask(market)) return
      askUntilAnswered(market).catch((error: unknown) => {
        if (!signal.aborted) onFatal(error)
      })
    },
    stop: () => Promise.resolve(stopping.abort()),
  }
}

/** Takes what the chain reader tells of the newest blocks. */
export const takeTouched = (
  { bus, log }: AnswerParts,
  queue: string,
  take: (news: TouchedNews) => void,
): Promise<Subscription> =>
  bus.answer(tellTouched, queue, (data, replyTo) => {
    const news = readQuestion(decodeTouched, data, warnOfUnreadable(log))
    if (news === undefined) return
    take(news)
    bus.reply(replyTo, new Uint8Array())
  })
