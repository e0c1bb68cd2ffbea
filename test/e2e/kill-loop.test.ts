import { expect } from 'chai'
import { rm } from 'node:fs/promises'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { expectTaken, runKillLoop } from './stage/kill-loop.js'
import { createPerpTrader } from './stage/perp-trader.js'

const CYCLES = 20
const SEED = 1

describe('a venue whose processes are killed at random', function () {
  this.timeout(360_000)
  let venue: TestVenue
  const said: string[] = []
  before(async () => {
    const env = { FEEDER_EVERY_S: '20' }
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP, feeder: true, env })
  })
  after(async function () {
    await venue?.stop()
    // What was killed when is what a finding needs; a passing run needs no lines.
    if (this.currentTest?.state === 'failed') process.stdout.write(`${said.join('\n')}\n`)
  })

  it(`loses and doubles nothing in ${CYCLES} cycles`, async () => {
    const say = (line: string) => void said.push(line)
    const options = { venue, cycles: CYCLES, seed: SEED, reconcileEvery: CYCLES, say }
    const [maker, taker] = [createPerpTrader(venue.devnet, 4), createPerpTrader(venue.devnet, 5)]
    const offer = await maker.place({ side: 'sell', size: 1_000, price: '0.00065' })
    const { kills, orderIds, trades } = await runKillLoop(options)
    expect(kills).to.be.at.least(CYCLES)
    expect(trades).to.be.above(100)
    // The perpetual has been killed as often; its resting order is still there and settles.
    const bid = await taker.place({ side: 'buy', size: 1_000, price: '0.00065' })
    await taker.until(bid, 'filled')
    await maker.until(offer, 'filled')
    expect(await taker.position()).to.equal(1_000n * 10n ** 18n)
    await venue.stop({ keepData: true })
    expectTaken(venue.dataDir, [...orderIds, offer.order_id, bid.order_id])
    await rm(venue.dataDir, { recursive: true })
  })
})
