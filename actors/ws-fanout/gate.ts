/** Runs a task when its turn has come. */
export type Gate = <T>(task: () => Promise<T>) => Promise<T>

/** Lets `width` tasks run at a time; the others wait in order of arrival. */
export function createGate(width: number): Gate {
  const waiting: (() => void)[] = []
  let running = 0
  return async (task) => {
    if (running === width) await new Promise<void>((resolve) => waiting.push(resolve))
    else running += 1
    try {
      return await task()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running -= 1
      else next()
    }
  }
}
