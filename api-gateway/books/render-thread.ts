import { Worker } from 'node:worker_threads'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/model/market.js'
import type { Logger } from '../../runtime/process/log.js'
import { createBooks, type Books, type BooksOptions } from './books.js'
import type { Piece, RenderedBook } from './render-book.js'

/** The thread that renders books ended before it answered. */
export class RendererEnded extends Error {
  override readonly name = 'RendererEnded'
}

/** Renders in a thread of its own; a call rejects with RendererEnded, and the next one starts another thread. */
export interface RenderThread extends Pick<BooksOptions, 'render'> {
  stop(): Promise<void>
}

/** What the thread is asked: for a market's book. */
export interface RenderCall {
  readonly id: number
  readonly market: Market
}

/** Its answer to the call of the id. A piece of the market's book before is named by its id. */
export interface RenderAnswer {
  readonly id: number
  readonly book: Omit<RenderedBook, 'bids' | 'asks'> & Record<'bids' | 'asks', (Piece | number)[]>
}

interface RenderWaiter {
  readonly market: string
  readonly resolve: (book: RenderedBook) => void
  readonly reject: (error: Error) => void
}

/** The read model at `path` must exist. As many calls wait as the caller makes: Books makes one for each market. */
export function openRenderThread(path: string, log: Logger): RenderThread {
  const waiting = new Map<number, RenderWaiter>()
  const pieces = new Map<string, ReadonlyMap<number, Piece>>()
  let worker: Worker | undefined
  let calls = 0

  /** The answer's book; its pieces replace those that are kept of the market. */
  function received(market: string, { bids, asks, ...book }: RenderAnswer['book']): RenderedBook {
    const before = pieces.get(market)
    const pieceOf = (named: Piece | number): Piece => {
      const piece = typeof named === 'number' ? before?.get(named) : named
      assert(piece !== undefined, 'a piece that is only named was handed over before')
      return piece
    }
    const whole = { ...book, bids: bids.map(pieceOf), asks: asks.map(pieceOf) }
    pieces.set(market, new Map([...whole.bids, ...whole.asks].map((piece) => [piece.id, piece])))
    return whole
  }

  function ended(cause: unknown): void {
    pieces.clear()
    for (const [id, { reject }] of waiting) {
      waiting.delete(id)
      reject(new RendererEnded('the thread that renders books has ended', { cause }))
    }
  }

  function start(): Worker {
    const started = new Worker(new URL('./worker.js', import.meta.url), { workerData: { path } })
    started.on('message', ({ id, book }: RenderAnswer) => {
      const call = waiting.get(id)
      if (call === undefined) return
      waiting.delete(id)
      call.resolve(received(call.market, book))
    })
    let failure: unknown
    started.on('error', (error) => {
      failure = error
      log.error({ err: error }, 'the thread that renders books has failed')
    })
    // Follows every error.
    started.on('exit', () => {
      worker = undefined
      ended(failure)
    })
    return started
  }

  return {
    render: (market) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        calls += 1
        waiting.set(calls, { market: market.market, resolve, reject })
        const call: RenderCall = { id: calls, market }
        worker.postMessage(call)
      }),
    async stop() {
      await worker?.terminate()
    },
  }
}

/** The books of the read model at `path`, rendered in a thread of their own. */
export function openBooks(
  path: string,
  readModel: BooksOptions['readModel'],
  log: Logger,
): Books & Pick<RenderThread, 'stop'> {
  const thread = openRenderThread(path, log)
  return { ...createBooks({ ...thread, readModel }), stop: () => thread.stop() }
}
