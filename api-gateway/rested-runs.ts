import { setTimeout as delay } from 'node:timers/promises'

/** Work that many ask for and that is done once for all who ask meanwhile, with a rest after it. */
export interface RestedRuns<Done> {
  /**
   * What is asked for under the name: as `found` has it once the run that goes on has ended, else what the next run gives. A run
   * that goes on may have begun before what the caller asks for; the next one has not. Requests that come meanwhile share the
   * next run. Rejects as that run does.
   */
  after(name: string, found: () => Done | undefined, run: () => Promise<Done>): Promise<Done>
}

export interface RestedRunsOptions {
  /** Monotonic milliseconds. */
  readonly elapsedMs?: (() => number) | undefined
  readonly pause?: ((ms: number) => Promise<unknown>) | undefined
}

/** So many times as long as a run took passes until the next one of its name. */
const REST = 4
const LONGEST_REST_MS = 400

/**
 * However many ask, work that takes up to 100 ms takes at most a fifth of a processor: the next run of a name begins four times as
 * long after the last one as that took, at most 400 ms. Keeps a few numbers for each name; names must be bounded.
 */
export function createRestedRuns<Done>({
  elapsedMs = () => performance.now(),
  pause = delay,
}: RestedRunsOptions = {}): RestedRuns<Done> {
  const running = new Map<string, Promise<Done>>()
  const restsUntilMs = new Map<string, number>()

  async function start(name: string, run: () => Promise<Done>): Promise<Done> {
    const restMs = (restsUntilMs.get(name) ?? 0) - elapsedMs()
    if (restMs > 0) await pause(restMs)
    const startedAtMs = elapsedMs()
    try {
      return await run()
    } finally {
      const endedAtMs = elapsedMs()
      const rest = Math.min(REST * (endedAtMs - startedAtMs), LONGEST_REST_MS)
      restsUntilMs.set(name, endedAtMs + rest)
      running.delete(name)
    }
  }

  return {
    async after(name, found, run) {
      await running.get(name)?.catch(() => undefined)
      const here = found()
      if (here !== undefined) return here
      const next = running.get(name) ?? start(name, run)
      running.set(name, next)
      return next
    },
  }
}
