import { setTimeout as delay } from 'node:timers/promises'
import type { Market } from '../../core/contracts/market.js'
import type { Logger } from '../../runtime/process/log.js'
import type { Running } from '../../runtime/process/process.js'
import type { MarketGate } from './market-gate.js'

/** What of a market on the chain makes it another than its row says; rejects while the chain does not answer. */
export type ReadWiring = (market: Market) => Promise<string | undefined>

export interface WiringCheckOptions {
  readonly readWiring: ReadWiring
  readonly gate: Pick<MarketGate, 'close'>
  readonly log: Logger
  /** Pause after a question without an answer. */
  readonly retryMs?: number
}

export interface WiringCheck extends Running {
  /** Closes the market to new orders if its wiring is wrong. Resolves after the first question; one without an answer is repeated. */
  check(market: Market): Promise<void>
}

const RETRY_MS = 2_000

/** Closes markets that are wired otherwise than their rows say, each alone. */
export function checkWirings(options: WiringCheckOptions): WiringCheck {
  const { readWiring, gate, log, retryMs = RETRY_MS } = options
  const stopping = new AbortController()
  const { signal } = stopping

  /** Whether there was an answer. */
  async function ask(market: Market): Promise<boolean> {
    try {
      const why = await readWiring(market)
      if (why === undefined) return true
      log.error({ market: market.market, why }, 'new orders are refused, the other markets go on')
      gate.close(market.market, `${market.market}: ${why}`)
      return true
    } catch (error) {
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
      if (!(await ask(market))) askUntilAnswered(market).catch(() => undefined)
    },
    stop: () => Promise.resolve(stopping.abort()),
  }
}
