import { mulDivFloor } from '../money.js'
import { WHOLE, type Duty } from './upkeep.js'

/** Upkeep of a perpetual: funding, and auctions of accounts that lack margin. All times unix seconds of the chain. */

/** Funding is due so long after it last accrued: with the time until it is late, and in a block, within a minute. */
export const FUNDING_AFTER_SEC = 35

/** So long others have to bid before the keeper does. */
export const BID_AFTER_SEC = 60
/** So long the bidders stay with the same auctions where there are too few of them: a bid is mined meanwhile. */
export const BID_TURN_SEC = 60

/** An auction as it is at the block. */
export interface LiveAuction {
  readonly isInsolvent: boolean
  /**
   * What a bidder would pay for all of the account, in cash at 1e18: zero or less once a solvent auction is over, negative
   * where the bidder is paid. Undefined while the chain cannot price it.
   */
  readonly price: bigint | undefined
  /** The contract would end it now. */
  readonly canEnd: boolean
  readonly startedAtSec: number
  /** Margin surplus at which a solvent auction ends, and what earlier bids have paid, in cash at 1e18. */
  readonly bufferMargin: bigint
  readonly reservedCash: bigint
}

/** An account of the keeper's that may bid. */
export interface Bidder {
  readonly id: bigint
  /** At 1e18. */
  readonly cash: bigint
  /** It holds nothing else: the contract takes bids of no other. */
  readonly isCashOnly: boolean
}

/** An account that has a position. */
export interface MarginedAccount {
  readonly id: bigint
  /** Maintenance margin surplus in cash at 1e18; undefined while the chain cannot price it. */
  readonly margin: bigint | undefined
  /** Absent where none is live. */
  readonly auction?: LiveAuction
}

export interface PerpetualUpkeep {
  readonly atSec: number
  /** Contracts at 1e18. */
  readonly openInterest: bigint
  readonly fundingAtSec: number
  /** No auction can start without the contract that holds it. */
  readonly hasAuctions: boolean
  readonly accounts: readonly MarginedAccount[]
  /** Empty where the keeper bids in no auction. */
  readonly bidders: readonly Bidder[]
  /** Most cash that one bid may commit, at 1e18: what it pays, and the margin that what it buys needs. */
  readonly mostCash: bigint
}

export type PerpetualTask =
  | { readonly call: 'accrue_funding' }
  | { readonly call: 'start' | 'convert' | 'end'; readonly account: bigint }
  | {
      readonly call: 'bid'
      readonly account: bigint
      readonly by: bigint
      /** Of the account, at 1e18; the contract sells no more than restores it. */
      readonly portion: bigint
      /** Most cash that it pays, at 1e18. */
      readonly most: bigint
    }

/** What is due at the block; of one account at most one thing. */
export function perpetualDuties(seen: PerpetualUpkeep): Duty<PerpetualTask>[] {
  const { atSec, openInterest, fundingAtSec } = seen
  const dueSec = fundingAtSec + FUNDING_AFTER_SEC
  const funding: Duty<PerpetualTask>[] =
    openInterest > 0n && atSec >= dueSec
      ? [{ job: 'funding', subject: 'funding', sinceSec: dueSec, task: { call: 'accrue_funding' } }]
      : []
  const auctions = seen.hasAuctions ? seen.accounts.flatMap(auctionDuty) : []
  const busy = new Set(auctions.map(({ subject }) => subject))
  const bids = bidDuties(seen).filter(({ subject }) => !busy.has(subject))
  return [...auctions, ...bids, ...funding]
}

const subjectOf = (id: bigint): string => `account-${id}`

function auctionDuty({ id, margin, auction }: MarginedAccount): Duty<PerpetualTask>[] {
  const subject = subjectOf(id)
  const isBelow = margin !== undefined && margin < 0n
  if (auction === undefined)
    return isBelow ? [{ job: 'auction_start', subject, task: { call: 'start', account: id } }] : []
  if (auction.canEnd) return [{ job: 'auction_end', subject, task: { call: 'end', account: id } }]
  return isOver(auction) && isBelow
    ? [{ job: 'auction_conversion', subject, task: { call: 'convert', account: id } }]
    : []
}

/** A solvent auction that has found no bidder. */
const isOver = ({ isInsolvent, price }: LiveAuction): boolean =>
  !isInsolvent && price !== undefined && price <= 0n

/**
 * A bid in each auction that has waited for one, as long as there are bidders: each bids once, the one with most cash in the
 * oldest. Where more auctions wait than there are bidders, they take turns, so that one in which no bid succeeds keeps none
 * from the others. Where none of them may bid, the first tries, so that the chain says why not.
 */
function bidDuties({ atSec, accounts, bidders, mostCash }: PerpetualUpkeep): Duty<PerpetualTask>[] {
  const own = new Set(bidders.map(({ id }) => id))
  const able = bidders
    .filter(({ isCashOnly, cash }) => isCashOnly && cash > 0n)
    .sort((a, b) => (a.cash < b.cash ? 1 : a.cash > b.cash ? -1 : 0))
  const waiting = accounts
    .flatMap(({ id, margin, auction }) => {
      if (own.has(id) || margin === undefined || auction === undefined) return []
      if (auction.canEnd) return []
      const sinceSec = auction.startedAtSec + BID_AFTER_SEC
      const needed = isOver(auction) ? undefined : cashFor(auction, margin)
      return needed === undefined || atSec < sinceSec ? [] : [{ id, sinceSec, needed }]
    })
    .sort((a, b) => a.sinceSec - b.sinceSec)
  const turn = waiting.length > able.length ? Math.floor(atSec / BID_TURN_SEC) % waiting.length : 0
  const inTurn = [...waiting.slice(turn), ...waiting.slice(0, turn)]
  return inTurn.flatMap(({ id, sinceSec, needed }, i): Duty<PerpetualTask>[] => {
    const by = able[i] ?? (able.length === 0 && i === 0 ? bidders[0] : undefined)
    if (by === undefined) return []
    const portion = portionOf(needed, by.cash < mostCash ? by.cash : mostCash)
    const task = { call: 'bid', account: id, by: by.id, portion, most: mostCash } as const
    return [{ job: 'auction_bid', subject: subjectOf(id), sinceSec, task }]
  })
}

/** Cash that a bidder for all of the account must hold, at 1e18; undefined without a price. */
function cashFor(
  { isInsolvent, price, bufferMargin, reservedCash }: LiveAuction,
  margin: bigint,
): bigint | undefined {
  if (price === undefined) return undefined
  return price + abs(isInsolvent ? margin : bufferMargin - reservedCash)
}

/** What such cash buys, rounded down; all where it buys nothing, so that the chain says what is missing. */
function portionOf(needed: bigint, cash: bigint): bigint {
  if (needed <= cash) return WHOLE
  const portion = cash <= 0n ? 0n : mulDivFloor(WHOLE, cash, needed)
  return portion === 0n ? WHOLE : portion
}

const abs = (value: bigint): bigint => (value < 0n ? -value : value)
