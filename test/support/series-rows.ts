import { readFileSync } from 'node:fs'
import { defaultMarketFile } from '../../data/markets.js'

type Row = Readonly<Record<string, unknown>>

/** The series that ships with the venue. */
const SHIPPED = 'USDC-cNGN-30NOV26'

/** A row of the market file for a series of futures: that of the shipped one under another name. */
export function seriesRow(market: string, ordinal: number, subId: bigint): Row {
  const rows = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
  const shipped = rows.find((row) => row.market === SHIPPED)
  if (shipped === undefined) throw new Error(`${SHIPPED} does not ship`)
  const presentation = { ...(shipped.presentation as Row), display_name: market }
  return { ...shipped, market, ordinal, sub_id: subId.toString(), presentation }
}
