import type { ReadModel } from '../data/read-model.js'

/** How long a read waits for the projection before it is answered with 503. */
export const MAX_READ_WAIT_MS = 2_000
const POLL_MS = 5

/** Makes every read of this gateway show what this gateway has answered (decision D12). */
export interface OwnWrites {
  /** An answer showed the market as of this feed seq. */
  answered(market: string, feedSeq: number): void
  /** Whether the projection shows what was answered so far of the market, or of all; waits at most 2 s for it. */
  shown(market?: string): Promise<boolean>
}

export interface OwnWritesOptions {
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
  readonly maxWaitMs?: number
}

/** Holds one number per market; `answered` must be called with markets of the venue only. */
export function createOwnWrites({
  readModel,
  maxWaitMs = MAX_READ_WAIT_MS,
}: OwnWritesOptions): OwnWrites {
  const answeredSeq = new Map<string, number>()

  const isShown = (targets: ReadonlyMap<string, number>): boolean =>
    [...targets].every(([market, seq]) => readModel.projectedSeq(market) >= seq)

  return {
    answered: (market, feedSeq) => {
      answeredSeq.set(market, Math.max(feedSeq, answeredSeq.get(market) ?? 0))
    },
    shown: async (market) => {
      const wanted = [...answeredSeq].filter(([name]) => market === undefined || name === market)
      const targets = new Map(wanted)
      const deadline = performance.now() + maxWaitMs
      while (!isShown(targets)) {
        if (performance.now() >= deadline) return false
        await new Promise((resolve) => setTimeout(resolve, POLL_MS))
      }
      return true
    },
  }
}
