/** Lets a bounded number of tasks run at once. */
export interface Turns {
  /**
   * Carries out the task as soon as it is its turn, in the order of the calls, and gives its result or its error;
   * undefined, without having begun it, when too many wait already or the turns are closed.
   */
  readonly inTurn: <T>(task: () => Promise<T>) => Promise<T | undefined>
  /** Turns away whatever waits and whatever comes; what runs runs to its end. */
  readonly close: () => void
}

export interface TurnLimits {
  readonly atOnce: number
  readonly maxWaiting: number
}

export function createTurns({ atOnce, maxWaiting }: TurnLimits): Turns {
  let running = 0
  let closed = false
  /** At most `maxWaiting`. */
  const waiting: ((admitted: boolean) => void)[] = []

  async function enter(): Promise<boolean> {
    if (closed) return false
    if (running < atOnce) {
      running += 1
      return true
    }
    if (waiting.length >= maxWaiting) return false
    return new Promise((resolve) => waiting.push(resolve))
  }

  /** Whoever waits longest takes the place; nobody who comes later can slip in between. */
  function leave(): void {
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next(true)
  }

  return {
    inTurn: async (task) => {
      if (!(await enter())) return undefined
      try {
        return await task()
      } finally {
        leave()
      }
    },
    close: () => {
      closed = true
      for (const answer of waiting.splice(0)) answer(false)
    },
  }
}
