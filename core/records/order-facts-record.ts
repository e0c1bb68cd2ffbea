import type { OwnAccount } from '../../interface/explanation.js'
import { formatDecimal } from '../decimal.js'
import type { FillEvent } from '../engine/own-fills.js'
import { isoTime } from '../time.js'

/** A match of an order that awaits settlement. */
export interface PendingMatch {
  readonly settlement_id: string
  /** When it was proposed. */
  readonly at: string
  readonly liquidity: 'maker' | 'taker'
  readonly price: string
  readonly size: string
}

/** What the fan-out knows of an order beside the read model; `account` only for its owner, while the order is live. */
export interface OrderFacts {
  readonly matches: readonly PendingMatch[]
  readonly account?: OwnAccount
}

/** Presents a pending leg: nothing of the other order of the match. */
export const pendingMatch = ({
  settlementId,
  liquidity,
  price,
  amount,
  atMs,
}: FillEvent): PendingMatch => ({
  settlement_id: settlementId,
  at: isoTime(atMs),
  liquidity,
  price: formatDecimal(price, 18),
  size: formatDecimal(amount, 18),
})
