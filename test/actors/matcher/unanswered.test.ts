import { expect } from 'chai'
import { createUnanswered } from '../../../actors/matcher/settle.js'

describe('settlements without an outcome', () => {
  let nowMs = 0
  const aCount = () => createUnanswered({ lateAfterMs: 60_000, elapsedMs: () => nowMs })

  it('counts them and knows the age of the oldest', () => {
    const unanswered = aCount()
    expect(unanswered.standing()).to.deep.equal({ pending: 0, oldestMs: 0, late: 0 })
    nowMs = 1_000
    unanswered.asked('m:1')
    nowMs = 5_000
    unanswered.asked('m:2')
    nowMs = 6_000
    expect(unanswered.standing()).to.deep.equal({ pending: 2, oldestMs: 5_000, late: 0 })
    expect(unanswered.answered('m:1')).to.deep.equal({ wasLate: false, ageMs: 5_000 })
    expect(unanswered.standing()).to.deep.equal({ pending: 1, oldestMs: 1_000, late: 0 })
  })

  it('tells each that is late once, and that it was when it has its outcome (SET-014)', () => {
    const unanswered = aCount()
    nowMs = 0
    unanswered.asked('m:1')
    nowMs = 59_000
    unanswered.asked('m:2')
    expect(unanswered.takeLate()).to.deep.equal([])
    nowMs = 60_000
    expect(unanswered.takeLate()).to.deep.equal([{ settlementId: 'm:1', ageMs: 60_000 }])
    expect(unanswered.takeLate()).to.deep.equal([])
    expect(unanswered.standing()).to.deep.equal({ pending: 2, oldestMs: 60_000, late: 1 })
    nowMs = 61_000
    expect(unanswered.answered('m:1')).to.deep.equal({ wasLate: true, ageMs: 61_000 })
    expect(unanswered.standing()).to.deep.equal({ pending: 1, oldestMs: 2_000, late: 0 })
  })
})
