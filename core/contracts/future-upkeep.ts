import { priceE18 } from '../money.js'
import { blockTimeSec } from '../time.js'
import { fillBand, FIXING_SEC, MARK_INTERVAL_SEC, markTowards } from './future-prices.js'
import { rescueDuties } from './future-rescues.js'
import type { FutureTask, FutureUpkeep, SeriesUpkeep } from './future-work.js'
import type { Duty } from './upkeep.js'

/**
 * Upkeep of dated futures: marks, fixing, settlement, close-out, retirement, the variation margin that claims wait for, and what
 * is done about accounts that cannot carry what they have (future-rescues.ts).
 * Prices are cNGN per USDC at 1e18, all times unix seconds of the chain.
 */

/** Samples are recorded from this long before the fixing's hour: the newest one before it opens it. */
const EARLY_SEC = 300
/** Between two samples that are recorded, of a feed that is updated more often. */
const SAMPLE_EVERY_SEC = 30
/** Until a transaction is in a block; the band narrows meanwhile. */
const INCLUSION_SEC = 60
/** Accounts of one call, so that it fits into a block. */
export const ACCOUNTS_AT_ONCE = 20

/** What is due at the block; of one series at most one mark, and of one list of accounts one call. */
export const futureDuties = (seen: FutureUpkeep): Duty<FutureTask>[] => [
  ...seen.series.flatMap((series) => seriesDuties(seen, series)),
  ...seen.toOpen.map(openingDuty),
  ...variationDuties(seen),
  ...rescueDuties(seen),
]

const openingDuty = (expirySec: number): Duty<FutureTask> => ({
  job: 'next_series',
  subject: `series-${expirySec}`,
  task: { call: 'create_series', subId: BigInt(expirySec) },
})

function seriesDuties(seen: FutureUpkeep, series: SeriesUpkeep): Duty<FutureTask>[] {
  if (series.isSettled) return closingDuties(series)
  return [...markDuty(seen, series), ...sampleDuty(seen, series), ...settlementDuty(seen, series)]
}

function closingDuties({ subId, holders }: SeriesUpkeep): Duty<FutureTask>[] {
  if (holders.length === 0)
    return [{ job: 'retirement', subject: `series-${subId}`, task: { call: 'retire', subId } }]
  const accounts = holders.slice(0, ACCOUNTS_AT_ONCE)
  const task = { call: 'close_out', subId, accounts } as const
  return [{ job: 'close_out', subject: `series-${subId}`, task }]
}

function markDuty({ atSec, index }: FutureUpkeep, series: SeriesUpkeep): Duty<FutureTask>[] {
  const { subId, mark, markAtSec } = series
  const isOldEnough = atSec >= markAtSec + MARK_INTERVAL_SEC
  if (!index.isFresh || !isOldEnough || BigInt(atSec) >= subId) return []
  const band = fillBand(index.price, blockTimeSec(subId), atSec + INCLUSION_SEC)
  const next = markTowards(mark, index.price, band)
  if (next === undefined || next === mark) return []
  const task = { call: 'move_mark', subId, mark: next } as const
  return [{ job: 'mark', subject: `mark-${subId}`, task }]
}

/** A sample is a price of the feed that is newer than the last one, and of a time before expiry. */
function sampleDuty({ index }: FutureUpkeep, series: SeriesUpkeep): Duty<FutureTask>[] {
  const { subId, sampleAtSec } = series
  const expirySec = blockTimeSec(subId)
  if (index.price === 0n || index.atSec > expirySec) return []
  if (index.atSec < expirySec - FIXING_SEC - EARLY_SEC) return []
  if (index.atSec < sampleAtSec + SAMPLE_EVERY_SEC) return []
  const task = { call: 'record_index', subId } as const
  const sinceSec = Math.max(sampleAtSec + SAMPLE_EVERY_SEC, expirySec - FIXING_SEC - EARLY_SEC)
  return [{ job: 'fixing_sample', subject: `fixing-${subId}`, sinceSec, task }]
}

/** Where the fixing is incomplete the chain refuses it until the owner gives a price: it is late then, and says why. */
function settlementDuty({ atSec }: FutureUpkeep, { subId }: SeriesUpkeep): Duty<FutureTask>[] {
  if (BigInt(atSec) < subId) return []
  const task = { call: 'settle', subId } as const
  return [{ job: 'settlement', subject: `series-${subId}`, sinceSec: blockTimeSec(subId), task }]
}

/**
 * While claims exceed the pool, the debtors that can pay most, where they pay at least what one USDC is worth; all of it at
 * 1e18. Debtors without cNGN are not asked: only a cure makes them pay.
 */
function variationDuties({ index, accounts, pool }: FutureUpkeep): Duty<FutureTask>[] {
  const claims = accounts.reduce((sum, { variation }) => sum + max(variation, 0n), 0n)
  if (claims <= pool || index.price === 0n) return []
  const paying = accounts
    .map(({ id, variation, cngn }) => ({ id, pays: min(max(-variation, 0n), cngn) }))
    .filter(({ pays }) => pays >= index.price)
    .sort((a, b) => (a.pays < b.pays ? 1 : a.pays > b.pays ? -1 : 0))
  if (paying.length === 0) return []
  const ids = paying.slice(0, ACCOUNTS_AT_ONCE).map(({ id }) => id)
  const task = { call: 'settle_variation', accounts: ids } as const
  return [{ job: 'variation', subject: 'variation', task }]
}

/** The price of the index that is 0 while it has none. */
export const NO_INDEX = { price: priceE18(0n), atSec: 0, isFresh: false }

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const max = (a: bigint, b: bigint): bigint => (a > b ? a : b)
