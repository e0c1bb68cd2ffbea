import type { Address } from '../action.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../money.js'

/** The kinds of contract that a market may trade. */
export type { ContractType } from '../../interface/market.js'

/** Texts and units of a market as a market entry presents them; none of them enters a computation. */
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

/** How `ui_intent` becomes an engine order: its public name and its orientation (ORD-052). */
export interface OrderEntrySpec {
  readonly name: string
  readonly orientation: 'inverted' | 'identity'
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

/** The standing of a market that trades. */
export const OPEN: MarketStanding = Object.freeze({ status: 'open' })

/** What every market has, whatever it trades. */
interface MarketBase {
  /** Canonical identifier, for example `cNGN-USDC`. */
  readonly market: string
  /** Reserved in the register of markets, never reused: what is left of every trade id when it is divided by 65,536 (REA-014). */
  readonly ordinal: number
  /** A disabled market takes no order and is not listed; its history stays readable. */
  readonly enabled: boolean
  readonly standing: MarketStanding
  /** Deprecated identifiers that still resolve, by exact match, until the configured cut-off. */
  readonly aliases: readonly string[]
  readonly tickSize: PriceE18
  /** Smallest size and at the same time the step of sizes. */
  readonly minSize: AmountE18
  readonly contractMultiplier: bigint
  /** Signed amount per 1.0 of size: 1e18, on futures 1e15. */
  readonly amountScale: bigint
  readonly takerFeeBps: number
  /** Least limit price times amount of an order; absent where there is no least. */
  readonly minNotional?: QuoteE18 | undefined
  /** Most live orders of one account; 0 where they are not limited any more, absent where they never were. */
  readonly openOrderLimit?: number | undefined
  readonly makerFeeBps: number
  readonly assetAddress: Address
  readonly subId: bigint
  readonly quoteAssetAddress: Address
  readonly tradeModuleAddress: Address
  readonly marginManagerAddress: Address
  readonly orderEntry?: OrderEntrySpec
  readonly presentation: MarketPresentation
}

/** Two balances change hands. */
export interface SpotMarket extends MarketBase {
  readonly contractType: 'spot'
  readonly settlementType: 'spot'
  readonly amountStep?: undefined
}

/** A position without expiry, margined and settled in the quote asset. */
export interface PerpetualMarket extends MarketBase {
  readonly contractType: 'perpetual'
  readonly settlementType: 'cash_settled_perpetual'
  readonly amountStep?: undefined
}

/** A dated position, settled in cash; its `subId` is its expiry in unix seconds. */
export interface FutureMarket extends MarketBase {
  readonly contractType: 'future'
  readonly settlementType: 'cash_settled_future'
  /** `amount_step` of the market entry. */
  readonly amountStep?: AmountE18
}

/** A dated position, settled by delivery; its `subId` is its expiry in unix seconds. */
export interface DeliverableMarket extends MarketBase {
  readonly contractType: 'deliverable_fx_future'
  readonly settlementType: 'physical_delivery'
  /** `amount_step` of the market entry. */
  readonly amountStep?: AmountE18
}

/** One market of the venue. */
export type Market = SpotMarket | PerpetualMarket | FutureMarket | DeliverableMarket
