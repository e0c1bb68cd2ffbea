/**
 * Shares reads among callers: the result of a read that began after the call. At most one read runs and one waits.
 */
export function createSharedRead<Value>(read: () => Promise<Value>): () => Promise<Value> {
  let running: Promise<unknown> | undefined
  let next: Promise<Value> | undefined

  function begin(): Promise<Value> {
    const reading = read()
    const ended = reading.then(
      () => undefined,
      () => undefined,
    )
    running = ended
    void ended.then(() => {
      if (running === ended) running = undefined
    })
    return reading
  }

  return () => {
    if (running === undefined) return begin()
    // A read that already runs may show what was true before the call.
    next ??= running.then(() => {
      next = undefined
      return begin()
    })
    return next
  }
}
