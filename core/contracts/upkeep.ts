/**
 * The work that keeps the contracts of a market going, and that the chain leaves to any caller, or to a role. What is due is
 * decided from facts of one block; a contract type decides for itself (perpetual-upkeep.ts, future-upkeep.ts).
 */

/** Each kind of work, with how long after it is due it has to be done, in seconds. */
export const JOBS = {
  /** Funding accrues at the rate of the moment for the whole time since it was last touched. */
  funding: 20,
  /** An account below maintenance margin is put up for auction. */
  auction_start: 36,
  /** A solvent auction that found no bidder goes on as an insolvent one. */
  auction_conversion: 60,
  /** An auction that has restored the account, or that has to start anew, ends. */
  auction_end: 60,
  /** An auction without a bidder is bid in with an account of the keeper's. */
  auction_bid: 300,
  /** Positions of an account below maintenance margin are taken over by an account of the keeper's. */
  liquidation: 36,
  /** What an account owes in cNGN is paid for its USDC by an account of the keeper's. */
  cure: 900,
  /** A debt that nothing is left to pay ends: the insurance account bears it, or all claims. */
  loss: 900,
  /** The mark of a series follows its index, once an hour. */
  mark: 300,
  /** A sample of the index for the settlement price of a series; a gap of 300 s spoils it. */
  fixing_sample: 120,
  settlement: 300,
  /** Positions of a settled series are closed, a list at a time. */
  close_out: 900,
  /** A settled series without positions makes room for another. */
  retirement: 900,
  /** The series that the calendar names is opened on the chain. */
  next_series: 900,
  /** A series that is open on the chain is registered, and one that it has no more is disabled. */
  listing: 900,
  /** What debtors owe is paid into the pool, for claims that it cannot pay. */
  variation: 900,
} as const satisfies Readonly<Record<string, number>>

export type Job = keyof typeof JOBS

const OF_MARKET: ReadonlySet<Job> = new Set([
  ...(['funding', 'mark', 'fixing_sample', 'settlement', 'retirement'] as const),
  ...(['next_series', 'listing'] as const),
])

/** Whether a job is done once for all of a market or series. Of the others there is as much work as there are accounts. */
export const isOfMarket = (job: Job): boolean => OF_MARKET.has(job)

/** The share of a whole at 1e18: all of it. */
export const WHOLE = 10n ** 18n

/** A piece of work that is due. */
export interface Duty<Task = unknown> {
  readonly job: Job
  /** What it is about, within its contracts; of one subject at most one transaction is in flight. */
  readonly subject: string
  /** Since when it has been due, unix seconds of the chain; absent where the block's facts do not tell. */
  readonly sinceSec?: number
  readonly task: Task
}
