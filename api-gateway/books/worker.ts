import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { assert } from '../../core/assert.js'
import type { Market } from '../../core/contracts/market.js'
import { openReadModel } from '../../data/history/read-model.js'
import { createBookRenderer } from './render-book.js'

/** A thread that renders books: a large one takes longer than an order may wait for the gateway's event loop. */

/** Behind the threads that pass orders on; on Linux the priority is that of the thread. */
const PRIORITY = 10

const { path } = z.object({ path: z.string() }).parse(workerData)
const port = parentPort
assert(port !== null, 'books are rendered in a worker thread')
setPriority(0, PRIORITY)
const render = createBookRenderer(openReadModel(path))

port.on('message', ({ id, market }: { id: number; market: Market }) => {
  const book = render(market)
  const memory = [book.bids, book.asks].flatMap(({ bytes, ends }) => [bytes.buffer, ends.buffer])
  port.postMessage({ id, book }, memory as ArrayBuffer[])
})
