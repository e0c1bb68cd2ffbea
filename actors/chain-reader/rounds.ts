import type { ChainHead } from '../../chain/reads/blocks.js'
import { ChainUnreachable } from '../../chain/reads/client.js'
import type { Logger } from '../../runtime/process/log.js'
import { LIQUIDATIONS, type AccountFollower, type ReadRound } from './follow-accounts.js'
import type { ClockTeller } from './tell-clock.js'

/** Not ready when no block was processed for longer than this. */
export const SILENCE_MS = 10_000
/** Half of the chain's block time. */
export const POLL_MS = 1_000

/** The newest round. */
export interface LastRound {
  readonly head: ChainHead | undefined
  /** Since the last round that succeeded, or the start. */
  readonly silentMs: number
  readonly trouble: string | undefined
  /** Why the chain has not answered for a market alone for longer than SILENCE_MS. */
  readonly silentMarket: string | undefined
}

export interface RoundsOptions {
  readonly follower: Pick<AccountFollower, 'round'>
  readonly clock: ClockTeller
  readonly signal: AbortSignal
  /** Milliseconds between two rounds. */
  readonly pollMs?: number | undefined
  readonly log: Logger
  /** A round failed otherwise than by a chain that does not answer. */
  readonly onFatal: (error: unknown) => void
}

export interface Rounds {
  last(): LastRound
  /** The next round begins at once, or with the end of the one that runs. */
  hurry(): void
  /** Resolves when none runs any more, after the signal. */
  stopped(): Promise<void>
}

/** One round after the other, with a pause in between; a chain that does not answer is asked again. */
export function repeatRounds(options: RoundsOptions): Rounds {
  const { follower, clock, signal, pollMs = POLL_MS, log, onFatal } = options
  let timer: NodeJS.Timeout | undefined
  let head: ChainHead | undefined
  let goodAtMs = performance.now()
  let trouble: string | undefined
  const silent = createSilentMarkets(log)
  const failed = (error: unknown): void => {
    if (signal.aborted) return
    if (!(error instanceof ChainUnreachable)) return onFatal(error)
    if (trouble === undefined) log.warn({ err: error }, 'the chain does not answer')
    trouble = error.message
  }
  /** Whether there is more to read at once. */
  const round = async (): Promise<boolean> => {
    try {
      const processed = await follower.round()
      head = processed.head
      clock.saw(head)
      if (processed.isNoted) goodAtMs = performance.now()
      silent.note(processed.unanswered)
      if (trouble !== undefined)
        log.info({ block_number: String(head.number) }, 'the chain answers')
      trouble = undefined
      return processed.isUnfinished
    } catch (error) {
      failed(error)
      return false
    }
  }
  let running = Promise.resolve()
  let isInHurry = false
  const schedule = (ms: number): void => {
    if (signal.aborted) return
    timer = setTimeout(() => {
      timer = undefined
      isInHurry = false
      running = round().then(async (isUnfinished) => {
        await clock.tell().catch(failed)
        schedule(isUnfinished || isInHurry ? 0 : pollMs)
      })
    }, ms)
  }
  schedule(0)
  return {
    hurry() {
      isInHurry = true
      if (timer === undefined) return
      clearTimeout(timer)
      schedule(0)
    },
    last() {
      const nowMs = performance.now()
      return { head, silentMs: nowMs - goodAtMs, trouble, silentMarket: silent.why(nowMs) }
    },
    stopped: async () => {
      clearTimeout(timer)
      await running
    },
  }
}

/** The markets for which alone the chain does not answer, and what is read beside the rounds. */
export function createSilentMarkets(log: Pick<Logger, 'info' | 'warn'>) {
  const silent = new Map<string, { readonly sinceMs: number; readonly why: string }>()
  return {
    note(unanswered: ReadRound['unanswered']): void {
      for (const market of silent.keys()) {
        if (unanswered.has(market)) continue
        silent.delete(market)
        log.info({ market }, 'the chain answers for the market')
      }
      for (const [market, error] of unanswered) {
        if (!silent.has(market)) log.warn({ err: error, market }, 'no answer for the market')
        const { sinceMs = performance.now() } = silent.get(market) ?? {}
        silent.set(market, { sinceMs, why: error.message })
      }
    },
    /** Why, of a market that has been silent for longer than SILENCE_MS: no order waits for liquidations. */
    why(nowMs: number): string | undefined {
      for (const [name, { sinceMs, why }] of silent)
        if (name !== LIQUIDATIONS && nowMs - sinceMs > SILENCE_MS) return why
      return undefined
    },
  }
}
