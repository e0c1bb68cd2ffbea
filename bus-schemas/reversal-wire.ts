import type { ReversedLeg, SettlementReversal, ToldFill } from '../core/command.js'
import { amountE18, priceE18 } from '../core/money.js'
import type { OrderStatus } from '../core/order.js'
import { matchFromWire, matchJson } from './match-wire.js'
import { SIDES, STATUSES } from './order-wire.js'
import {
  assertClosed,
  fieldsOf,
  malformed,
  one,
  readAddress,
  readHex,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'

/** A settlement whose outcome the chain has changed, as a command of the market's log carries it. */
interface ReversalWire {
  readonly no: number
  readonly match: unknown
  readonly maker: unknown
  readonly taker: unknown
  readonly now: unknown
}

type LegWire = ReturnType<typeof legToWire>
interface EndedWire {
  readonly status: OrderStatus
  readonly filled: string
}
interface ToldWire {
  readonly tx_hash: string
  readonly block_number: string
  readonly trade_id: number
}
interface NowWire {
  readonly kind: SettlementReversal['now']['kind']
  readonly tx_hash?: string
  readonly block_number?: string
  readonly revert?: string
  readonly told?: ToldWire
}

/** A reversal as JSON; equal reversals give equal JSON. */
export function reversalJson({ no, match, maker, taker, now }: SettlementReversal): string {
  const legs = `"maker":${JSON.stringify(legToWire(maker))},"taker":${JSON.stringify(legToWire(taker))}`
  return `{"no":${no},"match":${matchJson(match)},${legs},"now":${JSON.stringify(nowToWire(now))}}`
}

/** The inverse of reversalJson for parsed JSON. Throws MalformedMessage unless it is a reversal's wire form. */
export function reversalFromWire(value: unknown): SettlementReversal {
  const wire = fieldsOf<ReversalWire>(value, 'reversal')
  assertClosed(wire, 5, 'reversal')
  const no = readWhole(wire.no, 'no')
  if (no === 0) malformed('no', 'a number from 1 on')
  return {
    no,
    match: matchFromWire(wire.match),
    maker: legFromWire(wire.maker),
    taker: legFromWire(wire.taker),
    now: nowFromWire(wire.now),
  }
}

function legToWire({ orderId, owner, side, limitPrice, desired, ended }: ReversedLeg) {
  return {
    order_id: orderId,
    owner,
    side,
    limit_price: String(limitPrice),
    desired: String(desired),
    ended: ended === undefined ? undefined : endedToWire(ended),
  }
}

const endedToWire = ({ status, filled }: NonNullable<ReversedLeg['ended']>): EndedWire => ({
  status,
  filled: String(filled),
})

function legFromWire(value: unknown): ReversedLeg {
  const wire = fieldsOf<LegWire>(value, 'leg')
  assertClosed(wire, 5 + one(wire.ended), 'leg')
  const leg = {
    orderId: readText(wire.order_id, 'order_id'),
    owner: readAddress(wire.owner, 'owner'),
    side: readOneOf(SIDES, wire.side, 'side'),
    limitPrice: priceE18(readUint(wire.limit_price, 'limit_price')),
    desired: amountE18(readUint(wire.desired, 'desired')),
  }
  return wire.ended === undefined ? leg : { ...leg, ended: endedFromWire(wire.ended) }
}

function endedFromWire(value: unknown): NonNullable<ReversedLeg['ended']> {
  const wire = fieldsOf<EndedWire>(value, 'ended')
  assertClosed(wire, 2, 'ended')
  const filled = amountE18(readUint(wire.filled, 'ended.filled'))
  return { status: readOneOf(STATUSES, wire.status, 'ended.status'), filled }
}

function nowToWire(now: SettlementReversal['now']): NowWire {
  const { kind } = now
  if (kind === 'success') {
    return { kind, tx_hash: now.txHash, block_number: String(now.blockNumber) }
  }
  const { txHash, blockNumber, tradeId } = now.told
  const told = { tx_hash: txHash, block_number: String(blockNumber), trade_id: tradeId }
  return { kind, revert: now.revert, told }
}

function nowFromWire(value: unknown): SettlementReversal['now'] {
  const wire = fieldsOf<NowWire>(value, 'now')
  assertClosed(wire, 3, 'now')
  const { kind } = wire
  if (kind === 'success') {
    const txHash = readHex(wire.tx_hash, 'tx_hash')
    return { kind, txHash, blockNumber: readUint(wire.block_number, 'block_number') }
  }
  if (kind !== 'reverted') return malformed('now', 'known')
  return { kind, revert: readText(wire.revert, 'revert'), told: toldFromWire(wire.told) }
}

function toldFromWire(value: unknown): ToldFill {
  const wire = fieldsOf<ToldWire>(value, 'told')
  assertClosed(wire, 3, 'told')
  return {
    txHash: readHex(wire.tx_hash, 'told.tx_hash'),
    blockNumber: readUint(wire.block_number, 'told.block_number'),
    tradeId: readWhole(wire.trade_id, 'told.trade_id'),
  }
}
