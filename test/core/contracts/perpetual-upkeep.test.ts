import { expect } from 'chai'
import fc from 'fast-check'
import {
  FUNDING_AFTER_SEC,
  perpetualDuties,
  type LiveAuction,
  type MarginedAccount,
  type PerpetualUpkeep,
} from '../../../core/contracts/perpetual-upkeep.js'
import { JOBS } from '../../../core/contracts/upkeep.js'
import { runs } from '../../support/property-runs.js'

const AT_SEC = 1_800_000_000
const seen = (overrides: Partial<PerpetualUpkeep> = {}): PerpetualUpkeep => ({
  ...{ atSec: AT_SEC, openInterest: 1n, fundingAtSec: AT_SEC, hasAuctions: true, accounts: [] },
  ...overrides,
})
const solvent: LiveAuction = { isInsolvent: false, price: 5n, canEnd: false }
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
      ...{ job: 'funding', subject: 'funding', sinceSec: AT_SEC },
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
    const insolvent = { isInsolvent: true, price: -5n, canEnd: false }
    expect(jobOf({ margin: -1n, auction: insolvent })).to.deep.equal([])
  })

  it('has at most one thing to do for an account, and nothing for one that is well', () => {
    const auction = fc.record({
      ...{ isInsolvent: fc.boolean(), canEnd: fc.boolean() },
      price: fc.bigInt({ min: -3n, max: 3n }),
    })
    const account = fc.record({
      margin: fc.option(fc.bigInt({ min: -3n, max: 3n }), { nil: undefined }),
      auction: fc.option(auction, { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(account, { maxLength: 8 }), (all) => {
        const accounts = all.map(({ margin, auction: live }, i) => ({
          ...{ id: BigInt(i), margin },
          ...(live && { auction: live }),
        }))
        const duties = perpetualDuties(seen({ accounts }))
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
