import type { Hex } from './action.js'

/** A fill as an event of a trade module states it; amounts at 1e18. */
export interface ChainFill {
  readonly txHash: Hex
  readonly logIndex: number
  readonly blockNumber: bigint
  /** Asset and sub id, in one text. */
  readonly instrument: string
  readonly taker: bigint
  readonly maker: bigint
  readonly takerIsBid: boolean
  readonly quote: bigint
  readonly amount: bigint
}
