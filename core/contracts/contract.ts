import type { ContractEntry } from '../../interface/market.js'
import type { MarginAccount, PositionRecord } from '../../interface/position.js'
import type { CancelReason, MarketReason } from '../../interface/reasons.js'
import type { FillRecord } from '../../interface/trade.js'
import type { Codec } from '../wire/codec.js'
import type { LiveOrder } from '../model/live-order.js'
import type { Order, Side } from '../model/order.js'
import type { AmountE18, FeePerUnitE18, PriceE18, QuoteE18 } from '../money.js'
import type { Refusal } from '../entry/refusals.js'
import type { Hold, MarketHold } from '../model/hold.js'
import type { HeldFunds, ShownFunds } from './funds.js'
import type { IndexLag } from './index-lag.js'
import type { ListedContractTerms } from './listed-terms.js'
import type { VenueFaults } from './faults.js'
import type { ContractType, Market } from '../model/market.js'
import type { Match } from '../model/match.js'
import type {
  AccountFacts,
  MarketFacts,
  PositionFacts,
  RiskAccount,
  RiskSnapshot,
  Cost,
  MarketObservation,
  AccountObservation,
} from '../model/observation.js'

/**
 * What differs between the contract types: one frozen record each, picked once per market (registry.ts). The engine,
 * the order entry, the records and the read model ask this record and never the contract type.
 */
export interface Contract {
  readonly type: ContractType
  /** `settlement_type` of its markets. */
  readonly settlementType: Market['settlementType']
  /** Why no market of this type can be made of a row with this identifier and sub id. Absent where any fits. */
  readonly problemOf?: (row: Pick<Market, 'market' | 'subId'>) => string | undefined
  /** The chain takes no signed amount that is not a multiple of it. Absent where it takes any. */
  readonly signedStep?: bigint
  readonly trading: TradingRules
  readonly present: Presentation
}

/** Terms of a market that decide what a fill is worth and costs. They stand in the market's state and checkpoints. */
export type ContractTerms = Pick<Market, 'takerFeeBps'>

/** Everything by which orders of one contract type are judged, matched and settled. */
export interface TradingRules<Own extends OwnTypes = OpaqueTypes> {
  /** What a fill adds to `filled_quote`, rounded down (MON-024). */
  readonly quoteOf: (terms: ContractTerms, price: PriceE18, amount: AmountE18) => QuoteE18
  /** Symbol of the token in which `quoteOf` counts. */
  readonly quoteSymbol: (market: Market) => string
  /** The taker's total fee of one fill, rounded down (MON-016, MON-017); makers pay none. */
  readonly takerFee: (terms: ContractTerms, price: PriceE18, amount: AmountE18) => QuoteE18
  /** Fee per 1.0 of size, rounded as the chain compares it with the signed `worstFee` (MON-018). */
  readonly feePerUnit: (fee: QuoteE18, amount: AmountE18) => FeePerUnitE18
  /** Checks of an order after its signed words, in the order of ORD-027; the first refusal answers. */
  readonly restChecks: readonly RestCheck[]
  readonly means: Means<Own>
  /**
   * The hold of the whole market at its facts and time; undefined while it trades. Orders rest visibly meanwhile and
   * nothing crosses. Facts may be older by `spareMs`, 0 by default, than they may be where something can cross. Absent where nothing
   * holds a whole market.
   */
  readonly holdOf?: (
    facts: MarketObservation<Own['marketFacts']> | undefined,
    nowMs: number,
    spareMs?: number,
  ) => MarketHold<MarketReason> | undefined
  /**
   * What two crossing orders may match of `amount`, or which of them steps aside. Absent where amount and price alone
   * decide.
   */
  readonly pair?: (
    pair: CrossingPair,
    facts: MarketObservation<Own['marketFacts']> | undefined,
  ) => PairVerdict
  /**
   * The prices at which the chain fills at this time. An order that could be filled only at others rests visibly, is
   * passed over, and matches once a new observation allows it. Undefined while any price is allowed; absent where always.
   */
  readonly fillRange?: (
    facts: MarketObservation<Own['marketFacts']> | undefined,
    nowMs: number,
  ) => PriceRange | undefined
  /** Unix seconds at which trading of the market ends: every order ends with it. Absent where it does not end. */
  readonly lastTradeSec?: (market: Market) => number
  /**
   * Checks of an order against what the chain shows, after custody and signature, in the order of ORD-027; the
   * first refusal answers. An order that needs them must name an account of the market's manager, and what cannot be read
   * is answered 500. Absent where funds decide before each match alone.
   */
  readonly admission?: readonly AdmissionCheck<Own>[]
  /**
   * An order that its account's margin does not carry counts as refused: it is held back and cancelled by the rule of
   * refused settlements. Absent where it waits for its account.
   */
  readonly countsShortMargin?: true
  /** `cancel_reason` of an order that the chain keeps refusing with this revert (SET-020). */
  readonly cancelReason: (revert: string) => RefusalReason
  /** Reverts that no order causes, besides those that all contract types have in common (faults.ts). */
  readonly faults?: VenueFaults
  readonly wire: ContractWire<Own>
}

/** What an order says that only some contract types accept. */
export interface StatedOptions {
  readonly reduceOnly: boolean
}

/** Refuses an order of this market, or undefined when nothing speaks against it. */
export type RestCheck = (market: Market, stated: StatedOptions) => Refusal | undefined

/** Prices from `low` to `high`, both included. */
export interface PriceRange {
  readonly low: PriceE18
  readonly high: PriceE18
}

/** An order with what the chain showed when it came; undefined where that could not be read. */
export interface ObservedOrder<Own extends OwnTypes = OpaqueTypes> {
  readonly market: Market
  readonly order: Order
  readonly account: AccountObservation<Own['accountFacts']> | undefined
  readonly observed: MarketObservation<Own['marketFacts']> | undefined
  /** The index against a sample from outside; absent without a limit. */
  readonly indexLag?: IndexLag | undefined
}

/** Refuses an order, or undefined when nothing speaks against it. */
export type AdmissionCheck<Own extends OwnTypes = OpaqueTypes> = (
  admitted: ObservedOrder<Own>,
) => Refusal | undefined

/** Two orders that cross, the one that moves and the one that rests, and what both have left. */
export interface CrossingPair {
  readonly incoming: LiveOrder
  readonly resting: LiveOrder
  readonly amount: AmountE18
  /** Sum of the amounts of all matches of the market that await settlement. */
  readonly awaiting: AmountE18
}

/** The amount to match, or the order that steps aside: held, or cancelled for good. */
export type PairVerdict =
  | { readonly amount: AmountE18 }
  | { readonly aside: LiveOrder; readonly hold: Hold }
  | { readonly aside: LiveOrder; readonly cancelReason: CancelReason }

/** The `cancel_reason` of an order that is cancelled because the chain keeps refusing it (SET-020). */
export type RefusalReason = Extract<
  CancelReason,
  | 'insufficient_margin'
  | 'insufficient_balance'
  | 'signature_revoked'
  | 'fee_bound_too_low'
  | 'settlement_refused'
>

/** The types of a contract's own values: known to its record, opaque to everything else. */
export interface OwnTypes {
  readonly accountFacts: unknown
  readonly marketFacts: unknown
  readonly riskAccount: unknown
  readonly riskSnapshot: unknown
  readonly cost: unknown
}

export interface OpaqueTypes {
  readonly accountFacts: AccountFacts
  readonly marketFacts: MarketFacts
  readonly riskAccount: RiskAccount
  readonly riskSnapshot: RiskSnapshot
  readonly cost: Cost
}

/**
 * What an account has and has reserved. All methods are pure but for the risk account they are given. While an account was not
 * observed, nothing is known against it and everything fits.
 */
export interface Means<Own extends OwnTypes = OpaqueTypes> {
  /** A risk account of which nothing is known; `market` is the market's newest observation. */
  readonly openRiskAccount: (
    market: MarketObservation<Own['marketFacts']> | undefined,
  ) => Own['riskAccount']
  /** Counts a new observation of the market. Absent where an account's worth does not depend on it. */
  readonly revalue?: (
    riskAccount: Own['riskAccount'],
    market: MarketObservation<Own['marketFacts']>,
  ) => void
  /** Counts an observation that has just replaced the one before; an earlier block is as good, for the chain may go back. */
  readonly observe: (
    riskAccount: Own['riskAccount'],
    observed: AccountObservation<Own['accountFacts']>,
  ) => void
  /**
   * What a match takes from the order, its fee included. It follows from the order's and the match's terms alone, so that
   * what is released is what was reserved.
   */
  readonly costOf: (order: LiveOrder, match: Match) => Own['cost']
  /** Why the risk account cannot carry one more match of the order; `cost` is what the match takes from it. */
  readonly shortOfMatch: (
    riskAccount: Own['riskAccount'],
    order: LiveOrder,
    cost: Own['cost'],
    match: Match,
  ) => Hold | undefined
  /** Why an order that is about to rest may not be open: its account could not carry it if all of it were hit. */
  readonly shortToOpen: (riskAccount: Own['riskAccount'], order: LiveOrder) => Hold | undefined
  /**
   * Why an open order may not stay open. What is reserved counts as still there: its settlement may be in the observation
   * already and be reported only next, and an order must not leave and return for that.
   */
  readonly shortToStay: (riskAccount: Own['riskAccount'], order: LiveOrder) => Hold | undefined
  /** Whether an order that waits with this hold has got what it waits for. */
  readonly hasEnough: (riskAccount: Own['riskAccount'], order: LiveOrder, hold: Hold) => boolean
  /** `cancel_reason` of an order that its account has left without purpose. Absent where there is no such order. */
  readonly endOf?: (riskAccount: Own['riskAccount'], order: LiveOrder) => CancelReason | undefined
  /** A match of the order awaits settlement. */
  readonly reserve: (riskAccount: Own['riskAccount'], order: LiveOrder, cost: Own['cost']) => void
  /** A match of the order has an outcome, whatever it is. */
  readonly release: (riskAccount: Own['riskAccount'], order: LiveOrder, cost: Own['cost']) => void
  /** A match of the order was settled in this block; an observation of an earlier block does not show it. */
  readonly settle: (riskAccount: Own['riskAccount'], order: LiveOrder, match: SettledMatch) => void
  /** The chain has lost a settled match of the order. */
  readonly unsettle: (
    riskAccount: Own['riskAccount'],
    order: LiveOrder,
    match: SettledMatch,
  ) => void
  readonly snapshot: (riskAccount: Own['riskAccount']) => Own['riskSnapshot']
  /** The inverse of snapshot, given what was observed at that moment. */
  readonly restore: (kept: Own['riskSnapshot'], seen: NewestFacts<Own>) => Own['riskAccount']
  /** Throws unless the risk account's derived values follow from `reserved`, all costs that await settlement. For tests. */
  readonly check: (
    riskAccount: Own['riskAccount'],
    reserved: readonly ReservedCost<Own['cost']>[],
  ) => void
}

/** The newest observations of an account and of its market, as far as there are any. */
export interface NewestFacts<Own extends OwnTypes = OpaqueTypes> {
  readonly observed: AccountObservation<Own['accountFacts']> | undefined
  readonly market: MarketObservation<Own['marketFacts']> | undefined
}

/** A match with the block in which it was settled. */
export interface SettledMatch {
  readonly match: Match
  readonly blockNumber: bigint
}

/** A cost with the order that it is taken from. */
export interface ReservedCost<OwnCost = Cost> {
  readonly order: LiveOrder
  readonly cost: OwnCost
}

/** How the contract's own values stand in messages, logs and checkpoints. */
export interface ContractWire<Own extends OwnTypes = OpaqueTypes> {
  readonly accountFacts: Codec<Own['accountFacts']>
  readonly marketFacts: Codec<Own['marketFacts']>
  readonly riskAccount: Codec<Own['riskSnapshot']>
}

/** What the public sees that only this contract type has. */
export interface Presentation {
  /** Further members of the market entry. */
  readonly marketEntry: (
    market: Market,
    observed?: MarketObservation,
    indexLag?: IndexLag,
  ) => ContractEntry
  /** Decimals with which prices and sizes in trader terms are shown. */
  readonly uiDecimals: { readonly price: number; readonly size: number }
  /** Whether `GET /v1/integrations/tickers` serves the market (REA-021). */
  readonly hasTicker: boolean
  /** `type` of its symbol on a chart of TradingView's. */
  readonly chartType: 'crypto' | 'swap' | 'futures'
  /** What listing sites are shown of its contract. Absent where the market is a pair of assets, or takes no orders. */
  readonly listedContract?: ListedContractTerms
  /** Unix seconds at which its contract ends. Absent where it does not end. */
  readonly expirySec?: (market: Market) => number
  /** What trades of an account move, or the exposure that they open, without fees. */
  readonly movesOf: (trades: readonly AccountTrade[]) => Moves
  /** Margin of an account of these facts after trades of it. Absent where no margin decides. */
  readonly marginAfter?: (
    held: JudgedAccount,
    trades: readonly AccountTrade[],
  ) => MarginStanding | undefined
  /** Further members of a fill, for the order's own side. Absent where there are none. */
  readonly fill?: (fill: MarkedFill) => MarkFields
  /** What `GET /v1/marks` and `GET /v1/funding` serve. Absent where nothing values positions. */
  readonly prices?: MarketPrices
  /** An account of the market as `GET /v1/positions` shows it. Absent where that does not serve the market. */
  readonly positions?: (held: HeldAccount) => HeldRecords
  /** What an account holds in the market, as `GET /v1/balances` shows it. Absent where that does not serve the market. */
  readonly funds?: (held: HeldFunds) => ShownFunds
}

/** One trade as one of its accounts sees it; the fee is what the account pays. */
export interface AccountTrade {
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
  readonly fee: QuoteE18
}

/** Signed amounts at 1e18: what an account gains and gives. */
export interface Moves {
  readonly usdc: bigint
  readonly cngn: bigint
}

/** What the chain shows of an account and its market, as the engine judges it. */
export interface JudgedAccount {
  readonly observed: MarketObservation
  readonly facts: AccountFacts
}

/** Margin of an account; signed, in USDC at 1e18. */
export interface MarginStanding {
  /** Engine amount at 1e18, signed: positive is long. */
  readonly position: bigint
  readonly initialSurplus: bigint
  readonly maintenanceSurplus: bigint
  /** At 1e10; absent where there is no such price. */
  readonly liquidationPriceE10?: bigint
}

/** Prices of a market on the chain, whose history is kept. */
export interface MarketPrices {
  /** Whether long and short positions pay each other funding. */
  readonly hasFunding: boolean
  /** Undefined while the chain has no price that counts. */
  readonly at: (facts: MarketFacts) => PricesAt | undefined
}

/** Prices at 1e18 of one block. */
export interface PricesAt {
  readonly mark: PriceE18
  /** Absent before the first. */
  readonly index?: PriceE18
  /** Of one hour, signed, at 1e18: positive when longs pay. Only where there is funding. */
  readonly fundingRate?: bigint
}

/** An account of a market, every fact of one block. */
export interface HeldAccount {
  readonly market: Market
  readonly subaccountId: bigint
  readonly observed: MarketObservation
  readonly facts: PositionFacts
  /** What the venue's own fills of the account add up to; undefined when there are none. */
  readonly entry: PositionEntry | undefined
}

/** The position that the venue's own fills of an account in one market add up to. */
export interface PositionEntry {
  /** Signed, at 1e18: positive is long. */
  readonly size: bigint
  /**
   * Σ price × size of what is open, with the sign of the size, at 1e36. A reduction takes its share of it, truncated
   * toward zero. Undefined after a reversed fill, until the position is flat again.
   */
  readonly cost: bigint | undefined
}

export interface HeldRecords {
  /** Absent without a position. */
  readonly position?: PositionRecord
  readonly account: MarginAccount
}

/** One order's leg of a fill, with the mark at which the chain booked it. */
export interface MarkedFill {
  readonly side: Side
  readonly price: PriceE18
  readonly amount: AmountE18
  readonly markPrice: PriceE18
}

/** Members of a fill record. */
export type MarkFields = Required<Pick<FillRecord, 'mark_price' | 'vm_cngn'>>

/** Hides the own types of a contract from everything outside its record. */
export const sealTrading = <Own extends OwnTypes>(trading: TradingRules<Own>): TradingRules =>
  Object.freeze(trading) as unknown as TradingRules
