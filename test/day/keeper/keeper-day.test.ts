import { expect } from 'chai'
import { keepDay } from './keep-day.js'
import { NEXT_EXPIRY_SEC, THIRD_EXPIRY_SEC } from './world.js'

/** How long the day is by the clock of its chain, and which it is; set by hand (test/README.md). */
const MINUTES = Number(process.env.KEPT_MINUTES ?? 30)
const SEED = Number(process.env.KEPT_SEED ?? 1)

describe('a chain that is kept for a day', function () {
  it('leaves no account below maintenance margin without an auction or a takeover, whenever the keeper is killed', async () => {
    const facts = await keepDay({
      minutes: MINUTES,
      seed: SEED,
      say: (line) => process.env.KEPT_MINUTES !== undefined && process.stderr.write(`${line}\n`),
    })
    expect(facts.failed).to.be.at.least(4)
    expect(facts.killed).to.equal(MINUTES)
    // Losses of the futures were paid, and the auctions' fees and payouts.
    expect(facts.insurance.cngn < 0n).to.equal(true)
    expect(facts.insurance.security).to.not.equal(0n)
    expect(facts.funding).to.not.equal(0n)
    // The first one has ended, and the keeper has opened the third.
    expect(facts.openSeries).to.have.members([NEXT_EXPIRY_SEC, THIRD_EXPIRY_SEC])
  })
})
