import { setTimeout as delay } from 'node:timers/promises'
import { ChainUnreachable } from './chain-unreachable.js'

const RETRY_MS = 500

/**
 * Asks until the chain answers: processes start in any order. After `waitMs` the last ChainUnreachable is thrown; any
 * other error at once. `onSilence` hears of the first failure only.
 */
export async function untilAnswering<Answer>(
  ask: () => Promise<Answer>,
  waitMs: number,
  onSilence: (cause: Error) => void,
): Promise<Answer> {
  const giveUpAtMs = performance.now() + waitMs
  for (let asked = 1; ; asked += 1) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ChainUnreachable) || performance.now() > giveUpAtMs) throw error
      if (asked === 1) onSilence(error)
    }
    await delay(RETRY_MS)
  }
}
