import fc from 'fast-check'
import type { MarketPresentation } from '../../core/model/market.js'
import type { RegisterEntry, MarketTexts } from '../../core/contracts/market-register.js'
import type { MarketOpening, MarketRules, MarketTerms } from '../../core/model/market-terms.js'
import { amountE18, priceE18, quoteE18 } from '../../core/money.js'
import {
  anyAddress,
  anyAmount,
  anyMarketName,
  anyText,
  anyUint,
  withOptional,
} from './arbitrary-values.js'

const anyRules = withOptional<MarketRules, 'amountStep' | 'minNotional' | 'openOrderLimit'>(
  {
    takerFeeBps: fc.nat(10_000),
    tickSize: anyAmount.map(priceE18),
    minSize: anyAmount.map(amountE18),
    amountStep: anyAmount.map(amountE18),
    minNotional: anyAmount.map(quoteE18),
    openOrderLimit: fc.nat(100_000),
  },
  ['amountStep', 'minNotional', 'openOrderLimit'],
)
const openingFields = {
  identity: fc.record({
    market: anyMarketName,
    ordinal: fc.nat(65_535),
    contractType: fc.constant('spot' as const),
    contractMultiplier: anyUint,
    amountScale: anyUint,
    makerFeeBps: fc.nat(10_000),
    assetAddress: anyAddress,
    subId: anyUint,
    quoteAssetAddress: anyAddress,
    tradeModuleAddress: anyAddress,
    marginManagerAddress: anyAddress,
  }),
  rules: anyRules,
  enabled: fc.boolean(),
}
/** What a log begins with. */
export const anyOpening: fc.Arbitrary<MarketOpening> = fc.record(openingFields)
const anyPresentation: fc.Arbitrary<MarketPresentation> = fc.record({
  baseAssetSymbol: anyText,
  quoteAssetSymbol: anyText,
  displayName: anyText,
  displayLabel: anyText,
  settlementNote: anyText,
  uiPriceUnit: anyText,
  uiSizeUnit: anyText,
  uiSideMeaning: anyText,
  enginePriceUnit: anyText,
  engineAmountUnit: anyText,
  uiPriceToEngine: anyText,
  uiSizeToEngine: anyText,
})
/** A market as the register holds it. */
export const anyEntry: fc.Arbitrary<RegisterEntry> = fc.record({
  opening: anyOpening,
  texts: withOptional<MarketTexts, 'orderEntry'>(
    {
      aliases: fc.array(anyText, { maxLength: 3 }),
      orderEntry: fc.record({
        name: anyText,
        orientation: fc.constantFrom('inverted' as const, 'identity'),
      }),
      presentation: anyPresentation,
    },
    ['orderEntry'],
  ),
})
/** The terms that a block states. */
export const anyTerms: fc.Arbitrary<MarketTerms> = fc.record({
  ...openingFields,
  standing: fc.oneof(
    fc.constant({ status: 'open' as const }),
    fc.record({ status: fc.constantFrom('paused' as const, 'held'), reason: anyText }),
  ),
})

/** Rules of which any are stated. */
export const anyRulesChange = fc.record(
  {
    takerFeeBps: fc.nat(10_000),
    tickSize: anyAmount.map(priceE18),
    minSize: anyAmount.map(amountE18),
    amountStep: anyAmount.map(amountE18),
    minNotional: anyAmount.map(quoteE18),
    openOrderLimit: fc.nat(100_000),
  },
  { requiredKeys: [] },
)
