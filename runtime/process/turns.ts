/** Those that wait for a turn of the event loop, in order. */
const waiting: (() => void)[] = []

/**
 * Resolves in a turn of the event loop in which no other caller continues, in the order of the calls: long work that is
 * divided by it lets what has arrived meanwhile pass. As many wait as the callers allow.
 */
export const nextTurn = (): Promise<void> =>
  new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(takeTurn)
  })

function takeTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(takeTurn)
}
