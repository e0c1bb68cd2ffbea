import { expect } from 'chai'
import { tradingOf } from '../../../core/contracts/registry.js'
import { FACTS_AGE_MAX_MS } from '../../../core/contracts/perpetual.js'
import { hidePerpetual, type PerpetualFacts } from '../../../core/contracts/perpetual-facts.js'
import { isObservationDue } from '../../../core/engine/facts-due.js'
import { FACTS_REPEATED_MS, FACTS_SPARE_MS } from '../../../core/model/limits.js'
import { priceE18 } from '../../../core/money.js'
import { START_MS } from '../../support/matching.js'
import { perpetualFacts } from '../../support/perpetual.js'

const trading = tradingOf({ contractType: 'perpetual' })

describe('an observation of a market without orders', () => {
  /** Read so long after the start, of a chain whose head is so old. */
  const read = (afterMs: number, fields: Partial<PerpetualFacts> = {}, headAgeMs = 0) => ({
    facts: hidePerpetual(perpetualFacts(fields)),
    blockNumber: BigInt(afterMs),
    readAtMs: START_MS + afterMs,
    blockTimeSec: Math.floor((START_MS + afterMs - headAgeMs) / 1_000),
  })
  const logged = read(0)
  const isDue = (it: ReturnType<typeof read>, last = logged) =>
    isObservationDue(trading, { logged: last, read: it, nowMs: it.readAtMs })

  it('is due after half a minute, and not before while it says the same (OPE-054)', () => {
    expect(isDue(read(1_000))).to.equal(false)
    expect(isDue(read(FACTS_REPEATED_MS - 1))).to.equal(false)
    expect(isDue(read(FACTS_REPEATED_MS))).to.equal(true)
    // The reader's clock was set back.
    expect(isDue(read(-FACTS_REPEATED_MS))).to.equal(true)
  })

  it('is due with other facts', () => {
    const mark = priceE18(perpetualFacts().mark + 1n)
    expect(isDue(read(1_000, { mark }))).to.equal(true)
    expect(isDue(read(1_000, { paused: true }))).to.equal(true)
  })

  it('is due when the hold of such a market begins or ends with it', () => {
    const headAgeMs = FACTS_AGE_MAX_MS + FACTS_SPARE_MS
    expect(isDue(read(1_000, {}, headAgeMs))).to.equal(false)
    const older = read(1_000, {}, headAgeMs + 1_000)
    expect(isDue(older)).to.equal(true)
    expect(isDue(read(2_000), older)).to.equal(true)
    expect(isDue(read(2_000, {}, headAgeMs + 2_000), older)).to.equal(false)
  })

  it('of a log of which it is not known what it has is repeated by the age that a market may have', () => {
    expect(FACTS_REPEATED_MS).to.be.below(FACTS_SPARE_MS)
  })
})
