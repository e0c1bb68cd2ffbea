import type { Fill, Match } from '../core/change.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import type { Side } from '../core/order.js'
import { jsonText } from '../core/json-text.js'
import { SIDES } from './order-wire.js'
import {
  assertClosed,
  fieldsOf,
  readHex,
  readOneOf,
  readText,
  readUint,
  readWhole,
} from './read-fields.js'

/** A match as messages hold it: amounts at 1e18 in decimal text. */
interface MatchWire {
  readonly settlement_id: string
  readonly maker_order_id: string
  readonly taker_order_id: string
  readonly price: string
  readonly amount: string
  readonly taker_fee: string
}

/** The same with what its settlement made of it for one of the two orders. */
interface FillWire extends MatchWire {
  readonly liquidity: Fill['liquidity']
  readonly fee: string
  readonly tx_hash: string
  readonly block_number: string
  readonly trade_id: number
  readonly taker_side: Side
}

const LIQUIDITIES: readonly Fill['liquidity'][] = ['maker', 'taker']

/** A match as JSON; equal matches give equal JSON. */
export const matchJson = (match: Match): string => `{${matchMembers(match)}}`

const matchMembers = (match: Match): string =>
  `"settlement_id":${jsonText(match.settlementId)},"maker_order_id":${jsonText(match.makerOrderId)},"taker_order_id":${jsonText(match.takerOrderId)},"price":"${match.price}","amount":"${match.amount}","taker_fee":"${match.takerFee}"`

/** The inverse of matchJson for parsed JSON. Throws MalformedMessage unless it is a match's wire form. */
export function matchFromWire(value: unknown): Match {
  const wire = fieldsOf<MatchWire>(value, 'match')
  assertClosed(wire, 6, 'match')
  return {
    settlementId: readText(wire.settlement_id, 'settlement_id'),
    makerOrderId: readText(wire.maker_order_id, 'maker_order_id'),
    takerOrderId: readText(wire.taker_order_id, 'taker_order_id'),
    price: priceE18(readUint(wire.price, 'price')),
    amount: amountE18(readUint(wire.amount, 'amount')),
    takerFee: quoteE18(readUint(wire.taker_fee, 'taker_fee')),
  }
}

/** A fill as JSON; equal fills give equal JSON. */
export const fillJson = (fill: Fill): string =>
  `{${matchMembers(fill)},"liquidity":"${fill.liquidity}","fee":"${fill.fee}","tx_hash":"${fill.txHash}","block_number":"${fill.blockNumber}","trade_id":${fill.tradeId},"taker_side":"${fill.takerSide}"}`

/** The inverse of fillJson for parsed JSON. Throws MalformedMessage unless it is a fill's wire form. */
export function fillFromWire(value: unknown): Fill {
  const wire = fieldsOf<FillWire>(value, 'fill')
  assertClosed(wire, 12, 'fill')
  return {
    settlementId: readText(wire.settlement_id, 'settlement_id'),
    makerOrderId: readText(wire.maker_order_id, 'maker_order_id'),
    takerOrderId: readText(wire.taker_order_id, 'taker_order_id'),
    price: priceE18(readUint(wire.price, 'price')),
    amount: amountE18(readUint(wire.amount, 'amount')),
    takerFee: quoteE18(readUint(wire.taker_fee, 'taker_fee')),
    liquidity: readOneOf(LIQUIDITIES, wire.liquidity, 'liquidity'),
    fee: quoteE18(readUint(wire.fee, 'fee')),
    txHash: readHex(wire.tx_hash, 'tx_hash'),
    blockNumber: readUint(wire.block_number, 'block_number'),
    tradeId: readWhole(wire.trade_id, 'trade_id'),
    takerSide: readOneOf(SIDES, wire.taker_side, 'taker_side'),
  }
}
