import type { RpcLog } from 'viem'
import type { Address, Hex } from '../../core/action.js'
import type { CapacityClaim, FillTerms, MatchTerms } from '../../core/contracts/claims.js'
import type { FuturesCalendar } from '../../core/contracts/future-calendar.js'
import type { FundsFacts } from '../../core/contracts/funds.js'
import type { Liquidation } from '../../core/contracts/liquidation.js'
import type { Duty } from '../../core/contracts/upkeep.js'
import type { CloseOut } from '../../core/model/close-out.js'
import type { Market } from '../../core/model/market.js'
import type { MatchSide } from '../../core/model/match.js'
import type { AccountFacts, MarketFacts, PositionFacts } from '../../core/model/observation.js'
import type { AmountE18, PriceE18, QuoteE18 } from '../../core/money.js'
import type { EventFilter } from '../reads/logs.js'
import type { PlainCalls } from '../reads/plain-calls.js'

/** Reads at one block, and the contract that holds the accounts. */
export interface BlockCalls extends PlainCalls {
  readonly matching: Address
}

/** Reads about one account at one block. */
export interface AccountCalls extends BlockCalls {
  readonly subaccountId: bigint
  /** The manager that the account is under; the zero address when there is no such account. */
  readonly manager: () => Promise<Address>
  /** The account's balance of an asset, signed, in 1e-18 units. */
  readonly balance: (asset: Address, subId: bigint) => Promise<bigint>
  /** All that the account holds, in no particular order. */
  readonly holdings: () => Promise<readonly AssetBalance[]>
}

/** A balance of an account, signed, in 1e-18 units; never 0. */
export interface AssetBalance {
  readonly asset: Address
  readonly subId: bigint
  readonly balance: bigint
}

/** An account that holds one of the assets that are kept, at one block. */
export interface Holder {
  readonly id: bigint
  readonly manager: Address
  /** All that it holds. */
  readonly holdings: readonly AssetBalance[]
}

/** Reads at one block about upkeep. */
export interface UpkeepCalls extends BlockCalls {
  /** Time of the block, unix seconds. */
  readonly atSec: number
  /** All accounts that hold an asset of any market that is kept, or owe or are owed under its manager. */
  readonly holders: readonly Holder[]
  /** The accounts with which the keeper takes over what others cannot carry, whatever they hold; none where it does not. */
  readonly rescuers: readonly Holder[]
  /** Most that one takeover may bind of them, in USD at 1e18. */
  readonly mostUsd: bigint
  /** By whom the work is done. */
  readonly keeper: Address
  /** All registered markets, and the calendar of their series. */
  readonly markets: readonly Market[]
  readonly calendar: FuturesCalendar
}

/** A call that does what is due; the caller pays its gas, and what an account of its own takes over. */
export interface UpkeepCall {
  readonly to: Address
  readonly data: Hex
}

/** Events of one contract that begin their data, or their topics, with the account that they concern. */
export interface AccountEvents {
  readonly address: Address
  /** The first topics of these events. */
  readonly events: readonly Hex[]
}

/**
 * What differs on the chain between contract types. Custody, signers, expiry and the events of the trade module are
 * common to all of them, and are read elsewhere.
 */
export interface ChainContract {
  /** `seen` are the facts of the market at the same block; undefined where the contract type has none. */
  readonly readFacts: (
    market: Market,
    account: AccountCalls,
    seen: MarketFacts | undefined,
  ) => Promise<AccountFacts>
  /**
   * What `GET /v1/positions` shows of an account that is under the market's manager; `seen` are the facts of the market at
   * the same block. Absent where that does not serve the market.
   */
  readonly readPosition?: (
    market: Market,
    account: AccountCalls,
    seen: MarketFacts,
  ) => Promise<PositionFacts>
  /**
   * What `GET /v1/balances` shows of an account that is under the market's manager; `seen` are the facts of the market at
   * the same block. Absent where that does not serve the market.
   */
  readonly readFunds?: (
    market: Market,
    account: AccountCalls,
    seen: MarketFacts | undefined,
  ) => Promise<FundsFacts>
  /**
   * What of the market's wiring, which nothing changes at runtime, is not as its row says; undefined when all of it is.
   * Absent where there is nothing to compare.
   */
  readonly readWiring?: (market: Market, block: BlockCalls) => Promise<string | undefined>
  /** Absent where the engine needs no facts of the market itself. */
  readonly readMarketFacts?: (market: Market, block: BlockCalls) => Promise<MarketFacts>
  /**
   * Reads what no cache may hold of the facts of a market; the result puts it in their place. Absent where all of them may
   * be cached.
   */
  readonly readUncached?: (
    market: Market,
    block: BlockCalls,
  ) => Promise<(facts: MarketFacts) => MarketFacts>
  /**
   * Events that change the facts of an account, at the addresses that the market's facts name. A change of any balance and
   * of custody needs none. Absent where nothing else changes them.
   */
  readonly accountEvents?: (facts: MarketFacts) => AccountEvents | undefined
  /** Whether a change of the market's facts makes those of every account old. Absent where it never does. */
  readonly outdatesAccounts?: (before: MarketFacts, now: MarketFacts) => boolean
  /**
   * The quote that the trade module states for a fill, by reads of one block; truncated as there. Absent where it is the
   * quote of the match. Rejects when the block's state cannot be read.
   */
  readonly statedQuote?: (
    market: Market,
    fill: Pick<FillTerms, 'price' | 'amountFilled'>,
    block: PlainCalls,
  ) => Promise<bigint>
  /**
   * Reads by what other than a fill a transaction may move a position of the market's accounts; the result names it from
   * the addresses that logged in the transaction, undefined for none. Absent where accounts have no positions.
   */
  readonly readMovers?: (
    market: Market,
    block: PlainCalls,
  ) => Promise<(loggedBy: ReadonlySet<Address>) => string | undefined>
  /** Whether prices of the chain alone change the facts, so that the account is read in every block. Absent where never. */
  readonly isPriced?: (account: AccountFacts) => boolean
  /** Reads what claims are made of in place of the market's facts; undefined where they need nothing. */
  readonly readClaimFacts?: (market: Market, block: BlockCalls) => Promise<MarketFacts | undefined>
  /**
   * What a match takes out of its accounts at worst, at the market's facts of the block whose capacities it is held
   * against. Undefined when these facts do not tell.
   */
  readonly claimsOf: (
    market: Market,
    terms: MatchTerms,
    seen: MarketFacts | undefined,
  ) => readonly CapacityClaim[] | undefined
  /** What an account has of a capacity, at one block. Absent where no key names a part of the market. */
  readonly capacityOf?: (part: string, account: AccountFacts, seen: MarketFacts) => bigint
  readonly solvency: Solvency
  /** How the chain closes positions by itself. Absent where it closes none at a settlement price. */
  readonly closing?: CloseOutEvents
  /** How the chain liquidates accounts. Absent where it does not. */
  readonly liquidating?: LiquidationEvents
  /**
   * What the contracts that hold the market's positions need done at the block; those of markets with the same asset and
   * manager, once for all of them. Absent where they need nothing.
   */
  readonly readDuties?: (market: Market, block: UpkeepCalls) => Promise<readonly Duty<UpkeepCall>[]>
  /**
   * Whether an account that holds none of the market's asset needs its upkeep nevertheless, because it owes or is owed. Absent
   * where only positions do.
   */
  readonly hasLedger?: (
    market: Pick<Market, 'marginManagerAddress'>,
    id: bigint,
    block: PlainCalls,
  ) => Promise<boolean>
  /**
   * Expiries of the series of the market's asset that the chain has, where the keeper's key opens them; undefined where another
   * does. Absent where there are no series.
   */
  readonly readOwnSeries?: (
    market: Market,
    block: PlainCalls,
    keeper: Address,
  ) => Promise<ReadonlySet<bigint> | undefined>
  /**
   * What of the upkeep the keeper's key may not do, with the cure; undefined where it may do all. Absent where any caller may.
   */
  readonly readKeeperFault?: (
    market: Market,
    block: PlainCalls,
    keeper: Address,
  ) => Promise<string | undefined>
  /** Absent where the trade module states no mark. */
  readonly reportedMark?: ReportedMark
  /**
   * A small match between two accounts that hold nothing but what they bring, at a price that the chain takes now; a text that
   * says why there is none. Absent where no match can be tried. Rejects where a price cannot be read.
   */
  readonly readTrial?: (market: Market, block: BlockCalls) => Promise<Trial | string>
  /**
   * An asset that accounts of the market may post besides what it trades; undefined for none. Absent where accounts post nothing
   * else.
   */
  readonly readCollateral?: (market: Market, block: PlainCalls) => Promise<Address | undefined>
  /** Sub ids of the market's asset that are open and expire after a time, in unix seconds. Absent where there are no series. */
  readonly readSeriesAfter?: (
    market: Market,
    block: PlainCalls,
    atSec: number,
  ) => Promise<readonly bigint[]>
}

/** A match that is tried, and what it needs. */
export interface Trial {
  readonly price: PriceE18
  /** The size, in units of the market. */
  readonly amount: AmountE18
  /** In the escrow of each asset, in 1e-18 units; enough for the match and the taker's fee. The buyer is the taker. */
  readonly buyer: readonly Brought[]
  readonly seller: readonly Brought[]
  /** What of the quote asset the buyer pays the seller, fees aside. */
  readonly paid: QuoteE18
}

/** A balance with which an account begins, in 1e-18 units. */
export interface Brought {
  readonly asset: Address
  readonly amount: bigint
}

/** Close-outs of a market's positions, of which the chain tells by events. */
export interface CloseOutEvents {
  /** Whether the chain may have closed a position by the block of these facts. */
  readonly hasBegun: (seen: MarketFacts) => boolean
  /** The event with which the contract tells. */
  readonly eventOf: (market: Market) => EventFilter
  /** What an event says; throws for one of another form. */
  readonly read: (
    log: Pick<RpcLog, 'topics' | 'data'>,
  ) => Pick<CloseOut, 'subaccountId' | 'position' | 'price' | 'variation'>
  /** Whether a position may be left to be closed. */
  readonly isAnyLeft: (market: Market, block: PlainCalls) => Promise<boolean>
}

/** Liquidations of accounts, of which the chain tells by events. */
export interface LiquidationEvents {
  /** The events that tell, by the facts of the market; undefined where there is no contract that liquidates. */
  readonly eventsOf: (market: Market, seen: MarketFacts) => EventFilter | undefined
  /**
   * What these events say to the market, one for each in their order; throws for one of another form. Rejects unless the node
   * answers.
   */
  readonly read: (
    market: Market,
    events: readonly PlacedEvent[],
    reads: LiquidationReads,
  ) => Promise<readonly ToldLiquidation[]>
}

/** An event and where the chain holds it. */
export interface PlacedEvent extends Pick<RpcLog, 'topics' | 'data'> {
  readonly address: Address
  readonly txHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: bigint
  readonly logIndex: number
}

/** What an event says of a liquidation, without its place. */
export type ToldLiquidation = Omit<
  Liquidation,
  'market' | 'txHash' | 'blockHash' | 'logIndex' | 'blockNumber' | 'blockTimeSec'
>

/** Reads beside the events of a liquidation. */
export interface LiquidationReads {
  readonly subAccounts: Address
  /** The events of the blocks from the first of these to the last of them. */
  readonly events: (
    filter: EventFilter,
    among: readonly PlacedEvent[],
  ) => Promise<readonly PlacedEvent[]>
  /** An account's balance of an asset after the block of an event, signed; undefined for a block that is too old to be read. */
  readonly balance: (
    subaccountId: bigint,
    of: { readonly asset: Address; readonly subId: bigint },
    at: PlacedEvent,
  ) => Promise<bigint | undefined>
}

/** The event with which a trade module reports a match and the mark at which it was booked. */
export interface ReportedMark {
  readonly topic: Hex
  /** Undefined when none of the events is of the match. */
  readonly markOf: (
    logs: readonly { readonly data: Hex }[],
    market: Market,
    terms: MatchTerms,
  ) => PriceE18 | undefined
}

/** With these reverts the chain refuses a side that lacks what the match asks of it; that it does proves its guilt. */
export interface Solvency {
  readonly reverts: readonly string[]
  /** Whether a side by itself lacks nothing. Rejects when the chain does not answer. */
  readonly isSolvent: (side: SideOfMatch, reads: SolvencyReads) => Promise<boolean>
}

/** One side of a match with a single maker. */
export interface SideOfMatch {
  readonly market: Market
  readonly terms: MatchTerms
  readonly side: MatchSide
}

/** Reads of the newest block. */
export interface SolvencyReads {
  /** The facts of an account, and of its market where the contract type has any, at one block. */
  readonly observe: (
    market: Market,
    subaccountId: bigint,
  ) => Promise<{ readonly account: AccountFacts; readonly market: MarketFacts | undefined }>
}
