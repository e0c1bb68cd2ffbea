import { CannotStart } from '../../core/cannot-start.js'
import type { Market } from '../../core/model/market.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { BusShareClosed, shareBus } from '../../runtime/bus/bus-share.js'
import { CANNOT_START_CODE } from '../../runtime/process/cannot-start.js'
import type { Logger } from '../../runtime/process/log.js'
import { STOP_DEADLINE_MS, type RunningProcess } from '../../runtime/process/process.js'
import {
  supervise,
  type Child,
  type Exit,
  type SupervisedProcess,
} from '../../runtime/process/supervisor.js'

/** What a market gets of its process. */
export interface MarketPlace {
  readonly market: Market
  /** Its share of the connection. */
  readonly bus: Bus
  readonly log: Logger
  /** Ends this run of the market alone. */
  readonly fail: (error: unknown) => void
}

export interface SharedMarketsOptions {
  readonly bus: Bus
  readonly logOf: (market: string) => Logger
  /** Starts a market; a rejection ends this run of it, as `fail` does. */
  readonly start: (place: MarketPlace) => Promise<RunningProcess>
  /** The market has ended with what only an operator can change, and stays down. */
  readonly onDown: (market: string) => void
  /** The pause after the n-th end of a run in a row; by default that of a process. */
  readonly pauseMs?: (inARow: number) => number
}

/** Markets that run in one process. */
export interface SharedMarkets {
  /** Starts a market; one that is there already stays as it is. */
  add(market: Market): void
  stop(): Promise<void>
}

/** A stop within which a market must be through, so that its process ends in time. */
const STOP_WITHIN_MS = STOP_DEADLINE_MS - 1_000

/**
 * Runs several markets in one process. One that fails writes nothing from that moment on, and is started again after a pause that grows while
 * it keeps failing, as a process of its own would be; one that fails by a CannotStart five times in a row stays down. The others go on.
 */
export function runSharedMarkets({
  bus,
  logOf,
  start,
  onDown,
  pauseMs,
}: SharedMarketsOptions): SharedMarkets {
  const markets = new Map<string, SupervisedProcess>()
  const keep = (market: Market): SupervisedProcess => {
    const log = logOf(market.market)
    return supervise({
      name: market.market,
      ...(pauseMs !== undefined && { pauseMs }),
      start: (spawned) => {
        const run = startRun({ market, bus, log, start })
        spawned(run)
        return Promise.resolve()
      },
      onStart: () => log.info('starting'),
      onEnd: () => log.info('stopped'),
      onCrash: (reason, inARow, pause) =>
        log.warn({ reason, in_a_row: inARow, pause_ms: pause }, 'matcher is restarted'),
      onCrashLoop: (inARow) => log.error({ in_a_row: inARow }, 'matcher keeps ending'),
      onHopeless: (reason) => {
        log.error({ reason }, 'matcher stays down until what its last line says is mended')
        onDown(market.market)
      },
    })
  }
  return {
    add: (market) => {
      if (!markets.has(market.market)) markets.set(market.market, keep(market))
    },
    stop: async () => {
      await Promise.all(Array.from(markets.values(), (each) => each.stop(STOP_WITHIN_MS)))
    },
  }
}

interface RunOptions {
  readonly market: Market
  readonly bus: Bus
  readonly log: Logger
  readonly start: SharedMarketsOptions['start']
}

/** One run of a market, which ends like a process: by its stop, or with a code. */
function startRun({ market, bus, log, start }: RunOptions): Child {
  let end: (exit: Exit) => void = () => undefined
  const exited = new Promise<Exit>((resolve) => (end = resolve))
  let isOver = false
  const failed = (error: unknown): void => {
    if (isOver) return
    isOver = true
    // Before anything else of this market runs.
    const closed = share.close()
    log.fatal({ err: error }, 'failed')
    const code = error instanceof CannotStart ? CANNOT_START_CODE : 1
    const released = Promise.all([stopStarted(), closed])
    void within(released, STOP_WITHIN_MS, log).then(() => end({ code, signal: null }))
  }
  const share = shareBus(bus, failed)
  const starting = Promise.resolve().then(() => start({ market, bus: share, log, fail: failed }))
  starting.catch(failed)
  const stopStarted = async (): Promise<void> => {
    // Why it did not start is said already.
    const started = await starting.catch(() => undefined)
    await started?.stop().catch((error: unknown) => {
      // A market that has failed may still call the bus: its share is closed.
      if (!(error instanceof BusShareClosed)) throw error
    })
  }
  return {
    pid: process.pid,
    exited,
    signal: () => undefined,
    async stop(graceMs) {
      if (isOver) return exited
      isOver = true
      await within(stopStarted(), graceMs, log)
      await share.close()
      end({ code: 0, signal: null })
      return exited
    },
  }
}

/** Waits for the work, and no longer than that; says why it was not done. */
async function within(work: Promise<unknown>, ms: number, log: Logger): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not stopped within ${ms} ms`)), ms)
  })
  await Promise.race([work, late]).catch((error: unknown) =>
    log.error({ err: error }, 'a market was not stopped in order'),
  )
  clearTimeout(timer)
}
