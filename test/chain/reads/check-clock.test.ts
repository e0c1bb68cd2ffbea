import { expect } from 'chai'
import { checkClock, ClockDiffers } from '../../../chain/reads/blocks.js'
import { noAnswer } from '../../support/silent-node.js'

const NOW_SEC = 1_795_000_000

/** What comes of a clock that is so many seconds ahead of the newest block; undefined for a chain that is silent. */
async function outcome(aheadSec: number | undefined): Promise<string> {
  const warnings: string[] = []
  const getBlock = () =>
    aheadSec === undefined
      ? Promise.reject(noAnswer())
      : Promise.resolve({ timestamp: BigInt(NOW_SEC - aheadSec) })
  try {
    await checkClock({
      client: { getBlock: getBlock as never },
      nowMs: () => NOW_SEC * 1_000 + 999,
      onWarning: (message) => warnings.push(message),
    })
  } catch (error) {
    if (error instanceof ClockDiffers) return `refused: ${error.message}`
    throw error
  }
  return warnings.length === 0 ? 'passed' : `warned: ${warnings.join()}`
}

describe('the check of the clock', () => {
  it('passes within a minute either way, and when the chain is silent', async () => {
    for (const ahead of [0, 60, -60, undefined]) {
      expect(await outcome(ahead)).to.equal('passed')
    }
  })

  it('refuses a clock that is further behind', async () => {
    expect(await outcome(-61)).to.equal(
      'refused: the clock is 61 s behind the newest block, at most 60 s is allowed: set the clock',
    )
  })

  it('only warns of a block that is older, since a local chain may have stood still', async () => {
    expect(await outcome(7_200)).to.equal(
      'warned: the newest block is 7200 s old: the chain stands still, or the clock is fast',
    )
  })
})
