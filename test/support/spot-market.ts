import type { Address } from '../../core/action.js'
import { E18, amountE18, priceE18 } from '../../core/money.js'
import type { Market } from '../../core/market.js'

const address = (digit: string): Address => `0x${digit.repeat(40)}`

/** A spot market like the venue's own, with addresses that mean nothing. */
export const spotMarket: Market = {
  market: 'cNGN-USDC',
  ordinal: 1,
  enabled: true,
  contractType: 'spot',
  aliases: ['USDCcNGN-SPOT'],
  tickSize: priceE18(1n),
  minSize: amountE18(E18 / 1_000_000n),
  contractMultiplier: 1n,
  amountScale: E18,
  takerFeeBps: 25,
  makerFeeBps: 0,
  assetAddress: address('a'),
  subId: 0n,
  quoteAssetAddress: address('b'),
  tradeModuleAddress: address('c'),
  marginManagerAddress: address('d'),
  orderEntry: { name: 'cngn_usdc_spot_v1', orientation: 'inverted' },
  presentation: {
    baseAssetSymbol: 'USDC',
    quoteAssetSymbol: 'cNGN',
    displayName: 'cNGN-USDC',
    displayLabel: 'cNGN per USDC',
    settlementNote: 'settled on chain',
    uiPriceUnit: 'cNGN per USDC',
    uiSizeUnit: 'USDC',
    uiSideMeaning: 'buy acquires USDC',
    enginePriceUnit: 'USDC per cNGN',
    engineAmountUnit: 'cNGN',
    uiPriceToEngine: 'engine_price = 1 / ui_price',
    uiSizeToEngine: 'engine_amount = ui_size * ui_price',
  },
}
