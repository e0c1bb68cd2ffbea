import { z } from 'zod'
import { DEFAULT_PAGE_LIMIT, MAX_PAGE_LIMIT } from '../../core/limits.js'
import { marketEntry } from './market-entry.js'
import { aliasHeaders, marketNaming, marketRefusals } from './market-naming.js'
import { type Operation, readRefusals } from './operation.js'
import { orderRecord, spotContract } from './order-record.js'
import { address, decimal, hash, integer, orderId, side, signedDecimal, time } from './values.js'

export const listMarkets: Operation = {
  id: 'listMarkets',
  tag: 'Market data',
  summary: 'List the enabled markets',
  responses: {
    200: { description: 'By identifier, in byte order.', body: z.array(marketEntry) },
    ...readRefusals,
  },
}

export const book = z
  .object({
    market_presentation: marketEntry,
    bids: z.array(orderRecord).describe('Engine buys, best first, then oldest first.'),
    asks: z.array(orderRecord).describe('Engine sells, best first, then oldest first.'),
  })
  .meta({ id: 'Book', description: 'Every order that can be hit, in engine terms.' })

export const readBook: Operation = {
  id: 'readBook',
  tag: 'Market data',
  summary: 'Read the book of a market',
  query: z.object({
    ...marketNaming,
    depth: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe('Orders of each side; all unless told.'),
  }),
  responses: {
    200: { description: 'The visible book.', body: book, headers: aliasHeaders },
    ...marketRefusals,
  },
}

export const tradeId = z
  .int()
  .min(1)
  .describe('Unique across the venue, increasing within a market.')

export const trade = z
  .object({
    trade_id: tradeId,
    market: z.string(),
    asset_address: address,
    sub_id: integer,
    price: decimal.describe('Engine price: the maker’s.'),
    size: decimal,
    aggressor_side: side.describe('Engine side of the taker.'),
    taker_order_id: orderId,
    maker_order_id: orderId,
    created_at: time,
    contract_type: z.string(),
    settlement_type: z.string().optional(),
    spot_contract: spotContract.optional().describe('The taker’s side in both languages.'),
    tx_hash: hash.describe('The transaction that settled it.'),
    reversed: z
      .literal(true)
      .optional()
      .describe('The chain has lost the settlement for good: it counts no longer.'),
  })
  .meta({ id: 'Trade', description: 'A settled match.' })

const stats24h = z
  .object({
    change: signedDecimal.optional().describe('Last less first.'),
    high: decimal.optional(),
    low: decimal.optional(),
    last: decimal.optional(),
    volume: decimal.optional().describe('Base of the engine, cNGN.'),
    quote_volume: decimal.optional().describe('USDC.'),
  })
  .meta({ id: 'Stats24h', description: 'The trailing 24 hours; empty when nothing traded.' })

const trades = z
  .object({
    market_presentation: marketEntry,
    stats_24h: stats24h,
    trades: z.array(trade).describe('Newest first.'),
    next_before_trade_id: tradeId.optional().describe('Of the next page; absent on the last.'),
  })
  .meta({ id: 'Trades', description: 'A page of trades and the day before now.' })

export const listTrades: Operation = {
  id: 'listTrades',
  tag: 'Market data',
  summary: 'List the fills of a market',
  query: z.object({
    ...marketNaming,
    limit: z.int().min(1).max(MAX_PAGE_LIMIT).default(DEFAULT_PAGE_LIMIT),
    before_trade_id: z.int().min(1).optional().describe('Only trades older than this one.'),
  }),
  responses: {
    200: { description: 'One page, with the trailing day.', body: trades, headers: aliasHeaders },
    ...marketRefusals,
  },
}
