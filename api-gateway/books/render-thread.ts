import { Worker } from 'node:worker_threads'
import type { Market } from '../../core/contracts/market.js'
import type { Logger } from '../../runtime/process/log.js'
import { createBooks, type Books, type BooksOptions } from './books.js'
import type { RenderedBook } from './render-book.js'

/** The thread that renders books ended before it answered. */
export class RendererEnded extends Error {
  override readonly name = 'RendererEnded'
}

/** Renders books in a thread of its own. */
export interface RenderThread {
  /** Rejects with RendererEnded; the next call starts another thread. */
  render(market: Market): Promise<RenderedBook>
  stop(): Promise<void>
}

interface Waiting {
  readonly resolve: (book: RenderedBook) => void
  readonly reject: (error: Error) => void
}

/** The read model at `path` must exist. As many calls wait as the caller makes: Books makes one for each market. */
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
    started.on('message', ({ id, book }: { id: number; book: RenderedBook }) => {
      waiting.get(id)?.resolve(book)
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

  return {
    render: (market) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        calls += 1
        waiting.set(calls, { resolve, reject })
        worker.postMessage({ id: calls, market })
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
  return {
    ...createBooks({ render: (market) => thread.render(market), readModel }),
    stop: () => thread.stop(),
  }
}
