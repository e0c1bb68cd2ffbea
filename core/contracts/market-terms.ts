import { formatDecimal } from '../decimal.js'
import { quoteE18 } from '../money.js'
import type { Market } from './market.js'

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

/**
 * How a market trades now. `open`: orders are taken and match. `paused`: an operator has paused it; new orders are
 * refused. `held`: orders are taken and rest, nothing matches.
 */
export interface MarketStanding {
  readonly status: 'open' | 'paused' | 'held'
  /** Why; absent while it is open. */
  readonly reason?: string
}

/** A market as its feed states it: when it opens, and after each change of it. */
export interface MarketTerms extends MarketOpening {
  readonly standing: MarketStanding
}

/** The standing of a market that trades. */
export const OPEN: MarketStanding = Object.freeze({ status: 'open' })

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
    ...{ takerFeeBps, tickSize, minSize },
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

/** A market of the market file with what its log has fixed. */
export const withIdentity = (
  market: Market,
  { identity }: Pick<MarketOpening, 'identity'>,
): Market => ({ ...market, ...identity }) as Market

/** A market of the market file as its log states it; texts and aliases stay those of the file. */
export const withTerms = (
  market: Market,
  { identity, rules, enabled, standing }: MarketTerms,
): Market => ({ ...market, ...NO_LIMITS, ...identity, ...rules, enabled, standing }) as Market

/** What the row says of limits does not hold beside terms that state none. */
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

/** A field in which the market file and the market's log differ. */
interface Difference {
  readonly field: string
  readonly file: string
  readonly log: string
  /** What the operator does about it. */
  readonly cure: string
}

/** Every field in which a row of the market file differs from what the market's log says. */
export function differences(row: MarketOpening, logged: MarketOpening): Difference[] {
  const { market } = logged.identity
  const of = (fields: FieldTexts, cure: (field: string, texts: Texts) => string): Difference[] =>
    fields.flatMap(([field, textOf]) => {
      const texts = { file: textOf(row), log: textOf(logged) }
      return texts.file === texts.log ? [] : [{ field, ...texts, cure: cure(field, texts) }]
    })
  return [
    ...of(FIELDS, (field, { log }) => `${field} never changes: put ${log} back`),
    ...of(
      RULE_FIELDS,
      (field, { file, log }) =>
        `run ./venue market set ${market} ${field}=${file}, or put ${log} into the file`,
    ),
    ...of([['enabled', ({ enabled }) => `${enabled}`]], (_, { file, log }) => {
      const verb = file === 'true' ? 'enable' : 'disable'
      return `run ./venue market ${verb} ${market}, or put ${log} into the file`
    }),
  ]
}

type Texts = Pick<Difference, 'file' | 'log'>

/** A difference in one line. */
export const describeDifference = (
  market: string,
  { field, file, log, cure }: Difference,
): string => `${market}: ${field} is ${file} in the market file and ${log} in the log: ${cure}`
