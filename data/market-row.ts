import { z } from 'zod'
import type { Address } from '../core/action.js'
import { CannotStart, faultsOf } from '../core/cannot-start.js'
import {
  OPEN,
  type ContractType,
  type Market,
  type MarketPresentation,
} from '../core/model/market.js'
import { contractOf, isContractType } from '../core/contracts/registry.js'
import { formatDecimal, parseInteger, parseStored } from '../core/decimal.js'
import { amountE18, priceE18, quoteE18 } from '../core/money.js'
import { gridProblem, MAX_OPEN_ORDER_LIMIT, stepProblem } from '../core/entry/read-rules.js'
import { MAX_ORDINAL, SUB_ID_MAX } from '../core/limits.js'

/** The market file, or the deployment it is joined with, is invalid. */
export class MarketFileError extends CannotStart {
  override readonly name = 'MarketFileError'
}

/** A positive number of at most 18 decimals, scaled by 1e18. */
const decimalE18 = z.string().transform((text, context) => {
  const value = parseStored(text, 18)
  if (value !== undefined && value > 0n) return value
  context.addIssue({ code: 'custom', message: 'must be positive decimal text' })
  return z.NEVER
})
const integer = z.string().transform((text, context) => {
  const value = parseInteger(text)
  if (value !== undefined) return value
  context.addIssue({ code: 'custom', message: 'must be base-10 digits' })
  return z.NEVER
})
/** What something is divided by. */
const divisor = integer.refine((value) => value > 0n, { message: 'must be more than 0' })
/** A decimal as above, or 0. */
const anyDecimalE18 = z.string().transform((text, context) => {
  const value = parseStored(text, 18)
  if (value !== undefined) return value
  context.addIssue({ code: 'custom', message: 'must be decimal text' })
  return z.NEVER
})
/** Most live orders of an account, 0 for any number. */
const orderLimit = integer.refine((limit) => limit <= BigInt(MAX_OPEN_ORDER_LIMIT), {
  message: `must be at most ${MAX_OPEN_ORDER_LIMIT}`,
})
/** An order can name no greater id. */
const subId = integer.refine((id) => id <= SUB_ID_MAX, { message: `must be at most ${SUB_ID_MAX}` })
const feeBps = z.number().int().min(0).max(10_000)

/** Longest text of a market, in characters, and most aliases: all of a registration is one message. */
const MAX_TEXT = 1_000
const MAX_ALIASES = 16
const words = z.string().max(MAX_TEXT)

const presentationSchema = z.strictObject({
  base_asset_symbol: words,
  quote_asset_symbol: words,
  display_name: words,
  display_label: words,
  settlement_note: words,
  ui_price_unit: words,
  ui_size_unit: words,
  ui_side_meaning: words,
  engine_price_unit: words,
  engine_amount_unit: words,
  ui_price_to_engine: words,
  ui_size_to_engine: words,
})

export const marketSchema = z.strictObject({
  // The identifier becomes part of stream names, so it has none of the characters with a meaning in a subject.
  market: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  // What is left of each trade id and each log position of the market when it is divided by ORDINALS.
  ordinal: z.number().int().min(0).max(MAX_ORDINAL),
  enabled: z.boolean(),
  contract_type: z.custom<ContractType>(isContractType, 'must be a known contract type'),
  settlement_type: z.string(),
  aliases: z.array(z.string().max(64)).max(MAX_ALIASES),
  tick_size: decimalE18,
  min_size: decimalE18,
  amount_step: decimalE18.optional(),
  min_notional: anyDecimalE18.optional(),
  open_order_limit: orderLimit.optional(),
  contract_multiplier: divisor,
  amount_scale: divisor,
  taker_fee_bps: feeBps,
  maker_fee_bps: feeBps,
  asset: z.string(),
  sub_id: subId,
  quote_asset: z.string(),
  trade_module: z.string(),
  margin_manager: z.string(),
  order_entry: z
    .strictObject({ name: z.string().max(64), orientation: z.enum(['inverted', 'identity']) })
    .optional(),
  presentation: presentationSchema,
})
/** A row of the market file that has every field in its form. */
export type MarketRow = z.output<typeof marketSchema>

/** Addresses of a deployment by their names in the deployment file, for example `wrapped_cngn`. */
export type AddressBook = Readonly<Record<string, string>>

/** Throws MarketFileError for a row that lacks a field, or has one that it may not have. */
export function parseRow(given: unknown): MarketRow {
  const { data: row, error } = marketSchema.safeParse(given)
  if (row === undefined) throw new MarketFileError(faultsOf(error.issues, given))
  const { settlementType, problemOf } = contractOf({ contractType: row.contract_type })
  if (row.settlement_type !== settlementType) {
    throw new MarketFileError(
      `the market ${row.market} has the settlement_type ${row.settlement_type}, a ${row.contract_type} market has ${settlementType}`,
    )
  }
  const problem = problemOf?.({ market: row.market, subId: row.sub_id })
  if (problem !== undefined) throw new MarketFileError(`the market ${problem}`)
  refuseStep(row, 'min_size')
  refuseStep(row, 'amount_step')
  const { min_size: minSize, amount_step: amountStep = minSize } = row
  const grid = gridProblem({ minSize: amountE18(minSize), amountStep: amountE18(amountStep) })
  if (grid !== undefined) {
    throw new MarketFileError(`the market ${row.market} has an amount_step that ${grid}`)
  }
  return row
}

function refuseStep(row: MarketRow, name: 'min_size' | 'amount_step'): void {
  const { [name]: step = 0n, contract_type: contractType, amount_scale: amountScale } = row
  const problem = stepProblem(step, { contractType, amountScale })
  if (problem === undefined) return
  throw new MarketFileError(`the market ${row.market} has a ${name} that ${problem}`)
}

/**
 * What only this market has on a deployment. Markets share cash and managers, and a deployment names some of those for
 * deposits alone.
 */
export const ownContracts = ({ asset, trade_module }: MarketRow): readonly string[] => [
  asset,
  trade_module,
]

/** Whether the deployment names none of the contracts that only this market has. */
export const isAbsent = (row: MarketRow, addresses: AddressBook): boolean =>
  ownContracts(row).every((name) => addressIn(addresses, name) === undefined)

const ADDRESS = /^0x[0-9a-fA-F]{40}$/

/** A row may say the address itself instead of its name. */
const addressIn = (addresses: AddressBook, name: string): string | undefined =>
  Object.hasOwn(addresses, name) ? addresses[name] : ADDRESS.test(name) ? name : undefined

/** The market of a row. Throws MarketFileError when the deployment lacks an address that the row names. */
export function joinMarket(row: MarketRow, addresses: AddressBook): Market {
  const addressOf = (name: string): Address => {
    const address = addressIn(addresses, name)
    if (address === undefined || !ADDRESS.test(address)) {
      throw new MarketFileError(
        `the market ${row.market} needs the address ${name}, which the deployment file lacks`,
      )
    }
    return address.toLowerCase() as Address
  }
  const { settlementType } = contractOf({ contractType: row.contract_type })
  // The settlement type was compared with that of the contract type, which is all that tells the members of Market
  // apart.
  const market = {
    market: row.market,
    ordinal: row.ordinal,
    enabled: row.enabled,
    standing: OPEN,
    contractType: row.contract_type,
    settlementType,
    aliases: row.aliases,
    tickSize: priceE18(row.tick_size),
    minSize: amountE18(row.min_size),
    ...(row.amount_step === undefined ? {} : { amountStep: amountE18(row.amount_step) }),
    ...limitsOf(row),
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
  return market as Market
}

const limitsOf = ({ min_notional = 0n, open_order_limit }: MarketRow) => ({
  ...(min_notional !== 0n && { minNotional: quoteE18(min_notional) }),
  ...(open_order_limit !== undefined && { openOrderLimit: Number(open_order_limit) }),
})

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

/** The row of a market, as a market file says it: of joinMarket(parseRow(row)) the inverse, with addresses in place of their names. */
export function rowOf(market: Market): Readonly<Record<string, unknown>> {
  const { orderEntry, presentation: texts, amountStep, minNotional, openOrderLimit } = market
  const decimal = (value: bigint): string => formatDecimal(value, 18)
  return {
    market: market.market,
    ordinal: market.ordinal,
    enabled: market.enabled,
    contract_type: market.contractType,
    settlement_type: market.settlementType,
    aliases: market.aliases,
    tick_size: decimal(market.tickSize),
    min_size: decimal(market.minSize),
    ...(amountStep !== undefined && { amount_step: decimal(amountStep) }),
    ...(minNotional !== undefined && { min_notional: decimal(minNotional) }),
    ...(openOrderLimit !== undefined && { open_order_limit: `${openOrderLimit}` }),
    contract_multiplier: `${market.contractMultiplier}`,
    amount_scale: `${market.amountScale}`,
    taker_fee_bps: market.takerFeeBps,
    maker_fee_bps: market.makerFeeBps,
    asset: market.assetAddress,
    sub_id: `${market.subId}`,
    quote_asset: market.quoteAssetAddress,
    trade_module: market.tradeModuleAddress,
    margin_manager: market.marginManagerAddress,
    ...(orderEntry !== undefined && { order_entry: orderEntry }),
    presentation: {
      base_asset_symbol: texts.baseAssetSymbol,
      quote_asset_symbol: texts.quoteAssetSymbol,
      display_name: texts.displayName,
      display_label: texts.displayLabel,
      settlement_note: texts.settlementNote,
      ui_price_unit: texts.uiPriceUnit,
      ui_size_unit: texts.uiSizeUnit,
      ui_side_meaning: texts.uiSideMeaning,
      engine_price_unit: texts.enginePriceUnit,
      engine_amount_unit: texts.engineAmountUnit,
      ui_price_to_engine: texts.uiPriceToEngine,
      ui_size_to_engine: texts.uiSizeToEngine,
    },
  }
}
