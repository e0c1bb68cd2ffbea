import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { dateCodeOf, isSeries } from '../core/contracts/future.js'
import { marketSchema, MarketFileError, type MarketRow } from './market-row.js'

/** A row without what differs between series; DATE stands for the day in its texts. */
const template = new URL('../../data/series.json', import.meta.url)
const DATE = 'DATE'

const { market, contract_type, sub_id } = marketSchema.shape
const seriesSchema = z.object({ market, contract_type, sub_id })

/** Identifier and expiry of a series; undefined for another row, and for one that is malformed. */
function seriesOf(row: unknown): Pick<MarketRow, 'market' | 'sub_id'> | undefined {
  const { data } = seriesSchema.safeParse(row)
  if (data === undefined || !isSeries({ contractType: data.contract_type })) return undefined
  return data
}

/**
 * The row of a series with this expiry (unix seconds) after these rows: like the last series of them, or like the one that ships
 * with the venue, with its own date in every text. It has no ordinal, which is given to it when it is registered. Throws
 * MarketFileError when the expiry has no date code.
 */
export function rowOfNextSeries(
  rows: readonly unknown[],
  expirySec: number,
): Readonly<Record<string, unknown>> {
  const code = dateCodeOf(BigInt(expirySec))
  if (code === undefined) throw new MarketFileError(`${expirySec} is not an expiry of a series`)
  const last = rows.findLast((row) => seriesOf(row) !== undefined)
  const text = last === undefined ? readFileSync(template, 'utf8') : JSON.stringify(last)
  const date = dateCodeOf(seriesOf(last)?.sub_id ?? 0n) ?? DATE
  return {
    ...(JSON.parse(text.replaceAll(date, code)) as object),
    // Where the row is written or read as JSON, it is not there.
    ordinal: undefined,
    enabled: true,
    aliases: [],
    sub_id: `${expirySec}`,
  }
}
