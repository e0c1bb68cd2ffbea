import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { constants, gzipSync } from 'node:zlib'
import { z } from 'zod'
import { assert } from '../../core/assert.js'
import { openReadModel } from '../../data/history/read-model.js'
import { createBookRenderer } from './render-book.js'
import type { RenderAnswer, RenderCall } from './render-thread.js'

/**
 * A thread that renders books and compresses them: with a large one both take longer than an order may wait for the gateway's
 * event loop. Compression by Node's pool of threads would have the priority of the event loop.
 */

/** Behind the threads that pass orders on; on Linux the priority is that of the thread. */
const PRIORITY = 10

const { path } = z.object({ path: z.string() }).parse(workerData)
const port = parentPort
assert(port !== null, 'books are rendered in a worker thread')
setPriority(0, PRIORITY)
const render = createBookRenderer(openReadModel(path))

port.on('message', (call: RenderCall & { readonly id: number }) => {
  const { id } = call
  if ('market' in call) return answer({ id, made: render(call.market) })
  const made = gzipSync(Buffer.concat(call.parts), { level: constants.Z_BEST_SPEED })
  answer({ id, made })
})

/** The bytes of a book are shared memory; those of a compressed one are copied. */
function answer(message: RenderAnswer): void {
  port?.postMessage(message)
}
