export interface CircuitBreakerOptions {
  /** How long a silent node is left alone before one question tries it again. */
  readonly restMs?: number
  /** Milliseconds of a clock that never goes back. */
  readonly nowMs?: () => number
}

/** Keeps those who would ask a node from waiting for one that is known to be silent. */
export interface CircuitBreaker {
  /** What the question answers; undefined, which is what a question without answer must resolve to, without asking. */
  ask<Answer>(question: () => Promise<Answer | undefined>): Promise<Answer | undefined>
}

const REST_MS = 1_000

/**
 * After a question without answer no other is asked for a while; then one goes ahead, and its answer opens the way for
 * all. Only questions whose silence is the node's own fault belong here: one that runs somebody's contract does not.
 */
export function createCircuitBreaker(options: CircuitBreakerOptions = {}): CircuitBreaker {
  const { restMs = REST_MS, nowMs = () => performance.now() } = options
  /** When the node may be tried again; undefined while it answers. */
  let tryAgainAtMs: number | undefined
  return {
    async ask(question) {
      if (tryAgainAtMs !== undefined) {
        if (nowMs() < tryAgainAtMs) return undefined
        // Whoever comes while this one tries is turned away.
        tryAgainAtMs = Number.POSITIVE_INFINITY
      }
      const answer = await question()
      tryAgainAtMs = answer === undefined ? nowMs() + restMs : undefined
      return answer
    },
  }
}
