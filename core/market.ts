import type { Address } from './action.js'
import type { AmountE18, PriceE18 } from './money.js'

/** Texts and units of a market as section 2.2 of the interface presents them; none of them enters a computation. */
export interface MarketPresentation {
  readonly baseAssetSymbol: string
  readonly quoteAssetSymbol: string
  readonly displayName: string
  readonly displayLabel: string
  readonly settlementNote: string
  readonly uiPriceUnit: string
  readonly uiSizeUnit: string
  readonly uiSideMeaning: string
  readonly enginePriceUnit: string
  readonly engineAmountUnit: string
  readonly uiPriceToEngine: string
  readonly uiSizeToEngine: string
}

/** How `ui_intent` becomes an engine order: its public name and its orientation (decision C6). */
export interface OrderEntrySpec {
  readonly name: string
  readonly orientation: 'inverted' | 'identity'
}

/** One market of the venue: the market file joined with a deployment's addresses. */
export interface Market {
  /** Canonical identifier, for example `cNGN-USDC`. */
  readonly market: string
  /** Fixed position in the market file, never reused: the low byte of every trade id (decision D4). */
  readonly ordinal: number
  readonly enabled: boolean
  readonly contractType: 'spot' | 'perpetual' | 'future' | 'deliverable_fx_future'
  readonly settlementType?: 'cash_settled_perpetual' | 'cash_settled_future' | 'physical_delivery'
  /** Deprecated identifiers that still resolve, by exact match, until the configured cut-off. */
  readonly aliases: readonly string[]
  readonly tickSize: PriceE18
  /** Smallest size and at the same time the step of sizes. */
  readonly minSize: AmountE18
  /** `amount_step` of the market entry; futures only. */
  readonly amountStep?: AmountE18
  readonly contractMultiplier: bigint
  /** Signed amount per 1.0 of size: 1e18, on futures 1e15. */
  readonly amountScale: bigint
  readonly takerFeeBps: number
  readonly makerFeeBps: number
  readonly assetAddress: Address
  readonly subId: bigint
  readonly quoteAssetAddress: Address
  readonly tradeModuleAddress: Address
  readonly marginManagerAddress: Address
  readonly orderEntry?: OrderEntrySpec
  readonly presentation: MarketPresentation
}
