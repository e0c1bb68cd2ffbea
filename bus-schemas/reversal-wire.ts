import { z } from 'zod'
import type { ReversedLeg, SettlementReversal } from '../core/command.js'
import { amountE18, priceE18 } from '../core/money.js'
import { matchFromWire, matchToWire, matchWire } from './change-wire.js'
import { sideWire, statusWire } from './order-wire.js'
import { addressText, asAddress, asHex, hexText, uintText, wholeNumber } from './wire.js'

const legWire = z.strictObject({
  order_id: z.string(),
  owner: addressText,
  side: sideWire,
  limit_price: uintText,
  desired: uintText,
  ended: z.strictObject({ status: statusWire, filled: uintText }).exactOptional(),
})
type LegWire = z.infer<typeof legWire>

const nowWire = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('success'), tx_hash: hexText, block_number: uintText }),
  z.strictObject({
    kind: z.literal('reverted'),
    revert: z.string(),
    told: z.strictObject({ tx_hash: hexText, block_number: uintText, trade_id: wholeNumber }),
  }),
])
type NowWire = z.infer<typeof nowWire>

/** A settlement whose outcome the chain has changed, as a command of the market's log carries it. */
export const reversalWire = z.strictObject({
  no: z.int().positive(),
  match: matchWire,
  maker: legWire,
  taker: legWire,
  now: nowWire,
})
type ReversalWire = z.infer<typeof reversalWire>

export function reversalToWire(reversal: SettlementReversal): ReversalWire {
  const { no, match, maker, taker, now } = reversal
  return {
    no,
    match: matchToWire(match),
    maker: legToWire(maker),
    taker: legToWire(taker),
    now: nowToWire(now),
  }
}

/** The inverse of reversalToWire. */
export function reversalFromWire(wire: ReversalWire): SettlementReversal {
  return {
    no: wire.no,
    match: matchFromWire(wire.match),
    maker: legFromWire(wire.maker),
    taker: legFromWire(wire.taker),
    now: nowFromWire(wire.now),
  }
}

function legToWire({ orderId, owner, side, limitPrice, desired, ended }: ReversedLeg): LegWire {
  return {
    order_id: orderId,
    owner,
    side,
    limit_price: String(limitPrice),
    desired: String(desired),
    ...(ended !== undefined && {
      ended: { status: ended.status, filled: String(ended.filled) },
    }),
  }
}

function legFromWire({ ended, ...wire }: LegWire): ReversedLeg {
  return {
    orderId: wire.order_id,
    owner: asAddress(wire.owner),
    side: wire.side,
    limitPrice: priceE18(BigInt(wire.limit_price)),
    desired: amountE18(BigInt(wire.desired)),
    ...(ended !== undefined && {
      ended: { status: ended.status, filled: amountE18(BigInt(ended.filled)) },
    }),
  }
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

function nowFromWire(wire: NowWire): SettlementReversal['now'] {
  if (wire.kind === 'success') {
    return {
      kind: wire.kind,
      txHash: asHex(wire.tx_hash),
      blockNumber: BigInt(wire.block_number),
    }
  }
  const { tx_hash: hash, block_number: block, trade_id: tradeId } = wire.told
  const told = { txHash: asHex(hash), blockNumber: BigInt(block), tradeId }
  return { kind: wire.kind, revert: wire.revert, told }
}
