import { createNumbering, termOf } from '../../core/model/command.js'
import { withIdentity } from '../../core/model/market-terms.js'
import type { Market } from '../../core/model/market.js'
import type { IntakeRegistry } from '../../data/intake-registry.js'
import { claimOf } from '../../data/recent-claims.js'
import type { Bus } from '../../runtime/bus/bus.js'
import { createMissingLogs, joinMarketLog, LogMissing } from '../../runtime/bus/market-log.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { createCommandLog, type CommandLogWriter, type Term } from './command-log.js'
import { LogMismatch } from './fold-log.js'
import type { MarketHalts } from './market-halts.js'

export interface MarketLogsOptions {
  readonly bus: Bus
  readonly registry: IntakeRegistry
  readonly halts: Pick<MarketHalts, 'add' | 'stop' | 'stopped' | 'release'>
  /** Unique to the process. */
  readonly id: string
  /** Takes a term above this one. */
  readonly takeTerm: (above: number) => Promise<number>
  /** Unix milliseconds. */
  readonly nowMs: () => number
  readonly log: Logger
  /** Called before a market's log takes its first command. */
  readonly check: (row: Market) => Promise<void>
  /** Called when it takes commands. */
  readonly onOpen: (market: string) => Promise<void>
  /** A restored log could not be opened. */
  readonly onFatal: (error: unknown) => void
}

/** The command logs of an intake's markets. */
export interface MarketLogs extends RunningProcess {
  /** Those that take commands, by market. */
  readonly open: ReadonlyMap<string, CommandLogWriter>
  /**
   * Folds the logs of these markets, then takes a term and begins it in each. A market whose log is missing, or is not the one that the
   * registry was folded from, is stopped alone until its log is restored. Throws Fenced. Resolves with the term.
   */
  begin(rows: readonly Market[]): Promise<number>
  /** Opens the log of one market more; a known one gets its texts. */
  follow(row: Market): Promise<void>
  /** Looks for no restored log any more. */
  stopLooking(): Promise<void>
}

export function createMarketLogs(options: MarketLogsOptions): MarketLogs {
  const { bus, registry, halts, log, id, check, onOpen, onFatal } = options
  const open = new Map<string, CommandLogWriter>()
  const missingLogs = createMissingLogs({ bus, onError: onFatal })
  let onTerm: (term: Term) => void
  const termBegun = new Promise<Term>((resolve) => (onTerm = resolve))

  /** Undefined when the market is stopped. */
  const unlessStopped = async <T>(row: Market, step: () => Promise<T>): Promise<T | undefined> => {
    const { market } = row
    try {
      return await step()
    } catch (error) {
      if (!(error instanceof LogMissing || error instanceof LogMismatch)) throw error
      if (!halts.stopped().includes(error.message)) {
        log.error({ err: error, market }, 'the market is stopped, the others go on')
      }
      halts.stop(market, error.message)
      missingLogs.await(market, () => goOn(row))
      return undefined
    }
  }
  const recover = (row: Market): Promise<OpenedLog | undefined> =>
    unlessStopped(row, async () => {
      const opened = await openLog(options, row)
      await opened.commandLog.recover()
      return opened
    })
  const begin = (row: Market, { commandLog, logged }: OpenedLog): Promise<true | undefined> =>
    unlessStopped(row, async (): Promise<true> => {
      await commandLog.begin(await termBegun)
      await check(logged)
      open.set(row.market, commandLog)
      await onOpen(row.market)
      return true
    })
  const recoverAndBegin = async (row: Market): Promise<true | undefined> => {
    const opened = await recover(row)
    return opened && begin(row, opened)
  }
  const goOn = async (row: Market): Promise<void> => {
    if ((await recoverAndBegin(row)) === undefined) return
    halts.release(row.market)
    log.info({ market: row.market }, 'the log is restored, the market goes on')
  }
  return {
    open,
    async begin(rows) {
      const recovered: [Market, OpenedLog | undefined][] = []
      for (const row of rows) {
        halts.add(row)
        recovered.push([row, await recover(row)])
      }
      // Above any log, so that each market skips what an earlier intake still appends.
      const term = await options.takeTerm(termOf(registry.lastNo()))
      onTerm({ numbers: createNumbering(term), id })
      for (const [row, opened] of recovered) if (opened) await begin(row, opened)
      return term
    },
    async follow(row) {
      if (!halts.add(row)) await recoverAndBegin(row)
    },
    stopLooking: () => missingLogs.stop(),
    async stop() {
      await Promise.all(Array.from(open.values(), (commandLog) => commandLog.stop()))
    },
  }
}

interface OpenedLog {
  readonly commandLog: CommandLogWriter
  /** The row with what the log has fixed: the log is read and written as its own contract type. */
  readonly logged: Market
}

async function openLog(options: MarketLogsOptions, row: Market): Promise<OpenedLog> {
  const { bus, registry, log, nowMs } = options
  const { market } = row
  const onRaised = (what: string) => log.warn(what)
  const joined = await joinMarketLog(bus, row, { writer: 'order-intake', nowMs, onRaised })
  // Of a log whose beginning is trimmed, what the feed has stated of it.
  const { terms } = registry.terms(market) ?? {}
  const logged = terms === undefined ? joined : withIdentity(row, terms)
  const { contractType } = logged
  const commandLog = createCommandLog({
    market,
    contractType,
    bus,
    registry,
    nowMs,
    log,
    claimOf: (order) => claimOf(logged, order),
  })
  return { commandLog, logged }
}
