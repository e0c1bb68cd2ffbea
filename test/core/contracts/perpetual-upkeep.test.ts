import { expect } from 'chai'
import fc from 'fast-check'
import {
  BID_AFTER_SEC,
  BID_TURN_SEC,
  FUNDING_AFTER_SEC,
  perpetualDuties,
  type Bidder,
  type LiveAuction,
  type MarginedAccount,
  type PerpetualUpkeep,
} from '../../../core/contracts/perpetual-upkeep.js'
import { JOBS } from '../../../core/contracts/upkeep.js'
import { runs } from '../../support/property-runs.js'

const AT_SEC = 1_800_000_000
const seen = (overrides: Partial<PerpetualUpkeep> = {}): PerpetualUpkeep => ({
  atSec: AT_SEC,
  openInterest: 1n,
  fundingAtSec: AT_SEC,
  hasAuctions: true,
  accounts: [],
  bidders: [],
  mostCash: 0n,
  ...overrides,
})
const solvent: LiveAuction = {
  isInsolvent: false,
  price: 5n,
  canEnd: false,
  startedAtSec: AT_SEC - BID_AFTER_SEC,
  bufferMargin: -3n,
  reservedCash: 0n,
}
const bidder = (id: bigint, overrides: Partial<Bidder> = {}): Bidder => ({
  id,
  cash: 100n,
  isCashOnly: true,
  ...overrides,
})
const jobsOf = (overrides: Partial<PerpetualUpkeep>) =>
  perpetualDuties(seen(overrides)).map(({ job }) => job)
const jobOf = (account: Partial<MarginedAccount>) =>
  jobsOf({ accounts: [{ id: 7n, margin: 1n, ...account }] })

describe('the upkeep of a perpetual', () => {
  it('accrues funding within a minute, while there is open interest', () => {
    expect(FUNDING_AFTER_SEC + JOBS.funding).to.be.below(60)
    const due = AT_SEC - FUNDING_AFTER_SEC
    expect(jobsOf({ fundingAtSec: due + 1 })).to.deep.equal([])
    const [funding] = perpetualDuties(seen({ fundingAtSec: due }))
    expect(funding).to.deep.equal({
      job: 'funding',
      subject: 'funding',
      sinceSec: AT_SEC,
      task: { call: 'accrue_funding' },
    })
    expect(jobsOf({ fundingAtSec: due, openInterest: 0n })).to.deep.equal([])
  })

  it('starts the auction of an account below maintenance margin, once', () => {
    expect(jobOf({ margin: 0n })).to.deep.equal([])
    expect(jobOf({ margin: -1n })).to.deep.equal(['auction_start'])
    expect(jobOf({ margin: -1n, auction: solvent })).to.deep.equal([])
    // Without a price there is nothing to judge by.
    expect(jobOf({ margin: undefined })).to.deep.equal([])
    const accounts = [{ id: 7n, margin: -1n }]
    expect(jobsOf({ accounts, hasAuctions: false })).to.deep.equal([])
  })

  it('ends what the contract would end, and converts what found no bidder', () => {
    const over = { ...solvent, price: 0n }
    expect(jobOf({ margin: 1n, auction: { ...solvent, canEnd: true } })).to.deep.equal([
      'auction_end',
    ])
    expect(jobOf({ margin: -1n, auction: { ...over, canEnd: true } })).to.deep.equal([
      'auction_end',
    ])
    expect(jobOf({ margin: -1n, auction: over })).to.deep.equal(['auction_conversion'])
    expect(jobOf({ margin: 0n, auction: over })).to.deep.equal([])
    const insolvent = { ...solvent, isInsolvent: true, price: -5n }
    expect(jobOf({ margin: -1n, auction: insolvent })).to.deep.equal([])
  })

  describe('bids where no other account does', () => {
    const WHOLE = 10n ** 18n
    const bids = (
      auction: Partial<LiveAuction>,
      bidders: readonly Bidder[] = [bidder(90n)],
      mostCash = 1_000n,
    ) =>
      perpetualDuties(
        seen({
          accounts: [{ id: 7n, margin: -2n, auction: { ...solvent, ...auction } }],
          bidders,
          mostCash,
        }),
      )

    it('a minute after the start, and not without an account to bid with', () => {
      expect(bids({})).to.deep.equal([
        {
          job: 'auction_bid',
          subject: 'account-7',
          sinceSec: AT_SEC,
          task: { call: 'bid', account: 7n, by: 90n, portion: WHOLE, most: 1_000n },
        },
      ])
      expect(bids({ startedAtSec: AT_SEC - BID_AFTER_SEC + 1 })).to.deep.equal([])
      expect(bids({}, [])).to.deep.equal([])
      expect(bids({ price: undefined })).to.deep.equal([])
      // Its own account is not bought by itself, and what ends is not bid for.
      expect(bids({}, [bidder(7n)])).to.deep.equal([])
      expect(bids({ canEnd: true }).map(({ job }) => job)).to.deep.equal(['auction_end'])
      expect(bids({ price: 0n }).map(({ job }) => job)).to.deep.equal(['auction_conversion'])
    })

    it('for as much as its cash and the bound of one bid reach', () => {
      // 5 is paid, and 3 + 1 is needed for what is bought.
      const auction = { reservedCash: 1n }
      const portionOf = (cash: bigint, most: bigint, of: Partial<LiveAuction> = auction) => {
        const [duty] = bids(of, [bidder(90n, { cash })], most)
        return duty?.task.call === 'bid' ? duty.task.portion : undefined
      }
      expect(portionOf(9n, 9n)).to.equal(WHOLE)
      expect(portionOf(3n, 9n)).to.equal(WHOLE / 3n)
      expect(portionOf(9n, 3n)).to.equal(WHOLE / 3n)
      // The bidder for an insolvent account is paid 1 of the 2 that it lacks.
      const insolvent = { isInsolvent: true, price: -1n }
      expect(portionOf(1n, 1n, insolvent)).to.equal(WHOLE)
      // The chain says what is missing.
      expect(portionOf(9n, 0n)).to.equal(WHOLE)
    })

    it('with each account that holds cash alone once, the one with most cash in the oldest auction', () => {
      const accounts = [1n, 2n, 3n].map((id) => ({
        id,
        margin: -2n,
        auction: { ...solvent, startedAtSec: AT_SEC - 100 - Number(id) },
      }))
      const bidders = [bidder(90n), bidder(91n, { cash: 200n }), bidder(92n, { isCashOnly: false })]
      const tasks = perpetualDuties(seen({ accounts, bidders, mostCash: 1_000n })).map(
        ({ task }) => task.call === 'bid' && [task.account, task.by],
      )
      expect(tasks).to.deep.equal([
        [3n, 91n],
        [2n, 90n],
      ])
      // Each has its turn where the bid in another never succeeds.
      const bidIn = (atSec: number) =>
        perpetualDuties(
          seen({ atSec, accounts, bidders: [bidder(90n)], mostCash: 1_000n }),
        ).flatMap(({ task }) => (task.call === 'bid' ? [task.account] : []))
      const turns = [0, 1, 2, 3].map((i) => bidIn(AT_SEC + i * BID_TURN_SEC))
      expect(turns).to.deep.equal([[3n], [2n], [1n], [3n]])
      expect(bidIn(AT_SEC + BID_TURN_SEC - 1)).to.deep.equal([3n])
      // Where none may bid, one tries.
      const none = [bidder(92n, { isCashOnly: false }), bidder(93n, { cash: 0n })]
      expect(perpetualDuties(seen({ accounts, bidders: none, mostCash: 1n }))).to.have.length(1)
    })
  })

  it('has at most one thing to do for an account, and nothing for one that is well', () => {
    const auction = fc.record({
      isInsolvent: fc.boolean(),
      canEnd: fc.boolean(),
      price: fc.option(fc.bigInt({ min: -3n, max: 3n }), { nil: undefined }),
      startedAtSec: fc.constantFrom(AT_SEC - BID_AFTER_SEC, AT_SEC),
      bufferMargin: fc.bigInt({ min: -9n, max: 3n }),
      reservedCash: fc.constant(1n),
    })
    const account = fc.record({
      margin: fc.option(fc.bigInt({ min: -3n, max: 3n }), { nil: undefined }),
      auction: fc.option(auction, { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(account, { maxLength: 8 }), (all) => {
        const accounts = all.map(({ margin, auction: live }, i) => ({
          id: BigInt(i),
          margin,
          ...(live && { auction: live }),
        }))
        const duties = perpetualDuties(seen({ accounts, bidders: [bidder(90n)], mostCash: 5n }))
        const subjects = duties.map(({ subject }) => subject)
        expect(new Set(subjects).size).to.equal(subjects.length)
        for (const { id, margin, auction: live } of accounts) {
          const isDue = subjects.includes(`account-${id}`)
          if (live === undefined) expect(isDue).to.equal(margin !== undefined && margin < 0n)
          else if (live.canEnd) expect(isDue).to.equal(true)
        }
      }),
      { numRuns: runs(200) },
    )
  })
})
