import type { Hex } from '../action.js'
import type { Change } from '../model/change.js'
import type { ReversedLeg, SettlementReversal } from '../model/command.js'
import type { Fill, Match, PublishedFill } from '../model/match.js'
import { isLiving } from '../model/order.js'
import type { AmountE18 } from '../money.js'

/** The final outcome of a settlement. */
export type SettlementTruth =
  | { readonly kind: 'success'; readonly txHash: Hex; readonly blockNumber: bigint }
  | { readonly kind: 'reverted'; readonly revert: string }

/** What a market's feed has published of some settlements. */
export interface SettlementTrail {
  /** Takes the feed's next change, beginning at or before the match of the earliest settlement. */
  readonly fold: (change: Change) => void
  /** Takes a change from before those, of which it keeps only how much an order of these settlements asked for. */
  readonly recall: (change: Change) => void
  /**
   * The reversal that corrects the market; undefined when the published outcome is the final one. `unpublished` while the
   * changes folded so far contain no outcome.
   */
  readonly reversalOf: (
    settlementId: string,
    no: number,
    truth: SettlementTruth,
  ) => SettlementReversal | undefined | 'unpublished'
}

interface TrailEntry {
  readonly match: Match
  /** The fill that stands; absent when the match came to nothing. */
  fill?: PublishedFill
  isPublished: boolean
}

/** Memory: the settlements and their orders. `greatest`, by order, is added to: a later trail may go on with what this one found. */
export function createSettlementTrail(
  settlementIds: Iterable<string>,
  greatest = new Map<string, AmountE18>(),
): SettlementTrail {
  const wanted = new Set(settlementIds)
  const trailed = new Map<string, TrailEntry>()
  /** The last change of each order of these. */
  const orders = new Map<string, Change | undefined>()

  function fold(change: Change): void {
    if (change.kind === 'OrderMatched') begin(change.match)
    if (change.kind === 'OrderFilled') tell(change.fill.settlementId, change.fill)
    if (change.kind === 'FillReversed') tell(change.fill.settlementId)
    if (change.kind === 'MatchReverted') tell(change.settlementId)
    if (orders.has(change.orderId)) keep(change)
  }

  function keep(change: Change): void {
    orders.set(change.orderId, change)
    keepGreatest(change)
  }

  function keepGreatest({ orderId, desired }: Change): void {
    if (desired > (greatest.get(orderId) ?? 0n)) greatest.set(orderId, desired)
  }

  const legOf = (last: Change): ReversedLeg =>
    legAfter(last, greatest.get(last.orderId) ?? last.desired)

  function begin(match: Match): void {
    if (!wanted.has(match.settlementId)) return
    trailed.set(match.settlementId, { match, isPublished: false })
    for (const orderId of [match.makerOrderId, match.takerOrderId]) {
      if (!orders.has(orderId)) orders.set(orderId, undefined)
    }
  }

  function tell(settlementId: string, fill?: Fill): void {
    const settlement = trailed.get(settlementId)
    if (settlement === undefined) return
    settlement.isPublished = true
    delete settlement.fill
    if (fill === undefined) return
    const { txHash, blockNumber, tradeId, markPrice } = fill
    settlement.fill = {
      txHash,
      blockNumber,
      tradeId,
      ...(markPrice !== undefined && { markPrice }),
    }
  }

  return {
    fold,
    recall: (change) => {
      if (orders.has(change.orderId)) keepGreatest(change)
    },
    reversalOf(settlementId, no, truth) {
      const settlement = trailed.get(settlementId)
      if (settlement?.isPublished !== true) return 'unpublished'
      const { match, fill } = settlement
      const maker = orders.get(match.makerOrderId)
      const taker = orders.get(match.takerOrderId)
      if (maker === undefined || taker === undefined) return 'unpublished'
      const legs = { no, match, maker: legOf(maker), taker: legOf(taker) }
      if (truth.kind === 'success') return fill === undefined ? { ...legs, now: truth } : undefined
      return fill === undefined ? undefined : { ...legs, now: { ...truth, published: fill } }
    },
  }
}

function legAfter(last: Change, greatest: AmountE18): ReversedLeg {
  const { orderId, owner, side, limitPrice, desired, status, filled, pending } = last
  const hasEnded = !isLiving(status) && pending === 0n
  return {
    orderId,
    owner,
    side,
    limitPrice,
    desired,
    ...(greatest > desired && { reducedFrom: greatest }),
    ...(hasEnded ? { ended: { status, filled } } : {}),
  }
}
