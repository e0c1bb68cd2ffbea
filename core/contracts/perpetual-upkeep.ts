import type { Duty } from './upkeep.js'

/** Upkeep of a perpetual: funding, and auctions of accounts that lack margin. All times unix seconds of the chain. */

/** Funding is due so long after it last accrued: with the time until it is late, and in a block, within a minute. */
export const FUNDING_AFTER_SEC = 35

/** An auction as it is at the block. */
export interface LiveAuction {
  readonly isInsolvent: boolean
  /** What a bidder would pay for all of the account, in cash at 1e18; zero or less once a solvent auction is over. */
  readonly price: bigint
  /** The contract would end it now. */
  readonly canEnd: boolean
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
}

export type PerpetualTask =
  | { readonly call: 'accrue_funding' }
  | { readonly call: 'start' | 'convert' | 'end'; readonly account: bigint }

/** What is due at the block; of one account at most one thing. */
export function perpetualDuties(seen: PerpetualUpkeep): Duty<PerpetualTask>[] {
  const { atSec, openInterest, fundingAtSec } = seen
  const dueSec = fundingAtSec + FUNDING_AFTER_SEC
  const funding: Duty<PerpetualTask>[] =
    openInterest > 0n && atSec >= dueSec
      ? [{ job: 'funding', subject: 'funding', sinceSec: dueSec, task: { call: 'accrue_funding' } }]
      : []
  const auctions = seen.hasAuctions ? seen.accounts.flatMap(auctionDuty) : []
  return [...auctions, ...funding]
}

function auctionDuty({ id, margin, auction }: MarginedAccount): Duty<PerpetualTask>[] {
  const subject = `account-${id}`
  const isBelow = margin !== undefined && margin < 0n
  if (auction === undefined)
    return isBelow ? [{ job: 'auction_start', subject, task: { call: 'start', account: id } }] : []
  if (auction.canEnd) return [{ job: 'auction_end', subject, task: { call: 'end', account: id } }]
  const isOver = !auction.isInsolvent && auction.price <= 0n
  return isOver && isBelow
    ? [{ job: 'auction_conversion', subject, task: { call: 'convert', account: id } }]
    : []
}
