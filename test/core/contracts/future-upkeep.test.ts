import { expect } from 'chai'
import fc from 'fast-check'
import { refusalOfMark } from '../../../core/contracts/future-prices.js'
import { ACCOUNTS_AT_ONCE, futureDuties } from '../../../core/contracts/future-upkeep.js'
import type {
  FutureUpkeep,
  SeriesUpkeep,
  UpkeepAccount,
} from '../../../core/contracts/future-work.js'
import { E18, priceE18 } from '../../../core/money.js'
import { runs } from '../../support/property-runs.js'

const EXPIRY_SEC = 1_796_047_200
const HOUR_SEC = 3_600
const price = (whole: bigint) => priceE18(whole * E18)
const fresh = (atSec: number, whole = 1_500n) => ({ price: price(whole), atSec, isFresh: true })

const aSeries = (overrides: Partial<SeriesUpkeep> = {}): SeriesUpkeep => ({
  subId: BigInt(EXPIRY_SEC),
  mark: price(1_500n),
  markAtSec: EXPIRY_SEC - 8 * HOUR_SEC,
  sampleAtSec: 0,
  isSettled: false,
  holders: [],
  ...overrides,
})

function seen(atSec: number, overrides: Partial<FutureUpkeep> = {}): FutureUpkeep {
  const index = fresh(atSec)
  return {
    atSec,
    index,
    series: [aSeries()],
    accounts: [],
    pool: 0n,
    initialRate: E18 / 10n,
    rescuers: [],
    mostUsd: 0n,
    toOpen: [],
    losses: new Map(),
    ...overrides,
  }
}

const jobsOf = (facts: FutureUpkeep) => futureDuties(facts).map(({ job }) => job)

describe('the upkeep of dated futures', () => {
  it('moves a mark once an hour, as far as it may, while the index is fresh', () => {
    const atSec = EXPIRY_SEC - 7 * HOUR_SEC
    const at = (whole: bigint, overrides: Partial<SeriesUpkeep> = {}) =>
      seen(atSec, { index: fresh(atSec, whole), series: [aSeries(overrides)] })
    const [duty] = futureDuties(at(1_520n))
    expect(duty?.task).to.deep.include({ call: 'move_mark', mark: price(1_520n) })
    const [far] = futureDuties(at(1_580n))
    expect(far?.task).to.deep.include({ call: 'move_mark', mark: price(1_575n) })
    // No move of 5 % reaches the band.
    expect(jobsOf(at(1_700n))).to.deep.equal([])
    expect(jobsOf(at(1_500n))).to.deep.equal([])
    expect(jobsOf(at(1_520n, { markAtSec: atSec - HOUR_SEC + 1 }))).to.deep.equal([])
    const stale = { ...fresh(atSec, 1_520n), isFresh: false }
    expect(jobsOf(seen(atSec, { index: stale }))).to.deep.equal([])
  })

  it('asks for marks that the contract accepts', () => {
    const hours = fc.integer({ min: 1, max: 400 })
    const whole = fc.bigInt({ min: 1_000n, max: 2_000n })
    fc.assert(
      fc.property(hours, whole, whole, (left, mark, index) => {
        const atSec = EXPIRY_SEC - left * HOUR_SEC
        const last = { price: price(mark), atSec: atSec - HOUR_SEC }
        const series = [aSeries({ mark: last.price, markAtSec: last.atSec })]
        const due = futureDuties(seen(atSec, { index: fresh(atSec, index), series }))
        for (const { task } of due) {
          if (task.call !== 'move_mark') continue
          const next = { price: task.mark, atSec }
          const terms = { index: price(index), expirySec: EXPIRY_SEC }
          expect(refusalOfMark(last, next, terms)).to.equal(undefined)
        }
      }),
      { numRuns: runs(200) },
    )
  })

  it('samples the index from before the last hour to expiry, each price once', () => {
    const settledMark = { markAtSec: EXPIRY_SEC }
    const at = (feedSec: number, sampleAtSec = 0, nowSec = feedSec) =>
      jobsOf(
        seen(nowSec, {
          index: fresh(feedSec),
          series: [aSeries({ ...settledMark, sampleAtSec })],
        }),
      )
    const begin = EXPIRY_SEC - HOUR_SEC - 300
    expect(at(begin - 1)).to.deep.equal([])
    expect(at(begin)).to.deep.equal(['fixing_sample'])
    expect(at(begin + 29, begin)).to.deep.equal([])
    expect(at(begin + 30, begin)).to.deep.equal(['fixing_sample'])
    // Delivered late, of a time before expiry.
    expect(at(EXPIRY_SEC, EXPIRY_SEC - 60, EXPIRY_SEC + 900)).to.include('fixing_sample')
    expect(at(EXPIRY_SEC + 1, EXPIRY_SEC - 60)).to.not.include('fixing_sample')
    const [late] = futureDuties(
      seen(EXPIRY_SEC, { series: [aSeries({ ...settledMark, sampleAtSec: EXPIRY_SEC - 200 })] }),
    )
    expect(late?.sinceSec).to.equal(EXPIRY_SEC - 170)
  })

  it('goes on with the others beside a series that ends after the last date', () => {
    const never = aSeries({ subId: 2n ** 64n - 1n })
    const due = seen(EXPIRY_SEC, { series: [never, aSeries()] })
    expect(jobsOf(due)).to.include('settlement')
  })

  it('settles at expiry, then closes a list at a time, then retires', () => {
    const past = { ...fresh(EXPIRY_SEC + 1), isFresh: true }
    const at = (overrides: Partial<SeriesUpkeep>, atSec = EXPIRY_SEC + 1) =>
      futureDuties(seen(atSec, { index: past, series: [aSeries(overrides)] }))
    expect(at({})).to.have.length(1)
    expect(at({})[0]).to.deep.include({ job: 'settlement', sinceSec: EXPIRY_SEC })
    expect(at({}, EXPIRY_SEC - 1).map(({ job }) => job)).to.not.include('settlement')
    const holders = Array.from({ length: ACCOUNTS_AT_ONCE + 5 }, (_, i) => BigInt(i))
    const [close, ...others] = at({ isSettled: true, holders })
    expect(others).to.deep.equal([])
    expect(close?.task).to.deep.equal({
      call: 'close_out',
      subId: BigInt(EXPIRY_SEC),
      accounts: holders.slice(0, ACCOUNTS_AT_ONCE),
    })
    expect(at({ isSettled: true }).map(({ job }) => job)).to.deep.equal(['retirement'])
  })

  it('settles variation of the debtors that can pay most, while claims wait for it', () => {
    const rest = { usdc: 0n, margin: 0n, positions: [] }
    const owes = (id: bigint, whole: bigint, cngn = 1_000_000n): UpkeepAccount => ({
      id,
      variation: -whole * E18,
      cngn: cngn * E18,
      ...rest,
    })
    const claim = { id: 1n, variation: 10_000n * E18, cngn: 0n, ...rest }
    const at = (accounts: readonly UpkeepAccount[], pool = 0n) =>
      futureDuties(seen(EXPIRY_SEC - 8 * HOUR_SEC, { accounts, pool: pool * E18 }))
    const [duty] = at([claim, owes(2n, 3_000n), owes(3n, 7_000n)])
    expect(duty?.task).to.deep.equal({ call: 'settle_variation', accounts: [3n, 2n] })
    expect(at([claim, owes(2n, 10_000n)], 10_000n)).to.deep.equal([])
    // Less than one USDC is worth, or no cNGN to pay with.
    expect(at([claim, owes(2n, 1_499n)])).to.deep.equal([])
    expect(at([claim, owes(2n, 10_000n, 0n)])).to.deep.equal([])
    const [many] = at([claim, ...Array.from({ length: 50 }, (_, i) => owes(BigInt(i), 2_000n))])
    const task = many?.task
    expect(task?.call === 'settle_variation' && task.accounts.length).to.equal(ACCOUNTS_AT_ONCE)
  })
})
