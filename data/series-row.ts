import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { dateCodeOf, isSeries } from '../core/contracts/future.js'
import { marketSchema, MarketFileError } from './market-row.js'

/** A row without what differs between series; DATE stands for the day in its texts. */
const template = new URL('../../data/series.json', import.meta.url)
const DATE = 'DATE'

const { market, contract_type, sub_id, enabled, ordinal } = marketSchema.shape
const seriesSchema = z.object({ market, contract_type, sub_id, enabled })
const numberedSchema = z.object({ ordinal })

/** What a row of the market file says of a series of dated futures. */
export interface SeriesInFile {
  readonly market: string
  /** Unix seconds: the expiry. */
  readonly subId: bigint
  readonly enabled: boolean
}

/** The series of a market file, in the order of its rows; a row that is malformed is left out. */
export const seriesIn = (rows: readonly unknown[]): readonly SeriesInFile[] =>
  rows.flatMap((row) => seriesOf(row) ?? [])

function seriesOf(row: unknown): SeriesInFile | undefined {
  const { data } = seriesSchema.safeParse(row)
  if (data === undefined || !isSeries({ contractType: data.contract_type })) return undefined
  return { market: data.market, subId: data.sub_id, enabled: data.enabled }
}

/**
 * The row of a series with this expiry (unix seconds) behind the rows of a market file: like the last series of the file, or
 * like the one that ships with the venue, with its own date in every text and an ordinal that no row has. Throws
 * MarketFileError when the expiry has no date code.
 */
export function rowOfNextSeries(
  rows: readonly unknown[],
  expirySec: number,
): Readonly<Record<string, unknown>> {
  const code = dateCodeOf(BigInt(expirySec))
  if (code === undefined) throw new MarketFileError(`${expirySec} is no expiry of a series`)
  const last = rows.findLast((row) => seriesOf(row) !== undefined)
  const text = last === undefined ? readFileSync(template, 'utf8') : JSON.stringify(last)
  const date = dateCodeOf(seriesOf(last)?.subId ?? 0n) ?? DATE
  const ordinals = rows.flatMap((row) => numberedSchema.safeParse(row).data?.ordinal ?? [])
  return {
    ...(JSON.parse(text.replaceAll(date, code)) as object),
    ordinal: Math.max(-1, ...ordinals) + 1,
    enabled: true,
    aliases: [],
    sub_id: `${expirySec}`,
  }
}
