import type { Address } from '../action.js'
import { formatDecimal } from '../decimal.js'
import { badRequest, refuse, type Refusal } from './refusals.js'

/** The market takes no new order now. */
export const tradingPaused = (why: string): Refusal =>
  badRequest('trading_paused', 'trading_paused', {
    extra: { message: `no new orders are taken: ${why}` },
  })

/** The market's log takes nothing now, not even a cancel. */
export const marketStopped = (why: string): Refusal =>
  badRequest('trading_paused', 'trading_paused', {
    extra: { message: `nothing was cancelled: ${why}` },
  })

/** Refusals of orders that what the chain shows of the market or of the account's margin decides; their texts are fixed. */
export const marketRefusals = {
  tradingPaused: tradingPaused('the guardian has paused the market'),
  accountUnreadable: refuse(500)(
    'account_unreadable',
    'the chain could not be asked about the subaccount: nothing was placed, safe to retry',
  ),
  marketUnreadable: refuse(500)(
    'market_unreadable',
    'the chain could not be asked whether the market is paused: nothing was placed, safe to retry',
  ),
  reduceOnlyFlat: badRequest('reduce_only_no_position', 'reduce_only: no position to reduce', {
    field: 'reduce_only',
  }),
  reduceOnlySameSide: badRequest(
    'reduce_only_same_side',
    'reduce_only: order is on the same side as the position',
    { field: 'reduce_only' },
  ),
  positionUnreadable: refuse(500)(
    'position_unreadable',
    'the chain could not be asked about the position: nothing was placed, safe to retry',
  ),
  insufficientMargin: badRequest('insufficient_margin', 'insufficient_margin', {
    extra: {
      message:
        'initial margin or the balance for the fee does not carry the whole order at its limit',
    },
  }),
  marginUnreadable: refuse(500)(
    'margin_unreadable',
    "the account's margin cannot be read or its prices are stale: nothing was placed, safe to retry",
  ),
} as const satisfies Record<string, Refusal>

/** The account is under another manager than the market's (PER-009). */
export const notUnderManager = (subaccountId: bigint, manager: Address): Refusal =>
  badRequest(
    'subaccount_not_under_manager',
    `subaccount_id ${subaccountId} is not under margin_manager_address ${manager}`,
    { field: 'subaccount_id', detail: { margin_manager_address: manager } },
  )

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
interface BandDetail {
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

/** Initial margin of an order in futures, with the prices of its series at 1e18, and the one at which the account has less. */
export const beyondFutureMargin = (judged: {
  readonly by: 'mark' | 'index'
  readonly mark: bigint
  readonly index: bigint
}): Refusal => ({
  ...marketRefusals.insufficientMargin,
  detail: {
    judged_by: judged.by,
    mark_price: formatDecimal(judged.mark, 18),
    index_price: formatDecimal(judged.index, 18),
  },
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
