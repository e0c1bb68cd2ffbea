import cluster from 'node:cluster'
import { orExit } from '../../runtime/process/cannot-start.js'
import { readWsFanoutConfig } from './config.js'
import { runWorker } from './worker.js'
import { runWorkers, stopInOrderWithoutParent } from './workers.js'

const config = orExit(readWsFanoutConfig)

if (config.WS_FANOUT_WORKERS > 1 && cluster.isPrimary) runWorkers(config)
else {
  stopInOrderWithoutParent()
  runWorker(config)
}
