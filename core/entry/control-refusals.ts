import { badRequest, refuse, type Refusal } from './refusals.js'

/** Refusals of `time_in_force` and `post_only`; their texts are fixed. */
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
  /** Decided by the market. */
  postOnlyWouldCross: refuse(422)(
    'post_only_would_cross',
    'post_only order would take liquidity: its order_id and nonce are used',
    { field: 'post_only' },
  ),
} as const satisfies Record<string, Refusal>
