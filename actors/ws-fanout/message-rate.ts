/** Counts what a client sends, in windows that begin with the first message after the last one ended. */
export interface MessageRate {
  /** Counts one more; false when it is too many. */
  allows(): boolean
}

export interface MessageRateLimits {
  readonly maxMessages: number
  readonly messageWindowMs: number
}

/** `nowMs` is any clock that never goes back. */
export function createMessageRate(limits: MessageRateLimits, nowMs: () => number): MessageRate {
  let windowEndsMs = -Infinity
  let counted = 0
  return {
    allows() {
      const now = nowMs()
      if (now >= windowEndsMs) {
        windowEndsMs = now + limits.messageWindowMs
        counted = 0
      }
      counted += 1
      return counted <= limits.maxMessages
    },
  }
}
