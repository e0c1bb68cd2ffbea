import type { Market } from '../../core/contracts/market.js'
import type { ReadModel } from '../../data/history/read-model.js'
import type { RenderedBook, RenderedSide } from './render-book.js'

/** The visible books of the venue's markets, each rendered once for each state of the projection. */
export interface Books {
  /**
   * The market's book, at least as new as the projection at the time of the call. Requests that come meanwhile share one
   * rendering. Rejects when the renderer fails.
   */
  book(market: Market): Promise<RenderedBook>
  /**
   * A body of the book compressed: these parts, which the tag names. The newest of each book is kept while the book is, and
   * requests share it. Rejects when the renderer fails.
   */
  compressed(book: RenderedBook, etag: string, parts: readonly Uint8Array[]): Promise<Uint8Array>
}

/** Work on books that takes longer than an event loop may be held up. */
export interface BookRenderer {
  /** Renders the book as the projection has it when the call arrives. */
  readonly render: (market: Market) => Promise<RenderedBook>
  /** The parts after each other as gzip. */
  readonly compress: (parts: readonly Uint8Array[]) => Promise<Uint8Array>
}

export interface BooksOptions extends BookRenderer {
  readonly readModel: Pick<ReadModel, 'projectedSeq'>
}

/** Keeps one book of each market; must be called with markets of the venue only. */
export function createBooks({ render, compress, readModel }: BooksOptions): Books {
  const kept = new Map<string, { readonly of: Market; readonly book: RenderedBook }>()
  const running = new Map<string, Promise<RenderedBook>>()
  const bodies = new WeakMap<RenderedBook, { etag: string; body: Promise<Uint8Array> }>()

  async function start(market: Market): Promise<RenderedBook> {
    try {
      const book = await render(market)
      kept.set(market.market, { of: market, book })
      return book
    } finally {
      running.delete(market.market)
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
    compressed(book, etag, parts) {
      const known = bodies.get(book)
      if (known?.etag === etag) return known.body
      const body = compress(parts).catch((error: unknown) => {
        bodies.delete(book)
        throw error
      })
      bodies.set(book, { etag, body })
      return body
    },
  }
}

/** The members of a book's body behind `market_presentation`, closed; `depth` keeps that many orders of each side. */
export function bookMembers({ bids, asks }: RenderedBook, depth?: number): Uint8Array[] {
  return [BIDS, upTo(bids, depth), ASKS, upTo(asks, depth), END]
}

const BIDS = Buffer.from('"bids":[')
const ASKS = Buffer.from('],"asks":[')
const END = Buffer.from(']}')

function upTo({ bytes, ends }: RenderedSide, depth = ends.length): Uint8Array {
  return depth >= ends.length ? bytes : bytes.subarray(0, ends[depth - 1])
}
