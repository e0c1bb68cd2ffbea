import { expect } from 'chai'
import { createChainClock } from '../../../actors/chain-reader/chain-clock.js'

const START_SEC = 1_800_000_000
const HOUR_SEC = 3_600

/** A clock beside a chain; both go on by `pass`, and `jump` moves the clock alone. */
function aClock() {
  let [passedSec, aheadSec, number] = [0, 0, 1n]
  const clock = createChainClock({
    nowMs: () => (START_SEC + passedSec + aheadSec) * 1_000,
    elapsedMs: () => passedSec * 1_000,
  })
  return {
    clock,
    pass: (sec: number) => void (passedSec += sec),
    jump: (sec: number) => void (aheadSec += sec),
    /** A look at the newest block, which is so old. */
    look: (ageSec = 0) => clock.saw({ number, timestamp: BigInt(START_SEC + passedSec - ageSec) }),
    /** A further block, and a look at it. */
    mine(ageSec = 0) {
      number += 1n
      this.look(ageSec)
    },
    goBack: () => void (number -= 10n),
    aheadSec: () => {
      const aheadMs = clock.aheadMs()
      return aheadMs === undefined ? undefined : aheadMs / 1_000
    },
  }
}

describe("the chain's time", () => {
  it('is not known before a block arrives, unless the newest one agrees with the clock', () => {
    const old = aClock()
    old.look(HOUR_SEC)
    expect(old.aheadSec()).to.equal(undefined)
    const young = aClock()
    young.look(59)
    expect(young.aheadSec()).to.equal(59)
  })

  for (const off of [HOUR_SEC, -HOUR_SEC]) {
    it(`shows a clock that is ${off} s ahead of a block that arrives`, () => {
      const of = aClock()
      of.jump(off)
      of.look()
      of.pass(2)
      of.mine()
      expect(of.aheadSec()).to.equal(off)
    })
  }

  it('shows a jump at once, and its end', () => {
    const of = aClock()
    of.look()
    of.jump(HOUR_SEC)
    expect(of.aheadSec()).to.equal(HOUR_SEC)
    of.jump(-HOUR_SEC)
    expect(of.aheadSec()).to.equal(0)
  })

  it('goes on while the chain stands still (OPE-016)', () => {
    const of = aClock()
    of.look()
    for (let sec = 1; sec <= HOUR_SEC; sec += 1) {
      of.pass(1)
      of.look(sec)
    }
    expect(of.aheadSec()).to.equal(0)
  })

  it('takes no block for a new one that may have come while it did not look', () => {
    const of = aClock()
    of.look()
    of.pass(HOUR_SEC)
    of.mine(HOUR_SEC - 1)
    expect(of.aheadSec()).to.equal(0)
  })

  it('takes a lower block for no new one', () => {
    const of = aClock()
    of.look()
    of.goBack()
    of.look(HOUR_SEC)
    expect(of.aheadSec()).to.equal(0)
  })

  it('stays exact beside a block of an absurd time', () => {
    const { clock } = aClock()
    clock.saw({ number: 1n, timestamp: 2n ** 64n })
    clock.saw({ number: 2n, timestamp: 2n ** 64n })
    expect(Number.isSafeInteger(clock.chainMs())).to.equal(true)
  })
})
