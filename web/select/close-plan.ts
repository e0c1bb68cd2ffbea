import type { MarketEntry } from '../../client/index.js'
import type { MarketArithmetic } from './market-terms.js'
import { noDecimalComma } from './format.js'
import { plainText } from './price-text.js'
import { closing } from './position.js'
import { plannedOf, type TicketPlan, type TicketInput, type NoTicketPlan } from './planned.js'
import type { PositionRow } from './position-row.js'
import type { TicketBook } from './ticket.js'

/** Per cent of a position to close, or to turn it over. */
export type CloseShare = 25 | 50 | 75 | 100 | 'reverse'

export interface ClosePlan {
  readonly typed: TicketInput
  readonly planned: TicketPlan | NoTicketPlan
}

interface CloseAsked {
  readonly how: CloseShare
  /** Undefined while it is not known to be of now. */
  readonly book: TicketBook | undefined
  readonly guardBps: bigint
}

/** A market order within the guard that closes a share and never crosses zero; turning over trades twice the size and may. */
export function closePlan(
  { entry, terms }: { readonly entry: MarketEntry; readonly terms: MarketArithmetic },
  { sizeE18 }: Pick<PositionRow, 'sizeE18'>,
  { how, book, guardBps }: CloseAsked,
): ClosePlan {
  const isReversed = how === 'reverse'
  const close = closing({ sizeE18 }, isReversed ? 200n : BigInt(how), terms.stepE18)
  const typed: TicketInput = {
    kind: 'market',
    side: close?.side ?? 'sell',
    price: '',
    unit: 'base',
    force: 'IOC',
    // All of its digits, and no zeros behind them.
    size: plainText(close?.amountE18 ?? 0n, 18, 'down').replace(/\.?0+$/, ''),
    post: 'off',
    guardBps,
    reduceOnly: !isReversed,
  }
  const known = { isLive: book !== undefined, book: book ?? { bids: [], asks: [] } }
  const planned = plannedOf(typed, { entry, terms, ...known, isDecimalComma: noDecimalComma })
  return { typed, planned }
}
