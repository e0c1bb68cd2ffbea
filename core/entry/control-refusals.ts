import { badRequest, refuse, type Refusal } from './refusals.js'

/** Refusals of `time_in_force`, `post_only`, `stp` and `stp_scope`, and by the limits of a market. */
export const controlRefusals = {
  timeInForce: badRequest('invalid_time_in_force', 'time_in_force must be GTC, IOC or FOK', {
    field: 'time_in_force',
  }),
  postOnly: badRequest('invalid_post_only', 'post_only must be "reject" or "slide"', {
    field: 'post_only',
  }),
  postOnlyImmediate: badRequest(
    'post_only_immediate',
    'post_only cannot be combined with time_in_force IOC or FOK',
    { field: 'post_only' },
  ),
  stp: badRequest('invalid_stp', 'stp must be "cancel_newest", "cancel_oldest" or "cancel_both"', {
    field: 'stp',
  }),
  stpScope: badRequest('invalid_stp_scope', 'stp_scope must be "subaccount" or "owner"', {
    field: 'stp_scope',
  }),
  /** Decided by the market. */
  postOnlyWouldCross: refuse(422)(
    'post_only_would_cross',
    'post_only order would take liquidity: its order_id and nonce are used',
    { field: 'post_only' },
  ),
  /** Decided by the market. */
  openOrderLimit: badRequest(
    'open_order_limit',
    "the account has as many live orders as the market's open_order_limit allows: order_id and nonce of this one are used",
    { field: 'subaccount_id' },
  ),
} as const satisfies Record<string, Refusal>

/** An order of less quote than the market's `min_notional`; the texts are decimals of the quote's symbol. */
export const belowMinNotional = (notional: string, least: string, symbol: string): Refusal =>
  badRequest(
    'notional_below_minimum',
    `order notional ${notional} ${symbol} is below the minimum ${least} ${symbol}`,
    { field: 'desired_amount', detail: { notional, min_notional: least } },
  )
