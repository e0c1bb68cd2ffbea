import { expect } from 'chai'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { inProject } from '../../devnet/launcher/binaries.js'
import type { TestVenue } from '../support/venue.js'
import { traderOf } from './black-box/client.js'
import { sharedVenue } from './stage/shared-venue.js'

describe('the example that shows one’s history', function () {
  let venue: TestVenue
  before(async function () {
    venue = await sharedVenue()
  })

  it('prints orders, fills, candles and tickers', async () => {
    const ann = traderOf(venue.devnet, 0)
    const bob = traderOf(venue.devnet, 1)
    const maker = await ann.place({ side: 'sell', price: '0.0061', amount: '4' })
    const taker = await bob.place({ side: 'buy', price: '0.0061', amount: '4' })
    const gone = await ann.place({ side: 'sell', price: '0.0062', amount: '4' })
    await ann.cancel(gone, { reason: 'an example' })
    await bob.orderWith(taker.order_id, 'filled')
    await ann.orderWith(maker.order_id, 'filled')
    const file = inProject('dist/examples/05-history.js')
    const run = promisify(execFile)
    const { stdout } = await run(process.execPath, [file, join(venue.dataDir, 'devnet.json')])
    const lines = stdout.split('\n')
    expect(lines).to.include(`${gone.order_id} is cancelled (an example)`)
    expect(lines).to.include(`${maker.order_id} is filled`)
    expect(lines).to.include('maker of 4 cNGN at 0.0061 USDC, fee 0')
    expect(stdout).to.match(/^\d+ orders shown, \d+ fills in all$/m)
    expect(stdout).to.match(/^\d{4}-\S+Z from \S+ to 0\.0061, \S+ cNGN traded$/m)
    expect(stdout).to.match(/^cNGN-USDC: USDC bid \S+, ask \S+$/m)
  })
})
