import { expect } from 'chai'
import { createClockTeller } from '../../../actors/chain-reader/tell-clock.js'
import { TICK_AFTER_MS } from '../../../core/model/limits.js'

const START_SEC = 1_800_000_000

/** A teller beside a chain with a block each second; its market's log takes what it is told. */
function aTeller() {
  let [passedSec, aheadSec, number] = [0, 0, 1n]
  const told: number[] = []
  const teller = createClockTeller({
    nowMs: () => (START_SEC + passedSec + aheadSec) * 1_000,
    elapsedMs: () => passedSec * 1_000,
  })
  teller.add((chainMs) => Promise.resolve(void told.push(chainMs / 1_000 - START_SEC)))
  const look = async (): Promise<void> => {
    teller.saw({ number, timestamp: BigInt(START_SEC + passedSec) })
    await teller.tell()
  }
  return {
    told,
    look,
    pass: async (sec: number): Promise<void> => {
      for (let second = 0; second < sec; second += 1) {
        passedSec += 1
        number += 1n
        await look()
      }
    },
    jump: (sec: number) => void (aheadSec += sec),
  }
}

describe('a market that is told the time of the chain', () => {
  it('is told at once, then more often than a tick would be due', async () => {
    const { told, look, pass } = aTeller()
    await look()
    expect(told).to.deep.equal([0])
    await pass(60)
    expect(told).to.deep.equal([0, 20, 40, 60])
    expect(20_000).to.be.below(TICK_AFTER_MS)
  })

  it('is told at once when the clocks cease to agree, and when they agree again', async () => {
    const { told, look, pass, jump } = aTeller()
    await look()
    await pass(3)
    jump(3_600)
    await look()
    await pass(2)
    jump(-3_600)
    await look()
    expect(told).to.deep.equal([0, 3, 5])
  })

  it('is told at once after a machine was suspended, whose monotonic clock stood still', async () => {
    const { told, look, jump } = aTeller()
    await look()
    jump(19)
    await look()
    expect(told).to.have.length(1)
    jump(1)
    await look()
    expect(told).to.have.length(2)
  })
})
