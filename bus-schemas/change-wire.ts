import { z } from 'zod'
import { assert } from '../core/assert.js'
import type { Change, ChangeBase, Fill, HoldReason, Match } from '../core/change.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import {
  holdWire,
  orderFromWire,
  orderToWire,
  orderWire,
  sideWire,
  statusWire,
} from './order-wire.js'
import { addressText, asAddress, asHex, hexText, intText, uintText, wholeNumber } from './wire.js'

const matchFields = {
  settlement_id: z.string(),
  maker_order_id: z.string(),
  taker_order_id: z.string(),
  price: uintText,
  amount: uintText,
  taker_fee: uintText,
}
export const matchWire = z.strictObject(matchFields)
const fillWire = z.strictObject({
  ...matchFields,
  liquidity: z.enum(['maker', 'taker']),
  fee: uintText,
  tx_hash: hexText,
  block_number: uintText,
  trade_id: wholeNumber,
  taker_side: sideWire,
})
export type MatchWire = z.infer<typeof matchWire>
type FillWire = z.infer<typeof fillWire>

/** Where the order stands after the change; `seq` follows from the change's place in its block. */
const standing = {
  at_ms: wholeNumber,
  filled: uintText,
  pending: uintText,
  open: uintText,
  open_delta: intText,
  status: statusWire,
}
/** What a placement says by its order. */
const identity = {
  order_id: z.string(),
  owner: addressText,
  side: sideWire,
  limit_price: uintText,
  desired: uintText,
}
const later = { ...identity, ...standing }
/** Why an order is not simply open: a hold, a cancellation, or neither. */
const reasons = { hold: holdWire.exactOptional(), cancel_reason: z.string().exactOptional() }

export const changeWire = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('OrderPlaced'),
    ...standing,
    rank: wholeNumber,
    ...reasons,
    order: orderWire,
  }),
  z.strictObject({ kind: z.literal('OrderMatched'), ...later, match: matchWire }),
  z.strictObject({ kind: z.literal('OrderFilled'), ...later, fill: fillWire }),
  z.strictObject({
    kind: z.literal('MatchReverted'),
    ...later,
    settlement_id: z.string(),
    revert: z.string(),
    ...reasons,
  }),
  z.strictObject({
    kind: z.literal('FillReversed'),
    ...later,
    fill: fillWire,
    revert: z.string(),
    ...reasons,
  }),
  z.strictObject({ kind: z.literal('OrderHeld'), ...later, hold: holdWire }),
  z.strictObject({ kind: z.literal('OrderReleased'), ...later, ...reasons }),
  z.strictObject({ kind: z.literal('OrderCancelled'), ...later, cancel_reason: z.string() }),
  z.strictObject({ kind: z.literal('OrderExpired'), ...later }),
])
export type ChangeWire = z.infer<typeof changeWire>

type StandingWire = z.infer<z.ZodObject<typeof standing>>
type ReasonsWire = z.infer<z.ZodObject<typeof reasons>>
type LaterWire = z.infer<z.ZodObject<typeof later>>

/** The change without its seq, and for a placement without what its order already says. */
export function changeToWire(change: Change): ChangeWire {
  const { kind } = change
  switch (kind) {
    case 'OrderPlaced':
      assertPlacementAgrees(change)
      return {
        kind,
        ...standingToWire(change),
        rank: change.rank,
        ...reasonsToWire(change),
        order: orderToWire(change.order),
      }
    case 'OrderMatched':
      return { kind, ...laterToWire(change), match: matchToWire(change.match) }
    case 'OrderFilled':
      return { kind, ...laterToWire(change), fill: fillToWire(change.fill) }
    case 'MatchReverted':
      return {
        kind,
        ...laterToWire(change),
        settlement_id: change.settlementId,
        revert: change.revert,
        ...reasonsToWire(change),
      }
    case 'FillReversed':
      return {
        kind,
        ...laterToWire(change),
        fill: fillToWire(change.fill),
        revert: change.revert,
        ...reasonsToWire(change),
      }
    case 'OrderHeld':
      return { kind, ...laterToWire(change), hold: change.hold }
    case 'OrderReleased':
      return {
        kind,
        ...laterToWire(change),
        ...reasonsToWire(change),
      }
    case 'OrderCancelled':
      return { kind, ...laterToWire(change), cancel_reason: change.cancelReason }
    case 'OrderExpired':
      return { kind, ...laterToWire(change) }
  }
}

/** The inverse of changeToWire, given the seq that the block implies. */
export function changeFromWire(wire: ChangeWire, seq: number): Change {
  switch (wire.kind) {
    case 'OrderPlaced':
      return placedFromWire(wire, seq)
    case 'OrderMatched':
      return { kind: wire.kind, ...laterFromWire(wire, seq), match: matchFromWire(wire.match) }
    case 'OrderFilled':
      return { kind: wire.kind, ...laterFromWire(wire, seq), fill: fillFromWire(wire.fill) }
    case 'MatchReverted':
      return {
        kind: wire.kind,
        ...laterFromWire(wire, seq),
        settlementId: wire.settlement_id,
        revert: wire.revert,
        ...reasonsFromWire(wire),
      }
    case 'FillReversed':
      return {
        kind: wire.kind,
        ...laterFromWire(wire, seq),
        fill: fillFromWire(wire.fill),
        revert: wire.revert,
        ...reasonsFromWire(wire),
      }
    case 'OrderHeld':
      return { kind: wire.kind, ...laterFromWire(wire, seq), hold: wire.hold }
    case 'OrderReleased':
      return {
        kind: wire.kind,
        ...laterFromWire(wire, seq),
        ...reasonsFromWire(wire),
      }
    case 'OrderCancelled':
      return { kind: wire.kind, ...laterFromWire(wire, seq), cancelReason: wire.cancel_reason }
    case 'OrderExpired':
      return { kind: wire.kind, ...laterFromWire(wire, seq) }
  }
}

function placedFromWire(wire: Extract<ChangeWire, { kind: 'OrderPlaced' }>, seq: number): Change {
  const order = orderFromWire(wire.order)
  return {
    kind: wire.kind,
    seq,
    orderId: order.orderId,
    owner: order.owner,
    side: order.side,
    limitPrice: order.limitPrice,
    desired: order.desiredAmount,
    ...standingFromWire(wire),
    rank: wire.rank,
    ...reasonsFromWire(wire),
    order,
  }
}

function assertPlacementAgrees(change: Extract<Change, { kind: 'OrderPlaced' }>): void {
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

function reasonsToWire(change: { hold?: HoldReason; cancelReason?: string }): ReasonsWire {
  return {
    ...(change.hold !== undefined && { hold: change.hold }),
    ...(change.cancelReason !== undefined && { cancel_reason: change.cancelReason }),
  }
}

function reasonsFromWire(wire: ReasonsWire): { hold?: HoldReason; cancelReason?: string } {
  return {
    ...(wire.hold !== undefined && { hold: wire.hold }),
    ...(wire.cancel_reason !== undefined && { cancelReason: wire.cancel_reason }),
  }
}

function standingToWire(change: ChangeBase): StandingWire {
  return {
    at_ms: change.atMs,
    filled: String(change.filled),
    pending: String(change.pending),
    open: String(change.open),
    open_delta: String(change.openDelta),
    status: change.status,
  }
}

function standingFromWire(wire: StandingWire) {
  return {
    atMs: wire.at_ms,
    filled: amountE18(BigInt(wire.filled)),
    pending: amountE18(BigInt(wire.pending)),
    open: amountE18(BigInt(wire.open)),
    openDelta: BigInt(wire.open_delta),
    status: wire.status,
  }
}

function laterToWire(change: ChangeBase): LaterWire {
  return {
    order_id: change.orderId,
    owner: change.owner,
    side: change.side,
    limit_price: String(change.limitPrice),
    desired: String(change.desired),
    ...standingToWire(change),
  }
}

function laterFromWire(wire: LaterWire, seq: number): ChangeBase {
  return {
    seq,
    orderId: wire.order_id,
    owner: asAddress(wire.owner),
    side: wire.side,
    limitPrice: priceE18(BigInt(wire.limit_price)),
    desired: amountE18(BigInt(wire.desired)),
    ...standingFromWire(wire),
  }
}

export function matchToWire(match: Match): MatchWire {
  return {
    settlement_id: match.settlementId,
    maker_order_id: match.makerOrderId,
    taker_order_id: match.takerOrderId,
    price: String(match.price),
    amount: String(match.amount),
    taker_fee: String(match.takerFee),
  }
}

export function matchFromWire(wire: MatchWire): Match {
  return {
    settlementId: wire.settlement_id,
    makerOrderId: wire.maker_order_id,
    takerOrderId: wire.taker_order_id,
    price: priceE18(BigInt(wire.price)),
    amount: amountE18(BigInt(wire.amount)),
    takerFee: quoteE18(BigInt(wire.taker_fee)),
  }
}

function fillToWire(fill: Fill): FillWire {
  return {
    ...matchToWire(fill),
    liquidity: fill.liquidity,
    fee: String(fill.fee),
    tx_hash: fill.txHash,
    block_number: String(fill.blockNumber),
    trade_id: fill.tradeId,
    taker_side: fill.takerSide,
  }
}

function fillFromWire(wire: FillWire): Fill {
  return {
    ...matchFromWire(wire),
    liquidity: wire.liquidity,
    fee: quoteE18(BigInt(wire.fee)),
    txHash: asHex(wire.tx_hash),
    blockNumber: BigInt(wire.block_number),
    tradeId: wire.trade_id,
    takerSide: wire.taker_side,
  }
}
