import type { Database } from 'better-sqlite3'
import { KEEP_FEED_CHANGES } from '../../core/limits.js'
import type { Market } from '../../core/model/market.js'
import { SEGMENT_MESSAGES } from '../../data/feed-archive.js'
import { createKeptOrders, type KeptOrders } from '../../data/history/kept-orders.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import type { Logger } from '../../runtime/process/log.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { archiveFeed, forgetOrders, type ArchiveSettings } from './archive-feed.js'
import type { ProjectorConfig } from './config.js'
import { trimFeed, TrimRefused, type TrimOptions } from './trim-feed.js'

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000

const DAY_MS = 86_400_000

const archiveSettings = (dir: string, keepDays: number): ArchiveSettings => ({
  dir,
  keepMs: keepDays * DAY_MS,
  keepChanges: KEEP_FEED_CHANGES,
  leastMessages: 1_000,
  segmentMessages: SEGMENT_MESSAGES,
  reviewEveryMs: DAY_MS,
})

export interface KeepArchiveOptions {
  readonly bus: Bus
  readonly history: KeptOrders
  /** Read anew each time. */
  readonly markets: readonly Market[]
  readonly settings: ArchiveSettings
  readonly log: Logger
  readonly nowMs?: () => number
  /** Trims what is archived of a feed in another way than its matcher does. */
  readonly trim?: TrimOptions['trim']
}

/** Archives and trims the feed of one market. */
export async function archiveAndTrim(
  { bus, history, settings, log, trim, nowMs = Date.now }: Omit<KeepArchiveOptions, 'markets'>,
  market: Market,
): Promise<void> {
  const options = { bus, history, market, settings, nowMs }
  const messages = await archiveFeed(options)
  const rewritten = await forgetOrders(options)
  log.info({ market: market.market, messages, rewritten }, 'feed archived')
  try {
    const first_seq = await trimFeed({ bus, market, settings, trim })
    if (first_seq !== undefined) log.info({ market: market.market, first_seq }, 'feed trimmed')
  } catch (error) {
    if (!(error instanceof TrimRefused || error instanceof NoAnswer)) throw error
    log.warn({ err: error, market: market.market }, 'feed not trimmed')
  }
}

/** Archives and trims all feeds, every hour. What fails is logged and tried again in the next hour. */
export function keepArchive(options: KeepArchiveOptions): RunningProcess {
  const { markets, log } = options
  let stopped = false
  let running = Promise.resolve()
  let timer: NodeJS.Timeout
  const round = async (): Promise<void> => {
    for (const market of markets) {
      if (stopped) return
      await archiveAndTrim(options, market).catch((error: unknown) => {
        log.error({ err: error, market: market.market }, 'feed not archived')
      })
    }
    if (!stopped) timer = setTimeout(start, EVERY_MS)
  }
  const start = (): void => void (running = round())
  timer = setTimeout(start, FIRST_AFTER_MS)
  return {
    async stop() {
      stopped = true
      clearTimeout(timer)
      await running
    },
  }
}

export interface OpenArchiveOptions extends Pick<KeepArchiveOptions, 'bus' | 'markets' | 'log'> {
  readonly config: ProjectorConfig
  readonly db: Database
}

/** Undefined unless the settings say where the archive is and what stays out of it. */
export function openArchive({
  config,
  db,
  ...options
}: OpenArchiveOptions): RunningProcess | undefined {
  const { FEED_ARCHIVE_DIR: dir, FEED_KEEP_DAYS: keepDays } = config
  if (dir === undefined || keepDays === undefined) return undefined
  const settings = archiveSettings(dir, keepDays)
  return keepArchive({ ...options, history: createKeptOrders(db), settings })
}
