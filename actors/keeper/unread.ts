/** What the keeper cannot read, since when and why. Bounded by the contracts that are kept. */
export class Unread {
  private readonly failures = new Map<string, { readonly sinceMs: number; readonly why: string }>()

  /** `nowMs` is of a clock that only goes forward. */
  constructor(
    private readonly facts: { readonly unreadable: (what: string, cause: Error) => void },
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** A read gave no answer; told once until one does. */
  failed(what: string, cause: Error): void {
    if (this.failures.has(what)) return
    this.failures.set(what, { sinceMs: this.nowMs(), why: wordsOf(cause) })
    this.facts.unreadable(what, cause)
  }

  answered(what: string): void {
    this.failures.delete(what)
  }

  /** What has not been read for longer than `longestMs`, and why; undefined where everything has. */
  trouble(longestMs: number): string | undefined {
    for (const [what, { sinceMs, why }] of this.failures) {
      const passedMs = this.nowMs() - sinceMs
      if (passedMs <= longestMs) continue
      return `${what} has not been readable for ${Math.floor(passedMs / 1_000)} s (${why})`
    }
    return undefined
  }
}

const wordsOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message
