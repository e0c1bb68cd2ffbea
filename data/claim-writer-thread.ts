import { parentPort, workerData } from 'node:worker_threads'
import { z } from 'zod'
import { assert } from '../core/assert.js'
import { CHECKPOINT_PAGES, prepareClaimWriter, type ClaimBatch } from './claim-writer.js'
import { DiskTrouble, orDiskTrouble } from './disk-trouble.js'
import { openIntakeDatabase } from './intake-registry.js'

/** The thread that stores claims in `intake.db`; the thread that folds them holds the file's lock. */

const { path } = z.object({ path: z.string() }).parse(workerData)
const port = parentPort
assert(port !== null, 'claims are stored in a worker thread')
const write = orDiskTrouble(prepareClaimWriter(openIntakeDatabase(path, CHECKPOINT_PAGES)))

port.on('message', (batch: ClaimBatch) => {
  try {
    write(batch)
    port.postMessage({})
  } catch (error) {
    if (!(error instanceof DiskTrouble)) throw error
    // An error loses its class on the way.
    port.postMessage({ trouble: error.message })
  }
})
