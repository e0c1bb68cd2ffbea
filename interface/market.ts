import { z } from 'zod'
import { FutureState } from './future.js'
import { PerpState } from './perpetual.js'
import { describeReasons, marketReasons } from './reasons.js'
import {
  address,
  decimal,
  integer,
  sentAddress,
  sentInteger,
  type Shape,
  unixSeconds,
} from './values.js'

/** Markets: the entry, and how a read names a market. */

/** What a contract type adds to the public shape of a market. */
interface ContractShape {
  /** Its `settlement_type`. */
  readonly settlement: string
  /** Fields of its market entries alone, each optional: for example the object with its chain state. */
  readonly entry: Readonly<Record<string, z.ZodType>>
}

const dated = {
  expiry_timestamp: unixSeconds.optional().describe('Unix seconds; only on dated contracts.'),
}

/** The contract types. A new one adds one line here; the enums and the market entry follow from the table. */
const contractShapes = {
  spot: { settlement: 'spot', entry: {} },
  perpetual: {
    settlement: 'cash_settled_perpetual',
    entry: {
      perp: PerpState.optional().describe(
        'Only on perpetuals; absent while the chain cannot be read.',
      ),
    },
  },
  future: {
    settlement: 'cash_settled_future',
    entry: { ...dated, future: FutureState.optional().describe('Only on futures.') },
  },
  deliverable_fx_future: {
    settlement: 'physical_delivery',
    entry: {
      ...dated,
      accepts_orders: z.literal(false).optional().describe('Listed only: orders are refused.'),
    },
  },
} as const satisfies Record<string, ContractShape>

type Shapes = typeof contractShapes
type SettlementName = Shapes[keyof Shapes]['settlement']
/** The fields of all members of the union in one object. */
type MergedMembers<U> = (U extends unknown ? (member: U) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never

const shapes = Object.values(contractShapes)
const contractFields = Object.assign({}, ...shapes.map(({ entry }) => entry)) as MergedMembers<
  Shapes[keyof Shapes]['entry']
>

export const ContractType = z.enum(
  Object.keys(contractShapes) as [keyof Shapes, ...(keyof Shapes)[]],
)
export type ContractType = Shape<typeof ContractType>
const SettlementType = z.enum(
  shapes.map(({ settlement }) => settlement) as [SettlementName, ...SettlementName[]],
)

const pricing = z.enum(['linear', 'variance', 'volatility'])
const display = z.enum(['direct', 'vol_percent'])
const text = z.string()

/** What a market entry and an order record both say about a market. */
export const MarketFields = z.object({
  market: text.describe('Canonical identifier: `symbol` in REST, `market` on the WebSocket.'),
  contract_type: ContractType,
  settlement_type: SettlementType.describe('`spot` on spot markets.'),
  base_asset_symbol: text,
  quote_asset_symbol: text,
  display_name: text,
  display_label: text,
  tick_size: decimal.describe('Prices are whole multiples of it.'),
  price_semantics: pricing,
  display_semantics: display,
})
export type MarketFields = Shape<typeof MarketFields>

/** How a market trades now. */
export const TradingStatus = z.object({
  trading_status: z
    .enum(['open', 'paused', 'held'])
    .describe(
      '`open`: orders are taken and match. `paused`: new orders are refused (`trading_paused`). `held`: orders rest, and nothing matches.',
    ),
  trading_status_reason: text
    .optional()
    .describe(
      `Why; absent while it is open. Of a paused market the operator's words; of a held one the name of the revert with which the chain refuses every match, or one of these.\n${describeReasons(marketReasons)}`,
    ),
})
export type TradingStatus = Shape<typeof TradingStatus>

/** The market entry: an item of `GET /v1/markets`, and `market_presentation` of other reads. */
export const MarketEntry = z
  .object({
    ...MarketFields.shape,
    aliases: z
      .array(text)
      .describe('Deprecated identifiers that resolve to this market until their cut-off.'),
    ...contractFields,
    ...TradingStatus.shape,
    min_size: decimal.describe('The smallest size, of which sizes are whole multiples.'),
    amount_step: decimal.optional().describe('Equal to `min_size`; only on dated contracts.'),
    min_notional: decimal
      .optional()
      .describe(
        'Least worth of an order at its limit, in the unit of `filled_quote`; absent where any is taken.',
      ),
    open_order_limit: z
      .number()
      .int()
      .optional()
      .describe(
        'Most orders of one account that are open, held or in settlement at once; absent where they are not limited.',
      ),
    contract_multiplier: decimal.describe(
      'Units of the base asset in one contract of the chain. Sizes here are never in contracts: on futures an amount of `1000` is 1,000 USDC, which is one contract. Do not multiply a size by it.',
    ),
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
    ui_price_decimals: z
      .int()
      .min(0)
      .max(18)
      .describe('Decimals with which a price in trader terms is shown; `tick_size` is the step.'),
    ui_size_decimals: z
      .int()
      .min(0)
      .max(18)
      .describe('Decimals with which a size in trader terms is shown; `min_size` is the step.'),
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
export type MarketEntry = Shape<typeof MarketEntry>

/** What a contract type adds to the market entry; fields that are not declared here are found by the tests of answers. */
export type ContractEntry = Pick<MarketEntry, keyof typeof contractFields> &
  Readonly<Record<string, unknown>>

/** Query parameters by which a read names its market. */
export const MarketQuery = z.object({
  symbol: z.string().optional().describe('Identifier of the market, case-sensitive.'),
  asset_address: sentAddress.optional().describe('With `sub_id`, in place of `symbol`.'),
  sub_id: sentInteger.optional().describe('Default `0`.'),
})
