import { existsSync } from 'node:fs'
import type { Market } from '../core/contracts/market.js'
import { writeJsonDurably } from './durable-file.js'
import { rowOfNextSeries } from './series-row.js'
import {
  defaultMarketFile,
  loadDeployedMarkets,
  MarketFileError,
  readRows,
  type LoadedMarkets,
  type MarketData,
  type RefusedRow,
} from './markets.js'

type Row = Readonly<Record<string, unknown>>

const isRow = (row: unknown, market: string): row is Row =>
  typeof row === 'object' && row !== null && (row as Row).market === market

/**
 * Replaces fields of one row of a market file, all others as they stand. A field keeps the JSON type that it has, number
 * or text. Throws MarketFileError when there is no such row.
 */
export async function updateRow(
  file: string,
  market: string,
  fields: Readonly<Record<string, string | boolean>>,
): Promise<void> {
  const rows = readRows(file)
  if (!rows.some((row) => isRow(row, market))) {
    throw new MarketFileError(`${market} is not in ${file}`)
  }
  const updated = (row: Row): Row => {
    const changed = Object.entries(fields).map(([name, value]): [string, unknown] => [
      name,
      typeof row[name] === 'number' ? Number(value) : value,
    ])
    return { ...row, ...Object.fromEntries(changed) }
  }
  await writeJsonDurably(
    file,
    rows.map((row) => (isRow(row, market) ? updated(row) : row)),
  )
}

/**
 * Writes the rows that ship with the venue, of these markets alone if any are named, and one for each series with such an
 * expiry (unix seconds), unless the file exists.
 */
export async function provideMarketFile(
  file: string,
  markets?: readonly string[],
  series: readonly number[] = [],
): Promise<void> {
  if (existsSync(file)) return
  const shipped = readRows(defaultMarketFile)
  const isNamed = (row: unknown) => markets?.some((market) => isRow(row, market)) ?? true
  const rows = shipped.filter(isNamed)
  for (const expirySec of series) rows.push(rowOfNextSeries(rows, expirySec))
  await writeJsonDurably(file, rows)
}

/** Adds rows at the end of a market file. */
export async function addRows(file: string, rows: readonly unknown[]): Promise<void> {
  await writeJsonDurably(file, [...readRows(file), ...rows])
}

const LOOK_EVERY_MS = 1_000

/** What to do about rows of the market file that were added while a process runs. */
interface FileWatchOptions {
  /** Names of the markets that are known already. */
  readonly known: Iterable<string>
  /** What was added cannot be followed. */
  readonly onError: (error: unknown) => void
  /** Pause between two looks at the file. */
  readonly everyMs?: number
}

/** The market file of a process, as it stood at the start and as it stands now. */
export interface MarketFile {
  /** At the start. */
  readonly markets: readonly Market[]
  /** As readMarketRow. */
  readonly row: (market: string) => Market | undefined
  /** Rows of which no market can be made now. */
  readonly refused: () => readonly RefusedRow[]
  /**
   * Looks for new rows once a second: a market is added without a restart. A file that cannot be read is read again. Rows
   * that were edited or removed are seen by the next start alone, since the log governs a market that is open. `onMarket`
   * is called once for each new row, one after the other.
   */
  watch(
    onMarket: (row: Market) => void | Promise<void>,
    onError: (error: unknown) => void,
  ): MarketWatch
}

/** A row of the market file as it stands now; undefined when it is not there or refused, or the file cannot be read. */
export const readMarketRow = (data: MarketData, name: string): Market | undefined =>
  readable(() => loadDeployedMarkets(data).markets).find(({ market }) => market === name)

/** Reads the market file of a deployment. Throws as loadDeployedMarkets. */
export function openMarketFile(data: MarketData): MarketFile {
  const load = (): LoadedMarkets => loadDeployedMarkets(data)
  const { markets } = load()
  return {
    markets,
    row: (name) => readMarketRow(data, name),
    refused: () => load().refused,
    watch: (onMarket, onError) =>
      watchFile(
        () => load().markets,
        ({ market }) => market,
        onMarket,
        { known: markets.map(({ market }) => market), onError },
      ),
  }
}

export interface NameWatchOptions extends FileWatchOptions {
  /** Names of the markets of the file; throws MarketFileError. */
  readonly names: () => readonly string[]
  readonly onName: (market: string) => void | Promise<void>
}

export interface MarketWatch {
  /** No callback begins after this resolves. */
  stop(): Promise<void>
}

/** Looks for new rows by name once a second, for a process that needs no deployment. */
export const watchNames = ({ names, onName, ...options }: NameWatchOptions): MarketWatch =>
  watchFile(names, (name) => name, onName, options)

function watchFile<T>(
  read: () => readonly T[],
  nameOf: (item: T) => string,
  onItem: (item: T) => void | Promise<void>,
  { onError, known: alreadyKnown, everyMs = LOOK_EVERY_MS }: FileWatchOptions,
): MarketWatch {
  const known = new Set(alreadyKnown)
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const look = async (): Promise<void> => {
    for (const item of readable(read)) {
      const name = nameOf(item)
      if (stopped || known.has(name)) continue
      known.add(name)
      await onItem(item)
    }
  }
  let looking = Promise.resolve()
  const schedule = (): void => {
    if (stopped) return
    timer = setTimeout(() => {
      looking = look().catch(onError).finally(schedule)
    }, everyMs)
  }
  schedule()
  return {
    stop: async () => {
      stopped = true
      clearTimeout(timer)
      await looking
    },
  }
}

function readable<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read()
  } catch (error) {
    if (error instanceof MarketFileError) return []
    throw error
  }
}
