import { assert } from '../core/assert.js'
import type { Change, ChangeBase, ChangeKind, HoldReason } from '../core/change.js'
import { amountE18, priceE18 } from '../core/money.js'
import type { OrderStatus, Side } from '../core/order.js'
import { jsonText } from '../core/json-text.js'
import type { Lines } from './frame.js'
import { fillFromWire, fillJson, matchFromWire, matchJson } from './match-wire.js'
import { HOLDS, SIDES, STATUSES, orderFromWire, orderJson } from './order-wire.js'
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
import { optionalText } from './write-fields.js'

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

/** The change as JSON, without its seq, and for a placement without what its order already says. */
export function changeJson(change: Change): string {
  switch (change.kind) {
    case 'OrderPlaced':
      return placedJson(change)
    case 'OrderMatched':
      return `${laterJson(change)},"match":${matchJson(change.match)}}`
    case 'OrderFilled':
      return `${laterJson(change)},"fill":${fillJson(change.fill)}}`
    case 'MatchReverted':
      return `${laterJson(change)},"settlement_id":${jsonText(change.settlementId)},"revert":${jsonText(change.revert)}${reasonsJson(change)}}`
    case 'FillReversed':
      return `${laterJson(change)},"fill":${fillJson(change.fill)},"revert":${jsonText(change.revert)}${reasonsJson(change)}}`
    case 'OrderHeld':
      return `${laterJson(change)},"hold":"${change.hold}"}`
    case 'OrderReleased':
      return `${laterJson(change)}${reasonsJson(change)}}`
    case 'OrderCancelled':
      return `${laterJson(change)},"cancel_reason":${jsonText(change.cancelReason)}}`
    case 'OrderExpired':
      return `${laterJson(change)}}`
  }
}

function placedJson(change: ChangeOf<'OrderPlaced'>): string {
  assertPlacementAgrees(change)
  const { order, desired } = change
  // Nearly all of its amounts are nothing, or all of it.
  const all = String(desired)
  const amount = (value: bigint): string => (value === desired ? all : String(value))
  return `{"kind":"OrderPlaced","at_ms":${change.atMs},"filled":"${change.filled}","pending":"${change.pending}","open":"${amount(change.open)}","open_delta":"${amount(change.openDelta)}","status":"${change.status}","rank":${change.rank}${reasonsJson(change)},"order":${orderJson(order, all)}}`
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

/** What all changes but placements say, without the end of the object. */
function laterJson(change: Change): string {
  return `{"kind":"${change.kind}","order_id":${jsonText(change.orderId)},"owner":"${change.owner}","side":"${change.side}","limit_price":"${change.limitPrice}","desired":"${change.desired}",${standingJson(change)}`
}

const standingJson = (change: ChangeBase): string =>
  `"at_ms":${change.atMs},"filled":"${change.filled}","pending":"${change.pending}","open":"${change.open}","open_delta":"${change.openDelta}","status":"${change.status}"`

function reasonsJson({ hold, cancelReason }: Reasons): string {
  const held = hold === undefined ? '' : `,"hold":"${hold}"`
  return held + optionalText('cancel_reason', cancelReason)
}

/**
 * The inverse of changeJson for parsed JSON, given the seq that the block implies and the lines behind its head. Throws MalformedMessage unless it is
 * a change's wire form.
 */
export function changeFromWire(value: unknown, seq: number, lines: Lines): Change {
  const wire = fieldsOf<ChangeFields>(value, 'change')
  return CHANGES[readOneOf(CHANGE_KINDS, wire.kind, 'kind')](wire, seq, lines)
}

type ReadChange<K extends ChangeKind> = (
  wire: Fields<ChangeFields>,
  seq: number,
  lines: Lines,
) => ChangeOf<K>

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

function placedFromWire(
  wire: Fields<ChangeFields>,
  seq: number,
  lines: Lines,
): ChangeOf<'OrderPlaced'> {
  assertClosed(wire, 9 + reasonFields(wire), 'OrderPlaced')
  const order = orderFromWire(wire.order, lines)
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
