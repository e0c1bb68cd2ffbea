import { assert } from '../core/assert.js'
import type { Change, ChangeBase, ChangeKind, HoldReason } from '../core/change.js'
import { amountE18, priceE18 } from '../core/money.js'
import type { OrderStatus, Side } from '../core/order.js'
import { fillFromWire, fillToWire, matchFromWire, matchToWire } from './match-wire.js'
import { HOLDS, SIDES, STATUSES, orderFromWire, orderToWire } from './order-wire.js'
import {
  type Fields,
  assertClosed,
  fieldsOf,
  one,
  readAddress,
  readInt,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'

/** Where the order stands after the change; `seq` follows from the change's place in its block. */
interface StandingWire {
  readonly at_ms: number
  readonly filled: string
  readonly pending: string
  readonly open: string
  readonly open_delta: string
  readonly status: OrderStatus
}

/** The same after what a placement says by its order. */
interface LaterWire extends StandingWire {
  readonly kind: ChangeKind
  readonly order_id: string
  readonly owner: string
  readonly side: Side
  readonly limit_price: string
  readonly desired: string
}
const LATER_FIELDS = 12

/** Why an order is not simply open: a hold, a cancellation, or neither. */
interface ReasonsWire {
  readonly hold?: HoldReason | undefined
  readonly cancel_reason?: string | undefined
}

/** Fields of any kind of change. */
interface ChangeFields extends LaterWire, Required<ReasonsWire> {
  readonly rank: number
  readonly order: unknown
  readonly match: unknown
  readonly fill: unknown
  readonly settlement_id: string
  readonly revert: string
}

type ChangeOf<K extends ChangeKind> = Extract<Change, { kind: K }>

/** The change without its seq, and for a placement without what its order already says. */
export function changeToWire(change: Change): object {
  switch (change.kind) {
    case 'OrderPlaced':
      return placedToWire(change)
    case 'OrderMatched':
      return Object.assign(laterToWire(change), { match: matchToWire(change.match) })
    case 'OrderFilled':
      return Object.assign(laterToWire(change), { fill: fillToWire(change.fill) })
    case 'MatchReverted':
      return Object.assign(laterToWire(change), {
        settlement_id: change.settlementId,
        revert: change.revert,
        hold: change.hold,
        cancel_reason: change.cancelReason,
      })
    case 'FillReversed':
      return Object.assign(laterToWire(change), {
        fill: fillToWire(change.fill),
        revert: change.revert,
        hold: change.hold,
        cancel_reason: change.cancelReason,
      })
    case 'OrderHeld':
      return Object.assign(laterToWire(change), { hold: change.hold })
    case 'OrderReleased':
      return Object.assign(laterToWire(change), {
        hold: change.hold,
        cancel_reason: change.cancelReason,
      })
    case 'OrderCancelled':
      return Object.assign(laterToWire(change), { cancel_reason: change.cancelReason })
    case 'OrderExpired':
      return laterToWire(change)
  }
}

function placedToWire(change: ChangeOf<'OrderPlaced'>): object {
  assertPlacementAgrees(change)
  return {
    kind: change.kind,
    at_ms: change.atMs,
    filled: String(change.filled),
    pending: String(change.pending),
    open: String(change.open),
    open_delta: String(change.openDelta),
    status: change.status,
    rank: change.rank,
    hold: change.hold,
    cancel_reason: change.cancelReason,
    order: orderToWire(change.order),
  }
}

function assertPlacementAgrees(change: ChangeOf<'OrderPlaced'>): void {
  const { order } = change
  assert(
    change.orderId === order.orderId &&
      change.owner === order.owner &&
      change.side === order.side &&
      change.limitPrice === order.limitPrice &&
      change.desired === order.desiredAmount,
    `placement of ${change.orderId} disagrees with its own order`,
  )
}

function laterToWire(change: Change): LaterWire {
  return {
    kind: change.kind,
    order_id: change.orderId,
    owner: change.owner,
    side: change.side,
    limit_price: String(change.limitPrice),
    desired: String(change.desired),
    at_ms: change.atMs,
    filled: String(change.filled),
    pending: String(change.pending),
    open: String(change.open),
    open_delta: String(change.openDelta),
    status: change.status,
  }
}

/**
 * The inverse of changeToWire for parsed JSON, given the seq that the block implies. Throws MalformedMessage unless it is
 * a change's wire form.
 */
export function changeFromWire(value: unknown, seq: number): Change {
  const wire = fieldsOf<ChangeFields>(value, 'change')
  return CHANGES[readOneOf(CHANGE_KINDS, wire.kind, 'kind')](wire, seq)
}

type ReadChange<K extends ChangeKind> = (wire: Fields<ChangeFields>, seq: number) => ChangeOf<K>

/** One reader for each kind of change; a kind without one does not compile. */
const CHANGES: { readonly [K in ChangeKind]: ReadChange<K> } = {
  OrderPlaced: placedFromWire,
  OrderMatched: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 1, 'OrderMatched')
    return Object.assign(later('OrderMatched', wire, seq), { match: matchFromWire(wire.match) })
  },
  OrderFilled: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 1, 'OrderFilled')
    return Object.assign(later('OrderFilled', wire, seq), { fill: fillFromWire(wire.fill) })
  },
  MatchReverted: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 2 + reasonFields(wire), 'MatchReverted')
    const change = Object.assign(later('MatchReverted', wire, seq), {
      settlementId: readText(wire.settlement_id, 'settlement_id'),
      revert: readText(wire.revert, 'revert'),
    })
    return withReasons(change, wire)
  },
  FillReversed: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 2 + reasonFields(wire), 'FillReversed')
    const change = Object.assign(later('FillReversed', wire, seq), {
      fill: fillFromWire(wire.fill),
      revert: readText(wire.revert, 'revert'),
    })
    return withReasons(change, wire)
  },
  OrderHeld: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 1, 'OrderHeld')
    const hold = readOneOf(HOLDS, wire.hold, 'hold')
    return Object.assign(later('OrderHeld', wire, seq), { hold })
  },
  OrderReleased: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + reasonFields(wire), 'OrderReleased')
    return withReasons(later('OrderReleased', wire, seq), wire)
  },
  OrderCancelled: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS + 1, 'OrderCancelled')
    const cancelReason = readText(wire.cancel_reason, 'cancel_reason')
    return Object.assign(later('OrderCancelled', wire, seq), { cancelReason })
  },
  OrderExpired: (wire, seq) => {
    assertClosed(wire, LATER_FIELDS, 'OrderExpired')
    return later('OrderExpired', wire, seq)
  },
}
const CHANGE_KINDS = Object.keys(CHANGES) as ChangeKind[]

function placedFromWire(wire: Fields<ChangeFields>, seq: number): ChangeOf<'OrderPlaced'> {
  assertClosed(wire, 9 + reasonFields(wire), 'OrderPlaced')
  const order = orderFromWire(wire.order)
  const change: ChangeOf<'OrderPlaced'> = {
    kind: 'OrderPlaced',
    seq,
    orderId: order.orderId,
    owner: order.owner,
    side: order.side,
    limitPrice: order.limitPrice,
    desired: order.desiredAmount,
    atMs: readWhole(wire.at_ms, 'at_ms'),
    filled: amountE18(readUint(wire.filled, 'filled')),
    pending: amountE18(readUint(wire.pending, 'pending')),
    open: amountE18(readUint(wire.open, 'open')),
    openDelta: readInt(wire.open_delta, 'open_delta'),
    status: readOneOf(STATUSES, wire.status, 'status'),
    rank: readWhole(wire.rank, 'rank'),
    order,
  }
  return withReasons(change, wire)
}

/**
 * What all changes but placements say. What only its kind says is assigned to it: spreading it into another object costs
 * V8 more than reading it.
 */
function later<K extends ChangeKind>(
  kind: K,
  wire: Fields<ChangeFields>,
  seq: number,
): ChangeBase & { readonly kind: K } {
  return {
    kind,
    seq,
    orderId: readText(wire.order_id, 'order_id'),
    owner: readAddress(wire.owner, 'owner'),
    side: readOneOf(SIDES, wire.side, 'side'),
    limitPrice: priceE18(readUint(wire.limit_price, 'limit_price')),
    desired: amountE18(readUint(wire.desired, 'desired')),
    atMs: readWhole(wire.at_ms, 'at_ms'),
    filled: amountE18(readUint(wire.filled, 'filled')),
    pending: amountE18(readUint(wire.pending, 'pending')),
    open: amountE18(readUint(wire.open, 'open')),
    openDelta: readInt(wire.open_delta, 'open_delta'),
    status: readOneOf(STATUSES, wire.status, 'status'),
  }
}

interface Reasons {
  hold?: HoldReason
  cancelReason?: string
}

const reasonFields = ({ hold, cancel_reason }: Fields<ChangeFields>): number =>
  one(hold) + one(cancel_reason)

/** The change with the reasons that the wire form names, which are set on it. */
function withReasons<T extends ChangeBase & Reasons>(
  change: T,
  { hold, cancel_reason }: Fields<ChangeFields>,
): T & Reasons {
  if (hold !== undefined) change.hold = readOneOf(HOLDS, hold, 'hold')
  if (cancel_reason !== undefined) change.cancelReason = readText(cancel_reason, 'cancel_reason')
  return change
}
