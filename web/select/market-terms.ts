import type { MarketEntry } from '../../client/index.js'
import { signedUnits } from '../../core/contracts/entry-terms.js'
import { parseDecimal } from '../../core/decimal.js'
import type { Side } from '../../core/model/order.js'
import { E18 } from '../../core/money.js'
import { readOrZero } from './numbers.js'

/**
 * What the terminal's arithmetic needs of a market, read from its entry. `select/` is pure: no document, no clock, no network. All
 * amounts are bigints at 1e18. Engine terms are those of the order that is signed: base is cNGN on the spot market and the
 * perpetual, USDC on a future. Trader terms are what the page shows; on the spot market they are the other way round.
 */
export interface MarketArithmetic {
  /** A trader's buy is the engine's sell, a trader's price the inverse of the engine's. */
  readonly isInverted: boolean
  /** Fills change a position and the fee alone is paid; else base and quote change hands. */
  readonly isMargined: boolean
  readonly tickE18: bigint
  /** Amounts are whole multiples of it. */
  readonly stepE18: bigint
  /** Least worth of an order at its limit, in quote; 0 where any is taken. */
  readonly minNotionalE18: bigint
  readonly takerFeeBps: bigint
  /** Quote of which the fee of one signed unit is a share at any price; undefined: its price. */
  readonly feeBaseE18: bigint | undefined
  /** Amount in one signed unit: a future's contract, else 1.0. */
  readonly perSignedUnit: bigint
}

/** Reads an entry. Throws BadEntry for one whose steps are not positive decimals: no order can be built for it. */
export function marketTerms(entry: MarketEntry): MarketArithmetic {
  const { scale, feeBaseE18 } = signedUnits(entry)
  return {
    isInverted: entry.engine_side_policy === 'invert_ui_side',
    isMargined: entry.settlement_type.startsWith('cash_settled'),
    tickE18: positive(entry.tick_size),
    stepE18: positive(entry.min_size),
    minNotionalE18: readOrZero(entry.min_notional),
    takerFeeBps: BigInt(Math.ceil(entry.taker_fee_bps)),
    feeBaseE18,
    perSignedUnit: E18 / scale,
  }
}

/** A market entry has numbers that no order can be built on. */
export class BadEntry extends Error {
  override readonly name = 'BadEntry'
}

function positive(text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value === undefined || value === 0n) throw new BadEntry(`${text} is not a positive decimal`)
  return value
}

export const opposite = (side: Side): Side => (side === 'buy' ? 'sell' : 'buy')

/** The engine's side of a trader's. */
export const engineSide = ({ isInverted }: MarketArithmetic, side: Side): Side =>
  isInverted ? opposite(side) : side
