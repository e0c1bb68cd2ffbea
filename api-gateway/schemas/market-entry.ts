import { z } from 'zod'
import { address, decimal, integer, unixSeconds } from './values.js'

const pricing = z.enum(['linear', 'variance', 'volatility'])
const display = z.enum(['direct', 'vol_percent'])
const text = z.string()

/** What a market entry and an order record both say about a market. */
export const marketFields = {
  market: text.describe('Canonical identifier: `symbol` in REST, `market` on the WebSocket.'),
  contract_type: z.enum(['spot', 'perpetual', 'future', 'deliverable_fx_future']),
  settlement_type: z
    .enum(['cash_settled_perpetual', 'cash_settled_future', 'physical_delivery'])
    .optional()
    .describe('Absent on spot.'),
  base_asset_symbol: text,
  quote_asset_symbol: text,
  display_name: text,
  display_label: text,
  tick_size: decimal.describe('Prices are whole multiples of it.'),
  price_semantics: pricing,
  display_semantics: display,
}

export const marketEntry = z
  .object({
    ...marketFields,
    expiry_timestamp: unixSeconds.optional().describe('Unix seconds; only on dated contracts.'),
    min_size: decimal.describe('The smallest size, of which sizes are whole multiples.'),
    amount_step: decimal.optional().describe('Step of sizes; only on dated contracts.'),
    contract_multiplier: decimal.describe('Units of the base asset per contract.'),
    settlement_note: text,
    asset_address: address.describe('With `sub_id`, the instrument as signed data names it.'),
    sub_id: integer,
    pricing_model: pricing,
    display_price_kind: display,
    last_trade_timestamp: unixSeconds
      .optional()
      .describe('Unix seconds of the newest fill; absent before the first.'),
    order_entry_spec: text.optional().describe('Name of the translation that `ui_intent` takes.'),
    ui_price_unit: text,
    ui_size_unit: text,
    ui_side_meaning: text,
    engine_price_unit: text,
    engine_amount_unit: text,
    engine_side_policy: z.enum(['invert_ui_side', 'same_as_ui']),
    ui_price_to_engine: text,
    ui_size_to_engine: text,
    taker_fee_bps: z.number().min(0),
    maker_fee_bps: z.number().min(0),
    trade_module_address: address.describe('What `action_json.module` must name.'),
    quote_asset_address: address,
    margin_manager_address: address,
  })
  .meta({
    id: 'Market',
    description: 'A market: what is traded, in which steps, and how to name it.',
  })
