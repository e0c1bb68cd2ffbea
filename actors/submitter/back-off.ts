/** When something that does not change is to be looked at again: after a pause that doubles each time. */
export interface BackOff {
  /** True when its pause is over, and then the next one begins; true the first time. */
  isDue(key: string): boolean
}

export interface BackOffOptions {
  readonly firstMs: number
  readonly longestMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number
}

/** Keys remembered at most; when there are more, all begin anew. */
const MAX_KEYS = 1_024

export function createBackOff(options: BackOffOptions): BackOff {
  const { firstMs, longestMs, nowMs = () => performance.now() } = options
  const pauses = new Map<string, { readonly dueAtMs: number; readonly pauseMs: number }>()
  return {
    isDue(key) {
      const now = nowMs()
      const pause = pauses.get(key)
      if (pause !== undefined && now < pause.dueAtMs) return false
      const pauseMs = pause === undefined ? firstMs : Math.min(pause.pauseMs * 2, longestMs)
      if (pause === undefined && pauses.size >= MAX_KEYS) pauses.clear()
      pauses.set(key, { dueAtMs: now + pauseMs, pauseMs })
      return true
    },
  }
}
