/** The executors of the venue's key: one sends, and listens; the others stand by and refuse connections. */
export interface Executors {
  /** All, the one that requests go to first. */
  inOrder(): readonly string[]
  /** That one answers: requests go to it from now on. */
  use(url: string): void
  /** Calls back when requests no longer go to an executor, with its address. */
  onLeft(callback: (url: string) => void): void
}

/** At least one address; requests go to the first one until another is used. */
export function createExecutors(urls: readonly string[]): Executors {
  const callbacks: ((url: string) => void)[] = []
  let order = urls
  return {
    inOrder: () => order,
    use(url) {
      const [left] = order
      if (left === undefined || left === url) return
      order = [url, ...order.filter((each) => each !== url)]
      for (const callback of callbacks) callback(left)
    },
    onLeft: (callback) => void callbacks.push(callback),
  }
}

/** One executor. */
interface OneExecutor {
  readonly url: string
  readonly secret: string
  readonly timeoutMs: number
}

/** Reads a path of an executor, by the secret; rejects unless it answers 200 with JSON in time. */
export async function fetchFromExecutor(
  { url, secret, timeoutMs }: OneExecutor,
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const giveUp = new AbortController()
  const abort = (): void => giveUp.abort()
  const timer = setTimeout(abort, timeoutMs)
  signal.addEventListener('abort', abort)
  try {
    const response = await fetch(new URL(path, url), {
      headers: { authorization: `Bearer ${secret}` },
      signal: giveUp.signal,
    })
    if (response.status !== 200) throw new Error(`the executor answers ${response.status}`)
    return await response.json()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
