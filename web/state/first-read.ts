import type { MarketEntry } from '../../client/index.js'
import type { VenueFacts } from '../../interface/signing.js'

/**
 * What the page needs before it can show anything: the venue's facts, its markets, and what its clock is ahead of this one, in
 * milliseconds.
 */
export type FirstRead = readonly [VenueFacts, readonly MarketEntry[], number]

/** The venue did not answer, or not with what it says everywhere else. */
class NotRead extends Error {
  override readonly name = 'NotRead'
}

/**
 * Reads until all has come; `failed` is called at each failure with the function that has it read again. `index.html` names the three
 * paths, so that they are under way before the script has come: the first answers may be older than the script.
 */
export async function firstRead(
  base: string,
  failed: (again: () => void) => void,
  get: typeof fetch = fetch,
): Promise<FirstRead> {
  async function read<T>(path: string): Promise<T> {
    try {
      const answer = await get(new URL(path, base))
      if (answer.ok) return (await answer.json()) as T
      throw new NotRead(`${path} answered ${answer.status}`)
    } catch (error) {
      // A network that fails, and a body that is not JSON: a proxy answers for a venue that is down.
      if (error instanceof TypeError || error instanceof SyntaxError)
        throw new NotRead(`${path} was not read`, { cause: error })
      throw error
    }
  }
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await Promise.all([
        read<VenueFacts>('v1/venue'),
        read<readonly MarketEntry[]>('v1/markets'),
        read<{ readonly unix_ms: number }>('v1/time').then(
          ({ unix_ms }) => unix_ms - Date.now() + (isFirst ? ageMs(new URL('v1/time', base)) : 0),
        ),
      ])
    } catch (error) {
      if (!(error instanceof NotRead)) throw error
      await new Promise<void>((again) => failed(again))
    }
  }
}

/** Milliseconds since the answer came, as far as the browser has noted that. */
function ageMs({ href }: URL): number {
  const came = performance.getEntriesByName(href).at(-1)
  return came === undefined ? 0 : performance.now() - came.startTime - came.duration
}
