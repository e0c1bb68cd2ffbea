import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Market } from '../core/model/market.js'
import { nextOrdinal } from '../core/contracts/market-register.js'
import {
  isAbsent,
  joinMarket,
  MarketFileError,
  marketSchema,
  parseRow,
  ownContracts,
  type AddressBook,
  type MarketRow,
} from './market-row.js'

export { MarketFileError } from './market-row.js'

/** The file that ships with the venue; compiled code runs from dist/, where data files are not copied. */
export const defaultMarketFile = new URL('../../data/markets.json', import.meta.url)

/** A row of the market file that no market can be made of. */
export interface RefusedRow {
  /** Its identifier, or its place in the file. */
  readonly row: string
  /** In one line. */
  readonly problem: string
}

/** A row of the market file whose market is not on the deployment. */
export interface AbsentRow {
  readonly market: string
  /** Names of the contracts that the deployment would have with it. */
  readonly lacks: readonly string[]
}

/** The markets of a market file. */
export interface LoadedMarkets {
  readonly markets: readonly Market[]
  readonly refused: readonly RefusedRow[]
  /** Neither listed nor refused: the same file serves deployments with fewer markets. */
  readonly absent: readonly AbsentRow[]
}

/**
 * Reads a market file and joins it with a deployment's addresses. A row is absent when the deployment names neither its
 * asset nor its trade module, and has another market of the file. Refuses a row that is malformed, names an address that
 * the deployment lacks, or has an identifier, ordinal or instrument of a row before it. Throws MarketFileError when the
 * file is not a JSON list.
 */
export const loadMarkets = (
  addresses: AddressBook,
  file: URL | string = defaultMarketFile,
): LoadedMarkets => joinRows(addresses, readRows(file))

function joinRows(
  addresses: AddressBook,
  given: readonly unknown[],
  known: Ordinals = new Map(),
): LoadedMarkets {
  const rows = numbered(given, known)
  const markets: Market[] = []
  const refused: RefusedRow[] = []
  const absent: AbsentRow[] = []
  const taken = new Set<string>()
  // A deployment without any market is the wrong one, and every row says what it lacks.
  const mayLack = known.size > 0 || rows.some((row) => isOn(addresses, row))
  for (const [index, row] of rows.entries()) {
    try {
      const parsed = parseRow(row)
      if (mayLack && isAbsent(parsed, addresses)) {
        claimNames(namesOf(parsed), taken)
        absent.push({ market: parsed.market, lacks: ownContracts(parsed) })
        continue
      }
      const market = joinMarket(parsed, addresses)
      claimNames([...namesOf(parsed), instrumentOf(market)], taken)
      markets.push(market)
    } catch (error) {
      if (!(error instanceof MarketFileError)) throw error
      refused.push({ row: nameOf(row) ?? `row ${index + 1}`, problem: error.message })
    }
  }
  return { markets, refused, absent }
}

/** Ordinals of markets that are registered, by name. */
export type Ordinals = ReadonlyMap<string, number>

const numberSchema = z.object({ ordinal: marketSchema.shape.ordinal })
const maybeNumberedSchema = z.object({ ordinal: z.unknown().optional() })

/** A row without an ordinal gets the one of its market, else the next one that no market and no row has. */
function numbered(rows: readonly unknown[], known: Ordinals): readonly unknown[] {
  const numbers = rows.flatMap((row) => numberSchema.safeParse(row).data ?? [])
  const taken = [...known.values(), ...numbers.map(({ ordinal }) => ordinal)]
  return rows.map((row) => {
    const { data } = maybeNumberedSchema.safeParse(row)
    if (data === undefined || data.ordinal !== undefined) return row
    const ordinal = known.get(nameOf(row) ?? '') ?? nextOrdinal(taken)
    if (ordinal === undefined) return row
    taken.push(ordinal)
    return { ...(row as object), ordinal }
  })
}

function isOn(addresses: AddressBook, row: unknown): boolean {
  const { data } = marketSchema.safeParse(row)
  return data !== undefined && !isAbsent(data, addresses)
}

const namesOf = ({ market, aliases, ordinal }: MarketRow): string[] => [
  ...[market, ...aliases].map((name) => `identifier ${name}`),
  `ordinal ${ordinal}`,
]

const instrumentOf = ({ assetAddress, subId }: Market): string =>
  `instrument ${assetAddress}:${subId}`

/** What no two markets share. Throws MarketFileError, and takes nothing then. */
function claimNames(names: readonly string[], taken: Set<string>): void {
  const repeated = names.find((name, index) => taken.has(name) || names.indexOf(name) !== index)
  if (repeated !== undefined) throw new MarketFileError(`${repeated} is listed twice`)
  for (const name of names) taken.add(name)
}

const nameOf = (row: unknown): string | undefined =>
  marketSchema.shape.market.safeParse((row as { market?: unknown } | null)?.market).data

/** The rows of a market file as they stand in it. Throws MarketFileError when it is not a JSON list. */
export function readRows(file: URL | string): readonly unknown[] {
  let json: unknown
  try {
    json = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new MarketFileError(`cannot read ${pathOf(file)}: ${(cause as Error).message}`, { cause })
  }
  if (!Array.isArray(json)) throw new MarketFileError(`${pathOf(file)} is not a list of markets`)
  return json
}

const pathOf = (file: URL | string): string => (file instanceof URL ? file.pathname : file)

/** Where a process finds its market data. */
export interface MarketDataSource {
  /** Absent: the file that ships with the venue. */
  readonly MARKETS_FILE?: string | undefined
  readonly DEPLOYMENT_FILE: string
}

/**
 * The markets of the market file on the deployment. Throws MarketFileError when the deployment cannot be read, and as
 * loadMarkets.
 */
export const loadDeployedMarkets = ({
  MARKETS_FILE,
  DEPLOYMENT_FILE,
}: MarketDataSource): LoadedMarkets => loadMarkets(readAddresses(DEPLOYMENT_FILE), MARKETS_FILE)

/** An absent row in one line. */
export const describeAbsent = ({ market, lacks }: AbsentRow): string =>
  `${market} is not listed: the deployment has no ${lacks.join(' and no ')}`

/** loadDeployedMarkets of rows that are in no file, together with the markets that are registered. */
export const readMarkets = (
  { DEPLOYMENT_FILE }: Pick<MarketDataSource, 'DEPLOYMENT_FILE'>,
  rows: readonly unknown[],
  known?: Ordinals,
): LoadedMarkets => joinRows(readAddresses(DEPLOYMENT_FILE), rows, known)

function readAddresses(path: string): AddressBook {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as AddressBook
  } catch (cause) {
    throw new MarketFileError(`cannot read the deployment ${path}: ${String(cause)}`, { cause })
  }
}
