import type { PriceE18 } from '../money.js'

/** What the upkeep of dated futures is decided from at a block, and what it does. */

/** An open series at the block. */
export interface SeriesUpkeep {
  /** Its expiry. */
  readonly subId: bigint
  readonly mark: PriceE18
  readonly markAtSec: number
  readonly isSettled: boolean
  /** Time of the newest recorded sample; 0 for none. */
  readonly sampleAtSec: number
  /** Accounts with a position. */
  readonly holders: readonly bigint[]
}

/** An account with a position, a debt or a claim. Amounts of cNGN and USDC at 1e18. */
export interface UpkeepAccount {
  readonly id: bigint
  /** What it is owed, or owes where negative, with what is not accrued. */
  readonly variation: bigint
  /** Its wrapped cNGN, which pays what it owes. */
  readonly cngn: bigint
  readonly usdc: bigint
  /** Surplus over maintenance margin in USD at 1e18; undefined while the chain cannot price it. */
  readonly margin: bigint | undefined
  /** Signed contracts at 1e18, of all series. */
  readonly positions: readonly { readonly subId: bigint; readonly contracts: bigint }[]
}

export interface FutureUpkeep {
  readonly atSec: number
  readonly index: { readonly price: PriceE18; readonly atSec: number; readonly isFresh: boolean }
  readonly series: readonly SeriesUpkeep[]
  readonly accounts: readonly UpkeepAccount[]
  /** cNGN that claims can draw, at 1e18. */
  readonly pool: bigint
  /** Rate of the notional that initial margin needs, at 1e18. */
  readonly initialRate: bigint
  /** Empty where the keeper takes over nothing. */
  readonly rescuers: readonly Rescuer[]
  /** Most that one takeover may bind, in USD at 1e18: initial margin of positions, or cNGN that pays a debt, at the index. */
  readonly mostUsd: bigint
  /** Expiries of series that are to be opened, unix seconds; none where the keeper's key may not. */
  readonly toOpen: readonly number[]
  /** What is next for those whose debt nothing is left to pay. */
  readonly losses: ReadonlyMap<bigint, LossStep>
}

export type FutureTask =
  | { readonly call: 'move_mark'; readonly subId: bigint; readonly mark: PriceE18 }
  | {
      readonly call: 'record_index' | 'settle' | 'retire' | 'create_series'
      readonly subId: bigint
    }
  | { readonly call: 'close_out'; readonly subId: bigint; readonly accounts: readonly bigint[] }
  | { readonly call: 'settle_variation'; readonly accounts: readonly bigint[] }
  | {
      readonly call: 'liquidate'
      readonly account: bigint
      readonly subId: bigint
      readonly by: bigint
      /** Of the position, at 1e18; the contract moves no more than restores initial margin. */
      readonly portion: bigint
    }
  /** Most cNGN that it pays, at 1e18. */
  | { readonly call: 'cure'; readonly account: bigint; readonly by: bigint; readonly cngn: bigint }
  | { readonly call: 'cover_loss'; readonly account: bigint }
  | { readonly call: 'accrue_at_index' }

/** An account of the keeper's that takes over. */
export interface Rescuer {
  readonly id: bigint
  /** Its surplus over initial margin in USD; undefined while the chain cannot price it. */
  readonly room: bigint | undefined
  /** Wrapped cNGN, which pays the debts of others. */
  readonly cngn: bigint
}

/** What the contract says of the end of a debt: it takes it now, or only once all positions are accrued, or at the index. */
export type LossStep = 'cover' | 'accrue' | 'accrue_at_index'
