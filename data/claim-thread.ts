import { Worker } from 'node:worker_threads'
import type { ClaimThread } from './claim-writer.js'
import { DiskTrouble } from './disk-trouble.js'

/**
 * The thread is started by the first batch. Thousands of random keys take a tenth of a second and more of a large file, which no
 * order may wait for. A thread that ends by itself ends the process.
 */
export function openClaimThread(path: string): ClaimThread {
  let worker: Worker | undefined
  const start = (): Worker =>
    new Worker(new URL('./claim-writer-thread.js', import.meta.url), { workerData: { path } })
  return {
    write: (batch) =>
      new Promise((resolve, reject) => {
        worker ??= start()
        worker.once('message', ({ trouble }: { readonly trouble?: string }) => {
          if (trouble === undefined) resolve()
          else reject(new DiskTrouble(trouble))
        })
        worker.postMessage(batch)
      }),
    async stop() {
      await worker?.terminate()
    },
  }
}
