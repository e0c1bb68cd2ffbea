import { formatDecimal } from '../decimal.js'
import { quoteE18 } from '../money.js'
import type { Market, MarketStanding } from './market.js'

/** What of a market is fixed once its log has opened it. */
export type MarketIdentity = Readonly<
  Pick<
    Market,
    | 'market'
    | 'ordinal'
    | 'contractType'
    | 'contractMultiplier'
    | 'amountScale'
    | 'makerFeeBps'
    | 'assetAddress'
    | 'subId'
    | 'quoteAssetAddress'
    | 'tradeModuleAddress'
    | 'marginManagerAddress'
  >
>

/** The rules by which orders are taken and matched. Commands of an operator in the market's log change them. */
export interface MarketRules extends Readonly<
  Pick<Market, 'takerFeeBps' | 'tickSize' | 'minSize'>
> {
  /** Only in markets that state one. */
  readonly amountStep?: Market['amountStep'] & {}
  /** Least limit price times amount of an order; absent: any. A change of the rules says 0 for that. */
  readonly minNotional?: Market['minNotional'] & {}
  /** Most live orders of one account; 0: not limited any more; absent: never limited. */
  readonly openOrderLimit?: Market['openOrderLimit'] & {}
}

/** What the log of a market begins with. */
export interface MarketOpening {
  readonly identity: MarketIdentity
  readonly rules: MarketRules
  /** A market that opens disabled takes no order until it is enabled. */
  readonly enabled: boolean
}

/** A market as its feed states it: when it opens, and after each change of it. */
export interface MarketTerms extends MarketOpening {
  readonly standing: MarketStanding
}

/** The identity alone, without what else the value carries. */
function identityOf(market: MarketIdentity): MarketIdentity {
  return {
    market: market.market,
    ordinal: market.ordinal,
    contractType: market.contractType,
    contractMultiplier: market.contractMultiplier,
    amountScale: market.amountScale,
    makerFeeBps: market.makerFeeBps,
    assetAddress: market.assetAddress,
    subId: market.subId,
    quoteAssetAddress: market.quoteAssetAddress,
    tradeModuleAddress: market.tradeModuleAddress,
    marginManagerAddress: market.marginManagerAddress,
  }
}

/** Rules as a market carries them. */
type CarriedRules = Pick<
  Market,
  'takerFeeBps' | 'tickSize' | 'minSize' | 'amountStep' | 'minNotional' | 'openOrderLimit'
>

/** What a log needs to know of a market to open it. */
type OpenableMarket = MarketIdentity & CarriedRules & Pick<Market, 'enabled'>

/** The rules alone, without what else the value carries. */
export function rulesOf(market: CarriedRules): MarketRules {
  const { takerFeeBps, tickSize, minSize, amountStep, minNotional = 0n, openOrderLimit } = market
  return {
    takerFeeBps,
    tickSize,
    minSize,
    ...(amountStep !== undefined && { amountStep }),
    ...(minNotional !== 0n && { minNotional: quoteE18(minNotional) }),
    ...(openOrderLimit !== undefined && { openOrderLimit }),
  }
}

/** The opening of a market as its row states it. */
export const openingOf = (row: OpenableMarket): MarketOpening => ({
  identity: identityOf(row),
  rules: rulesOf(row),
  enabled: row.enabled,
})

/** A registered market with what its log has fixed. */
export const withIdentity = (
  market: Market,
  { identity }: Pick<MarketOpening, 'identity'>,
): Market => ({ ...market, ...identity }) as Market

/** A registered market as its log states it; texts and aliases stay those of the register. */
export const withTerms = (
  market: Market,
  { identity, rules, enabled, standing }: MarketTerms,
): Market => ({ ...market, ...NO_LIMITS, ...identity, ...rules, enabled, standing }) as Market

/** What the row says of limits does not hold with terms that state none. */
const NO_LIMITS = { minNotional: undefined, openOrderLimit: undefined }

/** A field of a market by its name in the market file, as text; `unset` is the text of a rule that does nothing. */
type FieldTexts<Of = MarketOpening> = readonly (readonly [
  field: string,
  text: (market: Of) => string,
  unset?: string,
])[]

const NONE = 'none'
const decimal = (value: bigint | undefined): string =>
  value === undefined ? NONE : formatDecimal(value, 18)

const FIELDS: FieldTexts = [
  ['ordinal', ({ identity }) => `${identity.ordinal}`],
  ['contract_type', ({ identity }) => identity.contractType],
  ['contract_multiplier', ({ identity }) => `${identity.contractMultiplier}`],
  ['amount_scale', ({ identity }) => `${identity.amountScale}`],
  ['maker_fee_bps', ({ identity }) => `${identity.makerFeeBps}`],
  ['asset', ({ identity }) => identity.assetAddress],
  ['sub_id', ({ identity }) => `${identity.subId}`],
  ['quote_asset', ({ identity }) => identity.quoteAssetAddress],
  ['trade_module', ({ identity }) => identity.tradeModuleAddress],
  ['margin_manager', ({ identity }) => identity.marginManagerAddress],
]

const RULE_FIELDS: FieldTexts<Pick<MarketOpening, 'rules'>> = [
  ['taker_fee_bps', ({ rules }) => `${rules.takerFeeBps}`],
  ['tick_size', ({ rules }) => decimal(rules.tickSize)],
  ['min_size', ({ rules }) => decimal(rules.minSize)],
  ['amount_step', ({ rules }) => decimal(rules.amountStep), NONE],
  ['min_notional', ({ rules }) => decimal(rules.minNotional ?? 0n), '0'],
  ['open_order_limit', ({ rules }) => `${rules.openOrderLimit ?? 0}`, '0'],
]

/** Rules that do something, by the names of the market file, in one line. */
export const describeRules = (rules: MarketRules): string =>
  RULE_FIELDS.flatMap(([field, text, unset]) => {
    const value = text({ rules })
    return value === unset ? [] : [`${field}=${value}`]
  }).join(' ')

/**
 * The first field of the identity, by its name in a market file, in which another opening of the market differs from this one, and
 * what this one says.
 */
export function identityDifference(
  opening: MarketOpening,
  other: MarketOpening,
): { readonly field: string; readonly text: string } | undefined {
  const differing = FIELDS.find(([, textOf]) => textOf(opening) !== textOf(other))
  return differing && { field: differing[0], text: differing[1](opening) }
}
