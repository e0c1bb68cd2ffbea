import type { Address, Hex } from '../action.js'
import type { PriceE18 } from '../money.js'

/** A position that the chain has closed by itself, at the settlement price of its market: for its owner, no part of the step. */
export interface CloseOut {
  readonly subaccountId: bigint
  /** Whose account the matching contract held when it was read. */
  readonly owner: Address
  /** What was closed, signed, in the engine's amounts at 1e18; positive was long. */
  readonly position: bigint
  readonly price: PriceE18
  /** What the position gained since it was last accrued, in the quote token at 1e18; negative: what it lost. */
  readonly variation: bigint
  readonly txHash: Hex
  readonly blockNumber: bigint
  readonly blockTimeSec: number
}
