import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Address } from '../core/action.js'
import { parseDecimal, parseInteger } from '../core/decimal.js'
import type { Market, MarketPresentation } from '../core/market.js'
import { amountE18, priceE18 } from '../core/money.js'

/** The market file or the deployment it is joined with does not describe a venue that could run. */
export class MarketFileError extends Error {
  override readonly name = 'MarketFileError'
}

/** The file that ships with the venue; compiled code runs from dist/, where data files are not copied. */
export const defaultMarketFile = new URL('../../data/markets.json', import.meta.url)

/** A positive number of at most 18 decimals, scaled by 1e18. */
const decimalE18 = z.string().transform((text, context) => {
  const value = parseDecimal(text, 18)
  if (value !== undefined && value > 0n) return value
  context.addIssue({ code: 'custom', message: 'expected positive decimal text' })
  return z.NEVER
})
const integer = z.string().transform((text, context) => {
  const value = parseInteger(text)
  if (value !== undefined) return value
  context.addIssue({ code: 'custom', message: 'expected base-10 digits' })
  return z.NEVER
})
const feeBps = z.number().int().min(0).max(10_000)

const presentationSchema = z.strictObject({
  base_asset_symbol: z.string(),
  quote_asset_symbol: z.string(),
  display_name: z.string(),
  display_label: z.string(),
  settlement_note: z.string(),
  ui_price_unit: z.string(),
  ui_size_unit: z.string(),
  ui_side_meaning: z.string(),
  engine_price_unit: z.string(),
  engine_amount_unit: z.string(),
  ui_price_to_engine: z.string(),
  ui_size_to_engine: z.string(),
})

const marketSchema = z.strictObject({
  // The identifier becomes part of stream names, so it holds nothing that a subject gives a meaning to.
  market: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  // The low byte of every trade id.
  ordinal: z.number().int().min(0).max(255),
  enabled: z.boolean(),
  contract_type: z.enum(['spot', 'perpetual', 'future', 'deliverable_fx_future']),
  settlement_type: z
    .enum(['cash_settled_perpetual', 'cash_settled_future', 'physical_delivery'])
    .optional(),
  aliases: z.array(z.string()),
  tick_size: decimalE18,
  min_size: decimalE18,
  amount_step: decimalE18.optional(),
  contract_multiplier: integer,
  amount_scale: integer,
  taker_fee_bps: feeBps,
  maker_fee_bps: feeBps,
  asset: z.string(),
  sub_id: integer,
  quote_asset: z.string(),
  trade_module: z.string(),
  margin_manager: z.string(),
  order_entry: z
    .strictObject({ name: z.string(), orientation: z.enum(['inverted', 'identity']) })
    .optional(),
  presentation: presentationSchema,
})
type MarketRow = z.output<typeof marketSchema>

/** Addresses of a deployment by their names in the deployment file, for example `wrapped_cngn`. */
export type AddressBook = Readonly<Record<string, string>>

/**
 * Reads a market file and joins it with a deployment's addresses. Throws MarketFileError when the file is malformed,
 * names an address that the deployment lacks, or lists an identifier, ordinal or instrument twice.
 */
export function loadMarkets(addresses: AddressBook, file: URL = defaultMarketFile): Market[] {
  const parsed = z.array(marketSchema).min(1).safeParse(readJson(file))
  if (!parsed.success) throw new MarketFileError(z.prettifyError(parsed.error))
  const markets = parsed.data.map((row) => joinMarket(row, addresses))
  refuseRepeats(
    'identifier',
    markets.flatMap((market) => [market.market, ...market.aliases]),
  )
  refuseRepeats(
    'ordinal',
    markets.map((market) => market.ordinal),
  )
  refuseRepeats(
    'instrument',
    markets.map((market) => `${market.assetAddress}:${market.subId}`),
  )
  return markets
}

function readJson(file: URL): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new MarketFileError(`cannot read ${file.pathname}`, { cause })
  }
}

function refuseRepeats(what: string, values: readonly (string | number)[]): void {
  const repeated = values.find((value, index) => values.indexOf(value) !== index)
  if (repeated !== undefined) throw new MarketFileError(`${what} ${repeated} is listed twice`)
}

function joinMarket(row: MarketRow, addresses: AddressBook): Market {
  const addressOf = (name: string): Address => {
    const address = Object.hasOwn(addresses, name) ? addresses[name] : undefined
    if (address === undefined || !/^0x[0-9a-fA-F]{40}$/.test(address)) {
      throw new MarketFileError(`${row.market}: the deployment has no address ${name}`)
    }
    return address.toLowerCase() as Address
  }
  return {
    market: row.market,
    ordinal: row.ordinal,
    enabled: row.enabled,
    contractType: row.contract_type,
    ...(row.settlement_type === undefined ? {} : { settlementType: row.settlement_type }),
    aliases: row.aliases,
    tickSize: priceE18(row.tick_size),
    minSize: amountE18(row.min_size),
    ...(row.amount_step === undefined ? {} : { amountStep: amountE18(row.amount_step) }),
    contractMultiplier: row.contract_multiplier,
    amountScale: row.amount_scale,
    takerFeeBps: row.taker_fee_bps,
    makerFeeBps: row.maker_fee_bps,
    assetAddress: addressOf(row.asset),
    subId: row.sub_id,
    quoteAssetAddress: addressOf(row.quote_asset),
    tradeModuleAddress: addressOf(row.trade_module),
    marginManagerAddress: addressOf(row.margin_manager),
    ...(row.order_entry === undefined ? {} : { orderEntry: row.order_entry }),
    presentation: joinPresentation(row.presentation),
  }
}

function joinPresentation(row: MarketRow['presentation']): MarketPresentation {
  return {
    baseAssetSymbol: row.base_asset_symbol,
    quoteAssetSymbol: row.quote_asset_symbol,
    displayName: row.display_name,
    displayLabel: row.display_label,
    settlementNote: row.settlement_note,
    uiPriceUnit: row.ui_price_unit,
    uiSizeUnit: row.ui_size_unit,
    uiSideMeaning: row.ui_side_meaning,
    enginePriceUnit: row.engine_price_unit,
    engineAmountUnit: row.engine_amount_unit,
    uiPriceToEngine: row.ui_price_to_engine,
    uiSizeToEngine: row.ui_size_to_engine,
  }
}
