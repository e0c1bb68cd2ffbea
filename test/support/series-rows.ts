import { rowOfNextSeries } from '../../data/series-row.js'

/** A row of the market file for a series of futures, like the one that ships with the venue, under this name. */
export const seriesRow = (market: string, ordinal: number, subId: bigint) => {
  const row = rowOfNextSeries([], Number(subId))
  const presentation = { ...(row.presentation as object), display_name: market }
  return { ...row, market, ordinal, presentation }
}
