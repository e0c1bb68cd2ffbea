import { expect } from 'chai'
import { createKnownLeases } from '../../../actors/order-intake/known-leases.js'
import type { Address } from '../../../core/action.js'

const owner: Address = `0x${'a1'.repeat(20)}`

describe('the leases that the intake knows', () => {
  it('spare a write where the one in the log ends in the second half of the time that is asked for', () => {
    let nowMs = 0
    const leases = createKnownLeases(() => nowMs)
    leases.logged('M', { kind: 'SetLease', owner, seconds: 100, opens: true })
    const unspent = (seconds: number, market = 'M') =>
      leases.unspent(market, { owner, seconds, nowMs })
    expect(unspent(100)).to.equal(100_000)
    expect(unspent(100, 'N')).to.equal(undefined)
    // Never later than promised.
    expect(unspent(99)).to.equal(undefined)
    expect(unspent(199)).to.equal(100_000)
    expect(unspent(200)).to.equal(undefined)
    nowMs = 49_999
    expect(unspent(100)).to.equal(100_000)
    nowMs = 50_000
    expect(unspent(100)).to.equal(undefined)
    expect(unspent(60)).to.equal(100_000)
    leases.logged('M', { kind: 'EndLease', owner, cancels: false })
    expect(unspent(60)).to.equal(undefined)
  })
})
