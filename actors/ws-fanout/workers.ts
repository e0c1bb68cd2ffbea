import cluster from 'node:cluster'
import { once } from 'node:events'
import type { Logger } from '../../runtime/process/log.js'
import { runProcess, STOP_DEADLINE_MS } from '../../runtime/process/process.js'
import {
  childOf,
  supervise,
  type Child,
  type SupervisedProcess,
} from '../../runtime/process/supervisor.js'
import type { WsFanoutConfig } from './config.js'

/** Leaves this process time to end within its own deadline. */
const WORKER_GRACE_MS = STOP_DEADLINE_MS - 500

/**
 * Runs the workers of the fan-out, which share its port: this process accepts the connections and gives them to the workers
 * in turn. One that ends by itself is started again; the sockets of the others stay open. All end with this process.
 */
export function runWorkers(config: WsFanoutConfig): void {
  runProcess({
    name: 'ws-fanout',
    level: config.LOG_LEVEL,
    start: ({ log }) => {
      const workers = Array.from({ length: config.WS_FANOUT_WORKERS }, (_, index) =>
        superviseWorker(index + 1, log),
      )
      const stop = async (): Promise<void> => {
        await Promise.all(workers.map((worker) => worker.stop(WORKER_GRACE_MS)))
      }
      return Promise.resolve({ stop })
    },
  })
}

/**
 * Node ends a worker of its cluster at once when the parent is gone. This one stops in order instead (`runProcess` sees the
 * same event), so that its clients get their close code.
 */
export function stopInOrderWithoutParent(): void {
  const { worker } = cluster
  worker?.once('disconnect', () => (worker.exitedAfterDisconnect = true))
}

const superviseWorker = (worker: number, log: Logger): SupervisedProcess =>
  supervise({
    name: `ws-fanout-${worker}`,
    start: async (spawned) => spawned(await startWorker(worker)),
    onStart: (pid) => log.info({ worker, worker_pid: pid }, 'worker started'),
    onEnd: (pid) => log.info({ worker, worker_pid: pid }, 'worker ended'),
    onCrash: (reason, inARow, pauseMs) =>
      log.warn({ worker, reason, in_a_row: inARow, pause_ms: pauseMs }, 'worker is restarted'),
    onCrashLoop: (inARow) => log.error({ worker, in_a_row: inARow }, 'worker keeps ending'),
  })

/** Runs this program once more, as a worker of node's cluster. */
async function startWorker(worker: number): Promise<Child> {
  const { process: child } = cluster.fork({ WS_FANOUT_WORKER: worker })
  const started = childOf(child)
  await once(child, 'spawn')
  return started
}
