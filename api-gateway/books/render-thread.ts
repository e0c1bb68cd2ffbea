import { Worker } from 'node:worker_threads'
import type { Market } from '../../core/contracts/market.js'
import type { Logger } from '../../runtime/process/log.js'
import { createBooks, type BookRenderer, type Books, type BooksOptions } from './books.js'
import type { RenderedBook } from './render-book.js'

/** The thread that renders books ended before it answered. */
export class RendererEnded extends Error {
  override readonly name = 'RendererEnded'
}

/** Renders and compresses in a thread of its own; a call rejects with RendererEnded, and the next one starts another thread. */
export interface RenderThread extends BookRenderer {
  stop(): Promise<void>
}

/** What the thread is asked: for a market's book, or for these parts as gzip. */
export type RenderCall = { readonly market: Market } | { readonly parts: readonly Uint8Array[] }

/** Its answer to the call of the id: a book, or gzip. */
export interface RenderAnswer {
  readonly id: number
  readonly made: RenderedBook | Uint8Array
}

interface Waiting {
  readonly resolve: (made: RenderAnswer['made']) => void
  readonly reject: (error: Error) => void
}

/** The read model at `path` must exist. As many calls wait as the caller makes: Books makes two for each market. */
export function openRenderThread(path: string, log: Logger): RenderThread {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | undefined
  let calls = 0

  function ended(cause: unknown): void {
    for (const [id, { reject }] of waiting) {
      waiting.delete(id)
      reject(new RendererEnded('the thread that renders books has ended', { cause }))
    }
  }

  function start(): Worker {
    const started = new Worker(new URL('./worker.js', import.meta.url), { workerData: { path } })
    started.on('message', ({ id, made }: RenderAnswer) => {
      waiting.get(id)?.resolve(made)
      waiting.delete(id)
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

  const ask = (call: RenderCall): Promise<RenderAnswer['made']> =>
    new Promise((resolve, reject) => {
      worker ??= start()
      calls += 1
      waiting.set(calls, { resolve, reject })
      worker.postMessage({ id: calls, ...call })
    })

  return {
    render: async (market) => (await ask({ market })) as RenderedBook,
    compress: async (parts) => (await ask({ parts })) as Uint8Array,
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
  return {
    ...createBooks({ ...thread, readModel }),
    stop: () => thread.stop(),
  }
}
