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

/** No executor has answered, or not with what was asked for. */
export class NoExecutor extends Error {
  override readonly name = 'NoExecutor'
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** The answer, or the NoExecutor with which asking was rejected; rejects with anything else. */
export const orNoExecutor = <Answer>(asked: Promise<Answer>): Promise<Answer | NoExecutor> =>
  asked.catch((error: unknown) => {
    if (error instanceof NoExecutor) return error
    throw error
  })

/** Undefined for text that is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** One executor. */
interface OneExecutor {
  readonly url: string
  readonly secret: string
  readonly timeoutMs: number
}

/** Reads a path of an executor, by the secret; rejects with NoExecutor unless it answers 200 with JSON in time. */
export async function fetchFromExecutor(
  { url, secret, timeoutMs }: OneExecutor,
  path: string,
  signal: AbortSignal,
): Promise<unknown> {
  const giveUp = new AbortController()
  const abort = (): void => giveUp.abort()
  const timer = setTimeout(abort, timeoutMs)
  signal.addEventListener('abort', abort)
  const address = new URL(path, url)
  const headers = { authorization: `Bearer ${secret}` }
  const failed: (cause: Error) => never = (cause) => {
    throw new NoExecutor(cause)
  }
  try {
    // Neither of the two rejects for anything but the connection and its end.
    const response = await fetch(address, { headers, signal: giveUp.signal }).catch(failed)
    if (response.status !== 200) failed(new Error(`the executor answers ${response.status}`))
    const json = jsonOf(await response.text().catch(failed))
    return json ?? failed(new Error('the executor answers no JSON'))
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
