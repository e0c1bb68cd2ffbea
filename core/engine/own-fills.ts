import type { Address } from '../action.js'
import { assert } from '../assert.js'
import type { Change } from '../model/change.js'
import type { Match, LegEvent } from '../model/match.js'
import type { Order } from '../model/order.js'
import { quoteE18 } from '../money.js'

/** The legs of a market's matches, folded from its feed. */
export interface OwnFills {
  /** The owner's legs whose match awaits settlement, oldest first; the matcher bounds the number of matches. */
  pendingOf(owner: Address): Iterable<LegEvent>
  /** The events of the next change: of its order, and of an order that met it. */
  apply(change: Change): readonly LegEvent[]
}

/** An order of a leg. */
type LegOrder = Pick<Order, 'owner' | 'side' | 'subaccountId'>

const NONE: readonly LegEvent[] = []
const NO_FEE = quoteE18(0n)

/** Tells the legs of all matches apart. */
export const legKey = (leg: Pick<LegEvent, 'settlementId' | 'orderId'>): string =>
  `${leg.settlementId} ${leg.orderId}`

/** The order of a leg that is live before a change. */
export type OrderOf = (orderId: string) => LegOrder | undefined

/** Follows a market from its first change. A failed match that was not proposed is a broken invariant. */
export function createOwnFills(orderOf: OrderOf): OwnFills {
  const pending = createPendingLegs()
  const proposals = createProposals(pending, orderOf)

  function fail({
    owner,
    orderId,
    settlementId,
    revert,
    atMs,
  }: FillChangeOf<'MatchReverted'>): LegEvent {
    const leg = pending.take(owner, { settlementId, orderId })
    assert(leg !== undefined, `${settlementId} reverted for ${orderId} and was never proposed`)
    return { ...leg, status: 'failed', revert, atMs }
  }

  /** An ended order's account is known while its match is pending. */
  function settle(change: FillChangeOf<'OrderFilled' | 'FillReversed'>): LegEvent {
    const { fill, orderId, owner, side, atMs } = change
    const { settlementId, price, amount, liquidity, fee } = fill
    const { tradeId, txHash, blockNumber, markPrice } = fill
    const known = pending.take(owner, { settlementId, orderId }) ?? orderOf(orderId)
    return {
      settlementId,
      orderId,
      owner,
      subaccountId: known?.subaccountId,
      status: change.kind === 'OrderFilled' ? 'settled' : 'reversed',
      liquidity,
      side,
      price,
      amount,
      fee,
      atMs,
      trade: { tradeId, txHash, blockNumber, markPrice },
      revert: change.kind === 'FillReversed' ? change.revert : undefined,
    }
  }

  return {
    pendingOf: (owner) => pending.of(owner),
    apply(change) {
      switch (change.kind) {
        case 'OrderPlaced':
          return proposals.afterPlacement(change)
        case 'OrderMatched':
          return proposals.afterMatch(change)
        case 'OrderFilled':
        case 'FillReversed':
          return [settle(change)]
        case 'MatchReverted':
          return [fail(change)]
        default:
          return NONE
      }
    },
  }
}

type PendingLegs = ReturnType<typeof createPendingLegs>

function createProposals(pending: PendingLegs, orderOf: OrderOf) {
  /** Matches with an order that is placed in a later change, by its id. */
  const met = new Map<string, OpenProposal[]>()

  function propose(orderId: string, order: LegOrder, { match, atMs }: OpenProposal): LegEvent {
    const { settlementId, price, amount } = match
    const { owner, side, subaccountId } = order
    const isMaker = match.makerOrderId === orderId
    // In one literal here and below: spreading takes several times as long, and every match is proposed and settled.
    const leg: LegEvent = {
      settlementId,
      orderId,
      owner,
      subaccountId,
      status: 'pending',
      liquidity: isMaker ? 'maker' : 'taker',
      side,
      price,
      amount,
      fee: isMaker ? NO_FEE : match.takerFee,
      atMs,
      trade: undefined,
      revert: undefined,
    }
    pending.add(leg)
    return leg
  }

  return {
    /** The resting order's leg, and that of the order that met it unless it is placed only next. */
    afterMatch({ match, orderId, atMs }: FillChangeOf<'OrderMatched'>): readonly LegEvent[] {
      const otherId = match.makerOrderId === orderId ? match.takerOrderId : match.makerOrderId
      const own = orderOf(orderId)
      const other = orderOf(otherId)
      assert(own !== undefined, `${match.settlementId} is of ${orderId}, which is not live`)
      const proposal = { match, atMs }
      const leg = propose(orderId, own, proposal)
      if (other !== undefined) return [leg, propose(otherId, other, proposal)]
      met.set(otherId, [...(met.get(otherId) ?? []), proposal])
      return [leg]
    },
    afterPlacement({ orderId, order }: FillChangeOf<'OrderPlaced'>): readonly LegEvent[] {
      const proposals = met.size === 0 ? undefined : met.get(orderId)
      if (proposals === undefined) return NONE
      met.delete(orderId)
      return proposals.map((proposal) => propose(orderId, order, proposal))
    },
  }
}

type FillChangeOf<Kind extends Change['kind']> = Extract<Change, { readonly kind: Kind }>

interface OpenProposal {
  readonly match: Match
  readonly atMs: number
}

function createPendingLegs() {
  const byOwner = new Map<Address, Map<string, LegEvent>>()
  return {
    add(leg: LegEvent): void {
      const legs = byOwner.get(leg.owner)
      if (legs === undefined) byOwner.set(leg.owner, new Map([[legKey(leg), leg]]))
      else legs.set(legKey(leg), leg)
    },
    /** Removes a leg; undefined when it is not pending. */
    take(owner: Address, named: Pick<LegEvent, 'settlementId' | 'orderId'>): LegEvent | undefined {
      const legs = byOwner.get(owner)
      const key = legKey(named)
      const leg = legs?.get(key)
      legs?.delete(key)
      if (legs?.size === 0) byOwner.delete(owner)
      return leg
    },
    of: (owner: Address): Iterable<LegEvent> => byOwner.get(owner)?.values() ?? NONE,
  }
}
