/** What the keeper cannot read, since when and why. Bounded by the contracts that are kept. */
export class UnreadContracts {
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

/** A node that has shown no new block for longer than this has lost its chain. */
const STILL_MAX_MS = 90_000

/** The newest block that was looked at, and the newest at which all accounts are read. */
export class SeenHead {
  private newest: { readonly hash: string; readonly number: bigint } | undefined
  private whole: bigint | undefined
  private sinceMs: number

  /** `nowMs` is of a clock that only goes forward. */
  constructor(private readonly nowMs: () => number = () => performance.now()) {
    this.sinceMs = nowMs()
  }

  /** What is due at this block has been looked at; `isPartial`: as far as accounts are read. */
  seen(head: { readonly hash: string; readonly number: bigint }, isPartial: boolean): void {
    if (!isPartial) this.whole = head.number
    if (head.hash === this.newest?.hash) return
    this.newest = head
    this.sinceMs = this.nowMs()
  }

  /** All that was due at this block is known; undefined before the first. */
  get number(): bigint | undefined {
    return this.whole
  }

  /** That no other block has come for long; undefined otherwise. */
  trouble(): string | undefined {
    const passedMs = this.nowMs() - this.sinceMs
    if (passedMs <= STILL_MAX_MS) return undefined
    const what = this.newest === undefined ? 'no block' : `only block ${this.newest.number}`
    return `the node has shown ${what} for ${Math.floor(passedMs / 1_000)} s`
  }
}

const wordsOf = ({ message, cause }: Error): string =>
  cause instanceof Error ? `${message}: ${cause.message}` : message
