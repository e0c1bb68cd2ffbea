import type { HoldReason, CancelReason } from '../../interface/reasons.js'

export type { HoldReason } from '../../interface/reasons.js'

/** Why an order rests without being open, and what ends the hold. */
export interface Hold {
  readonly reason: HoldReason
  /** Unix milliseconds of market time at which the hold ends; absent when time does not end it. */
  readonly untilMs?: number
  /** What its account must have before it returns, as the market's contract counts it. */
  readonly needed?: bigint
}

/** A hold of the whole market. */
export interface MarketHold<Why extends string = string> {
  /** Public: `trading_status_reason`. */
  readonly reason: Why
  /** Unix milliseconds of market time at which it ends by itself; absent when time does not end it. */
  readonly untilMs?: number
}

declare const asked: unique symbol

/** What the sender of a cancel gave as its reason: any text. */
export type AskedReason = string & { readonly [asked]: true }

/**
 * Why an order is cancelled: the venue's own reason, the hold that an IOC or FOK order would have got, or what its cancel
 * said. A new reason is one more row of the tables in interface/reasons.ts.
 */
export type EndReason = CancelReason | HoldReason | AskedReason

/** Holds that end when the order's account or its market's facts change. */
export const ENDED_BY_ACCOUNT: ReadonlySet<HoldReason> = new Set<HoldReason>([
  'insufficient_balance',
  'not_in_custody',
  'insufficient_margin',
  'margin_unreadable',
  'open_interest_cap',
  'reduce_only',
  'under_liquidation',
])
