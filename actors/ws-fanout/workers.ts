import cluster from 'node:cluster'
import { once } from 'node:events'
import { CannotStart } from '../../core/cannot-start.js'
import type { Logger } from '../../runtime/process/log.js'
import { runProcess, STOP_DEADLINE_MS, type RunningProcess } from '../../runtime/process/process.js'
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
 * in turn. One that ends by itself is started again, unless only an operator can change what ended it; the sockets of the others stay
 * open. All end with this process, which ends with 78 when none is left.
 */
export function runWorkers(config: WsFanoutConfig): void {
  runProcess({
    name: 'ws-fanout',
    level: config.LOG_LEVEL,
    start: ({ log, fail }) => {
      const count = config.WS_FANOUT_WORKERS
      return Promise.resolve(superviseWorkers({ count, start: startWorker, log, onNoneLeft: fail }))
    },
  })
}

/** Each worker has ended with what only an operator can change. */
export class NoWorkerLeft extends CannotStart {
  override readonly name = 'NoWorkerLeft'
}

export interface WorkersOptions {
  readonly count: number
  /** Starts the worker of this number. */
  readonly start: (worker: number) => Promise<Child>
  readonly log: Logger
  /** The pause after the n-th end of a worker in a row; by default that of every supervised process. */
  readonly pauseMs?: (inARow: number) => number
  /** Called once, with NoWorkerLeft. */
  readonly onNoneLeft: (error: NoWorkerLeft) => void
}

/** Keeps so many workers running. One whose ends keep saying that no restart helps stays down, and the others go on. */
export function superviseWorkers({
  count,
  start,
  log,
  onNoneLeft,
  pauseMs: pauseAfter,
}: WorkersOptions): RunningProcess {
  const down = new Set<number>()
  const keep = (worker: number): SupervisedProcess =>
    supervise({
      name: `ws-fanout-${worker}`,
      ...(pauseAfter !== undefined && { pauseMs: pauseAfter }),
      start: async (spawned) => spawned(await start(worker)),
      onStart: (pid) => log.info({ worker, worker_pid: pid }, 'worker started'),
      onEnd: (pid) => log.info({ worker, worker_pid: pid }, 'worker ended'),
      onCrash: (reason, inARow, pauseMs) =>
        log.warn({ worker, reason, in_a_row: inARow, pause_ms: pauseMs }, 'worker is restarted'),
      onCrashLoop: (inARow) => log.error({ worker, in_a_row: inARow }, 'worker keeps ending'),
      onHopeless: (reason) => {
        log.error({ worker, reason }, 'worker stays down until what its last line says is mended')
        down.add(worker)
        if (down.size === count)
          onNoneLeft(new NoWorkerLeft('no worker is left: their last lines say what to mend'))
      },
    })
  const workers = Array.from({ length: count }, (_, index) => keep(index + 1))
  return {
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.stop(WORKER_GRACE_MS)))
    },
  }
}

/**
 * Node ends a worker of its cluster at once when the parent is gone. This one stops in order instead (`runProcess` sees the
 * same event), so that its clients get their close code.
 */
export function stopInOrderWithoutParent(): void {
  const { worker } = cluster
  worker?.once('disconnect', () => (worker.exitedAfterDisconnect = true))
}

/** Runs this program once more, as a worker of node's cluster. */
async function startWorker(worker: number): Promise<Child> {
  const { process: child } = cluster.fork({ WS_FANOUT_WORKER: worker })
  const started = childOf(child)
  await once(child, 'spawn')
  return started
}
