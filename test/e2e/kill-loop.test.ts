import { rm } from 'node:fs/promises'
import { expect } from 'chai'
import { expectTaken, runKillLoop } from '../support/kill-loop.js'
import { startVenue, type TestVenue } from '../support/venue.js'

const CYCLES = 20
const SEED = 1

describe('a venue whose processes are killed at random', function () {
  this.timeout(240_000)
  let venue: TestVenue
  const said: string[] = []
  before(async () => {
    venue = await startVenue({ blockTime: 1 })
  })
  after(async function () {
    await venue?.stop()
    // What was killed when is what a finding needs; a passing run needs no lines.
    if (this.currentTest?.state === 'failed') process.stdout.write(`${said.join('\n')}\n`)
  })

  it(`loses and doubles nothing in ${CYCLES} cycles`, async () => {
    const say = (line: string) => void said.push(line)
    const options = { venue, cycles: CYCLES, seed: SEED, reconcileEvery: CYCLES, say }
    const { kills, orderIds, trades } = await runKillLoop(options)
    expect(kills).to.be.at.least(CYCLES)
    expect(trades).to.be.above(100)
    await venue.stop({ keepData: true })
    expectTaken(venue.dataDir, orderIds)
    await rm(venue.dataDir, { recursive: true })
  })
})
