import type { Refusal } from './refusals.js'

/** A place in a market's feed: what shows it shows all that was decided before. */
export type DecidedBy = NonNullable<Refusal['decided']>

/**
 * Why a 409 carries no `order`, in its `detail`. Any other 409 without one is not an outcome: an older release answered it while
 * the market had not decided.
 */
export type HeldBy = 'another_order' | 'an_order_no_longer_stored'

/** The refusal of an id or a nonce whose order cannot be shown. */
export const heldBy = (refusal: Refusal, holder: HeldBy): Refusal => ({
  ...refusal,
  detail: { held_by: holder },
})

/** Whether a refusal is that of a repeat whose first may still be undecided: then its sender is told that nothing is known. */
export const isUndecided = ({ existingOrderId, decided }: Refusal): boolean =>
  existingOrderId !== undefined && decided === undefined
