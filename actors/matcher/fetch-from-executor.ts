/** One executor. */
export interface OneExecutor {
  readonly url: string
  readonly secret: string | undefined
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
      headers: secret === undefined ? {} : { authorization: `Bearer ${secret}` },
      signal: giveUp.signal,
    })
    if (response.status !== 200) throw new Error(`the executor answers ${response.status}`)
    return await response.json()
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', abort)
  }
}
