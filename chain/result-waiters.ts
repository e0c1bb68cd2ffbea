import type { MinedTransaction } from './transaction-journal.js'

type Wake = (mined: MinedTransaction | undefined) => void

/** Those who wait for the result of an intent; bounded by the requests that are open. */
export interface ResultWaiters {
  /** The result, or undefined when there is none within the time or when all are woken. */
  wait(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined>
  wake(intentId: string, mined: MinedTransaction): void
  /** Ends every wait without a result. */
  wakeAll(): void
}

export function createResultWaiters(): ResultWaiters {
  const waiting = new Map<string, Set<Wake>>()

  function wakeOne(intentId: string, mined: MinedTransaction | undefined): void {
    for (const wake of waiting.get(intentId) ?? []) wake(mined)
    waiting.delete(intentId)
  }

  function wait(intentId: string, timeoutMs: number): Promise<MinedTransaction | undefined> {
    return new Promise((resolve) => {
      const wakes = waiting.get(intentId) ?? new Set<Wake>()
      const wake: Wake = (mined) => {
        clearTimeout(timer)
        wakes.delete(wake)
        if (wakes.size === 0 && waiting.get(intentId) === wakes) waiting.delete(intentId)
        resolve(mined)
      }
      const timer = setTimeout(() => wake(undefined), timeoutMs)
      waiting.set(intentId, wakes.add(wake))
    })
  }

  return {
    wait,
    wake: wakeOne,
    wakeAll: () => {
      for (const intentId of [...waiting.keys()]) wakeOne(intentId, undefined)
    },
  }
}
