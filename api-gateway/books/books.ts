import type { Market } from '../../core/model/market.js'
import type { ReadModel } from '../../data/history/read-model.js'
import { createRestedRuns, type RestedRunsOptions } from '../rested-runs.js'
import type { RenderedBook } from './render-book.js'

/** The visible books of the venue's markets, each rendered once for each state of the projection. */
export interface Books {
  /**
   * The market's book, at least as new as the projection at the time of the call. Requests that come meanwhile share one
   * rendering, and renderings of a market rest between them (rested-runs.ts). Rejects when the renderer fails.
   */
  book(market: Market): Promise<RenderedBook>
}

export interface BooksOptions extends RestedRunsOptions {
  /** Renders the book as the projection has it when the call arrives. */
  readonly render: (market: Market) => Promise<RenderedBook>
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
}

/** Keeps one book of each market; must be called with markets of the venue only. */
export function createBooks({ render, readModel, ...options }: BooksOptions): Books {
  const kept = new Map<string, { readonly of: Market; readonly book: RenderedBook }>()
  const runs = createRestedRuns<RenderedBook>(options)

  async function rendered(market: Market): Promise<RenderedBook> {
    const book = await render(market)
    kept.set(market.market, { of: market, book })
    return book
  }

  const keptOf = (market: Market, seq: number): RenderedBook | undefined => {
    const newest = kept.get(market.market)
    return newest?.of === market && newest.book.seq >= seq ? newest.book : undefined
  }

  return {
    book(market) {
      const seq = readModel.projectedSeq(market.market)
      return runs.after(
        market.market,
        () => keptOf(market, seq),
        () => rendered(market),
      )
    },
  }
}
