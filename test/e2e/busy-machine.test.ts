import { expect } from 'chai'
import { startVenue, type TestVenue } from '../support/venue.js'
import { describeRecovery, freeze, isLateRecovery } from './stage/freezes.js'
import { burnProcessors } from './stage/load-machine.js'

/** As many as the machine of the suite has. */
const PROCESSORS = 2
/** What a start and a stop may take there; without the burners both take some fifteen seconds. */
const READY_WITHIN_MS = 240_000

describe('a machine whose processors are busy', function () {
  it('starts a venue, and stops it with its chain saved', async () => {
    const calm = burnProcessors(PROCESSORS)
    try {
      const venue = await startVenue({
        markets: 'all',
        demoMaker: true,
        feeder: true,
        readyWithinMs: READY_WITHIN_MS,
      })
      expect(await venue.stop()).to.equal(0)
      expect(venue.output()).to.match(/save the chain: /)
      expect(venue.output()).to.not.include('not ready:')
    } finally {
      calm()
    }
  })
})

/** The bus server for longer than its clients wait until they try another connection. */
const FREEZES: Readonly<Record<string, number>> = {
  'nats-server': 20_000,
  'order-intake': 6_000,
  'matcher-cngn-usdc': 6_000,
}

describe('a process that was frozen', function () {
  let venue: TestVenue
  before(async () => {
    venue = await startVenue({ feeder: true })
  })
  after(async () => {
    await venue?.stop()
  })

  for (const [name, forMs] of Object.entries(FREEZES))
    it(`serves within ten seconds of its continuation: ${name}`, async () => {
      const recovery = await freeze(venue, name, forMs)
      const words = `${describeRecovery(recovery)}\n${venue.output()}`
      expect(isLateRecovery(recovery), words).to.equal(false)
    })
})
