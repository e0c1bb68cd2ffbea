import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { openMemoryJournal, type MemoryJournal } from '../../support/memory-journal.js'
import { hashOf } from '../../support/journal-entries.js'
import { anUnsentTransfer } from '../../support/transfer-bodies.js'

describe('the claims in a journal', () => {
  let journal: MemoryJournal
  beforeEach(() => (journal = openMemoryJournal()))
  afterEach(() => journal.close())

  const aClaim = (n: number) => anUnsentTransfer({ actionHash: hashOf(n) })
  const after = (no: number) => [...journal.claims.claimsAfter(no)]

  it('are found by the order of their newest entries', () => {
    const { claims } = journal
    expect([claims.newestClaimNo(), after(0)]).to.deep.equal([0, []])
    for (const n of [1, 2, 3]) claims.recordClaim(aClaim(n), `request ${n}`)
    claims.recordDecline(hashOf(1), { error: 'no', revert: 'X' })
    expect(claims.newestClaimNo()).to.equal(4)
    expect(after(2)).to.deep.equal([
      { no: 3, record: aClaim(3), request: 'request 3' },
      {
        no: 4,
        record: aClaim(1),
        request: 'request 1',
        declined: { error: 'no', revert: 'X' },
      },
    ])
  })

  it('are taken once, and again after they were declined', () => {
    const { claims } = journal
    claims.recordClaim(aClaim(1), 'first')
    expect(() => claims.recordClaim(aClaim(1), 'again')).to.throw(InvariantBroken)
    claims.recordDecline(hashOf(1), { error: 'no' })
    expect(() => claims.recordDecline(hashOf(1), { error: 'no' })).to.throw(InvariantBroken)
    expect(() => claims.recordDecline(hashOf(2), { error: 'no' })).to.throw(InvariantBroken)
    claims.recordClaim(aClaim(1), 'second')
    expect(after(0)).to.deep.equal([{ no: 3, record: aClaim(1), request: 'second' }])
  })

  it('begin as pending', () => {
    const confirmed = { ...aClaim(1), status: 'confirmed' } as const
    expect(() => journal.claims.recordClaim(confirmed, '{}')).to.throw(InvariantBroken)
  })
})
