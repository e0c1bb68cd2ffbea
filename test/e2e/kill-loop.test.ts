import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { startVenue, type TestVenue } from '../support/venue.js'
import { expectTaken, KILL_LOOP_VENUE, runKillLoop } from './stage/kill-loop.js'

const CYCLES = 10
const SEED = 1

describe('a venue whose processes are killed at random', function () {
  let venue: TestVenue
  const said: string[] = []
  before(async () => {
    venue = await startVenue(KILL_LOOP_VENUE)
  })
  after(async function () {
    await venue?.stop()
    // What was killed when is what a finding needs; a passing run needs no lines.
    if (this.currentTest?.state === 'failed') process.stdout.write(`${said.join('\n')}\n`)
  })

  it(`loses and doubles nothing of three markets in ${CYCLES} cycles (OPE-017)`, async () => {
    const say = (line: string) => void said.push(line)
    const options = { venue, cycles: CYCLES, seed: SEED, reconcileEvery: CYCLES, say }
    const { kills, orderIds, trades } = await runKillLoop(options)
    expect(kills).to.be.at.least(CYCLES)
    expect(trades.size).to.equal(3)
    for (const [market, count] of trades) expect(count, market).to.be.above(2)
    await venue.stop({ keepData: true })
    expectTaken(venue.dataDir, orderIds)
    await rm(venue.dataDir, { recursive: true })
  })
})
