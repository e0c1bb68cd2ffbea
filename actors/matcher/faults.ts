import { setTimeout as delay } from 'node:timers/promises'
import { SETTLEMENT_UNAVAILABLE } from '../../core/revert.js'
import { FaultsAnswer } from '../../interface/execute.js'
import type { ExecutorAddress } from './ask-executor.js'
import { fetchFromExecutor, orNoExecutor } from './executors.js'
import type { LeadingPhase } from './lead.js'
import type { OwnCommands } from './own-commands.js'
import type { AskFaults } from './settings.js'

/**
 * A market is held when the executor has taken nothing for so long: longer than a restart takes, or a standby until it has
 * taken over.
 */
export const UNABLE_AFTER_MS = 5_000
/** Longer than an answer from memory takes. */
const ANSWER_WITHIN_MS = 5_000

/**
 * Asks over HTTP. Rejects with a defect of this program alone. When the executor in use does not answer, the others are asked,
 * and the first one that answers is used from then on.
 */
export function askFaultsAt({ executors, secret }: ExecutorAddress): AskFaults {
  return async (signal) => {
    for (const url of executors.inOrder()) {
      const address = { url, secret, timeoutMs: ANSWER_WITHIN_MS }
      const answer = await orNoExecutor(fetchFromExecutor(address, '/faults', signal))
      const read = FaultsAnswer.safeParse(answer)
      // Else the next one may lead.
      if (read.success) {
        executors.use(url)
        return read.data.faults
      }
    }
    return undefined
  }
}

export interface FaultFollower {
  stop(): Promise<void>
}

/**
 * Puts into the market's log what the executor reads of a fault that is not an order's, when that has changed, and that it takes
 * nothing, or does not answer, for a while. What the log says follows from the state, so that a new leader goes on where the
 * one before stopped.
 */
export function followFaults({ settings, log }: LeadingPhase, own: OwnCommands): FaultFollower {
  const { market, faults, onFatal, elapsedMs } = settings
  const stopping = new AbortController()
  const { signal } = stopping

  const logged = (): string | undefined => {
    const hold = log.state.holds.get('chain')
    return hold?.untilMs === undefined ? hold?.reason : undefined
  }
  /** When the executor was last able to settle, as far as it depends on the executor itself. */
  let ableAtMs = elapsedMs()
  /** What is to hold the market, given what the executor has answered. */
  const judge = (found: Awaited<ReturnType<AskFaults>>): string | undefined => {
    const fault = found?.[market.market]
    if (found !== undefined && fault !== SETTLEMENT_UNAVAILABLE) {
      ableAtMs = elapsedMs()
      return fault
    }
    return elapsedMs() - ableAtMs < UNABLE_AFTER_MS ? logged() : SETTLEMENT_UNAVAILABLE
  }
  async function follow(): Promise<void> {
    while (!signal.aborted) {
      const revert = judge(await faults.ask(signal))
      if (signal.aborted) return
      if (revert !== logged()) {
        await own.submit({ kind: 'ChainFaultObserved', ...(revert !== undefined && { revert }) })
      }
      await delay(faults.everyMs, undefined, { signal })
    }
  }
  const following = follow().catch((error: unknown) => {
    if (!signal.aborted) onFatal(error)
  })
  return {
    stop: async () => {
      stopping.abort()
      await following
    },
  }
}
