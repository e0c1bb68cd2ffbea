import { formatDecimal } from '../decimal.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

/** Refusals of orders in futures that the chain could not settle. */
export const futureRefusals = {
  tradingEnded: badRequest('trading_ended', 'trading_ended', {
    extra: { message: 'trading of this series has ended: an hour before its expiry' },
  }),
  bandUnreadable: refuse(500)(
    'band_unreadable',
    'the chain could not be asked about the fill band: nothing was placed, safe to retry',
  ),
} as const satisfies Record<string, Refusal>

/** The fill band as a refusal repeats it; prices at 1e18. */
export interface BandDetail {
  readonly index: bigint
  readonly widthE18: bigint
  readonly low: bigint
  readonly high: bigint
}

const detailOf = ({ index, widthE18, low, high }: BandDetail) => ({
  index_price: formatDecimal(index, 18),
  band_width: formatDecimal(widthE18, 18),
  fill_band_low: formatDecimal(low, 18),
  fill_band_high: formatDecimal(high, 18),
})

/** The index has not moved for too long: the chain refuses every fill. */
export const indexStale = (band: BandDetail): Refusal =>
  badRequest('index_stale', 'index_stale', {
    extra: { message: 'the index is stale: no new orders are taken until it updates' },
    detail: detailOf(band),
  })

/** The chain would refuse every fill at the order's limit. */
export const outsideFillBand = (band: BandDetail): Refusal =>
  badRequest('outside_fill_band', 'outside_fill_band', {
    extra: { message: 'limit_price is outside of the fill band' },
    field: 'limit_price',
    detail: detailOf(band),
  })
