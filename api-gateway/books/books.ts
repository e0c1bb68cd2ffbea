import { setTimeout as delay } from 'node:timers/promises'
import type { Market } from '../../core/model/market.js'
import type { ReadModel } from '../../data/history/read-model.js'
import type { RenderedBook } from './render-book.js'

/** The visible books of the venue's markets, each rendered once for each state of the projection. */
export interface Books {
  /**
   * The market's book, at least as new as the projection at the time of the call. Requests that come meanwhile share one
   * rendering. A market's next rendering begins four times as long after the last one as that took, at most 400 ms: however
   * many ask, a book that is rendered in up to 100 ms takes at most a fifth of a processor. Rejects when the renderer fails.
   */
  book(market: Market): Promise<RenderedBook>
}

export interface BooksOptions {
  /** Renders the book as the projection has it when the call arrives. */
  readonly render: (market: Market) => Promise<RenderedBook>
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
  /** Monotonic milliseconds. */
  readonly elapsedMs?: () => number
  readonly pause?: (ms: number) => Promise<unknown>
}

/** So many times as long as a rendering took passes until the next one. */
const REST = 4
const LONGEST_REST_MS = 400

/** Keeps one book of each market; must be called with markets of the venue only. */
export function createBooks({
  render,
  readModel,
  elapsedMs = () => performance.now(),
  pause = delay,
}: BooksOptions): Books {
  const kept = new Map<string, { readonly of: Market; readonly book: RenderedBook }>()
  const running = new Map<string, Promise<RenderedBook>>()
  const restsUntilMs = new Map<string, number>()

  async function start(market: Market): Promise<RenderedBook> {
    const name = market.market
    const restMs = (restsUntilMs.get(name) ?? 0) - elapsedMs()
    if (restMs > 0) await pause(restMs)
    const startedAtMs = elapsedMs()
    try {
      const book = await render(market)
      kept.set(name, { of: market, book })
      return book
    } finally {
      const endedAtMs = elapsedMs()
      const rest = Math.min(REST * (endedAtMs - startedAtMs), LONGEST_REST_MS)
      restsUntilMs.set(name, endedAtMs + rest)
      running.delete(name)
    }
  }

  const keptOf = (market: Market, seq: number): RenderedBook | undefined => {
    const newest = kept.get(market.market)
    return newest?.of === market && newest.book.seq >= seq ? newest.book : undefined
  }

  return {
    async book(market) {
      const name = market.market
      const seq = readModel.projectedSeq(name)
      // One that runs already may have begun before this state; the next one has not.
      await running.get(name)?.catch(() => undefined)
      const found = keptOf(market, seq)
      if (found !== undefined) return found
      const rendering = running.get(name) ?? start(market)
      running.set(name, rendering)
      return rendering
    },
  }
}
