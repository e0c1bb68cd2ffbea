import type { FillEvent as FillEventRecord } from '../../interface/fill-event.js'
import type { FillsUpdate } from '../../interface/socket.js'
import type { Market } from '../contracts/market.js'
import { contractOf } from '../contracts/registry.js'
import { spotContract } from '../contracts/translation.js'
import { formatDecimal } from '../decimal.js'
import type { FillEvent } from '../engine/own-fills.js'
import { isoTime } from '../time.js'

/** Presents where a match stands for one order: engine values, and the order's side of it in trader terms. */
export function fillEventRecord(market: Market, event: FillEvent): FillEventRecord {
  const contract = spotContract(market, event)
  return {
    settlement_id: event.settlementId,
    order_id: event.orderId,
    ...(event.subaccountId !== undefined && { subaccount_id: event.subaccountId.toString() }),
    status: event.status,
    liquidity: event.liquidity,
    side: event.side,
    price: formatDecimal(event.price, 18),
    size: formatDecimal(event.amount, 18),
    fee: formatDecimal(event.fee, 18),
    created_at: isoTime(event.atMs),
    ...tradeFields(market, event),
    ...(event.revert !== undefined && { reason: event.revert }),
    ...(contract !== undefined && { spot_contract: contract }),
  }
}

function tradeFields(market: Market, { trade, ...leg }: FillEvent): Partial<FillEventRecord> {
  if (trade === undefined) return {}
  const { tradeId, txHash, blockNumber, markPrice } = trade
  return {
    ...{ trade_id: tradeId, tx_hash: txHash, block_number: Number(blockNumber) },
    ...(markPrice !== undefined && contractOf(market).present.fill?.({ ...leg, markPrice })),
  }
}

/** The `fills` frame of an event, with the numbers of the channel's own stream. */
export const fillsUpdate = (
  market: Market,
  event: FillEvent,
  { seq, prevSeq }: { readonly seq: number; readonly prevSeq: number },
): FillsUpdate => ({
  type: 'update',
  channel: 'fills',
  market: market.market,
  seq,
  prev_seq: prevSeq,
  ts: isoTime(event.atMs),
  data: fillEventRecord(market, event),
})
