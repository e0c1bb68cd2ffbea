import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { inProject } from '../../devnet/launcher/binaries.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { openRelay, type Relay } from '../support/relay.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { createTrader, e18 } from './stage/trader.js'
import { createPerpTrader, PERP } from './stage/perp-trader.js'

const QUOTES_WITHIN_MS = 60_000
/** cNGN that the quoter is sold and bought on each market, each time; a quote has 15,000. */
const SOLD = '20000'
const BOUGHT = '35000'

describe('the quoter among the examples', function () {
  let venue: TestVenue
  let relay: Relay
  let dataDir: string
  let quoter: ReturnType<typeof run> | undefined
  after(async () => {
    quoter?.child.kill('SIGKILL')
    await relay?.close()
    await venue?.stop()
    await rm(dataDir, { recursive: true, force: true })
  })

  function run(file: string) {
    const example = inProject('dist/examples/19-quoter.js')
    const child = spawn(process.execPath, [example, file], { stdio: ['ignore', 'pipe', 'pipe'] })
    const said = { printed: '', failed: '' }
    child.stdout.on('data', (text: Buffer) => (said.printed += text.toString()))
    child.stderr.on('data', (text: Buffer) => (said.failed += text.toString()))
    return { child, said }
  }

  /** All forty quotes rest once more, on the connection of this number or a later one. */
  async function quoted(connection: number): Promise<void> {
    const numbers = () =>
      [...(quoter?.said.printed ?? '').matchAll(/20 quotes a market by connection (\d+)/g)].map(
        ([, number]) => Number(number),
      )
    await eventually(
      () => numbers().some((number) => number >= connection) || quoter?.said.failed !== '',
      QUOTES_WITHIN_MS,
    )
    expect(quoter?.said.failed).to.equal('')
  }

  /** Another trader meets the quotes of both sides and markets. */
  async function trade(): Promise<void> {
    const subaccountId = venue.devnet.accounts[1]?.perp_subaccount_id ?? ''
    const takers = [
      createTrader(venue.devnet, 1),
      createTrader(venue.devnet, 1, undefined, { market: PERP, subaccountId }),
    ]
    for (const taker of takers) {
      await taker.place({ side: 'sell', amount: SOLD, price: '0.0006' })
      await taker.place({ side: 'buy', amount: BOUGHT, price: '0.0007' })
    }
  }

  it('keeps forty quotes through a lost connection and a restart, and reconciles to the unit', async () => {
    const env = { GATEWAY_PORT: `${await freePort()}` }
    const options = { blockTime: 1, feeder: true, markets: SPOT_AND_PERP, env }
    venue = await startVenue(options)
    ;({ dataDir } = venue)
    relay = await openRelay(Number(env.GATEWAY_PORT))
    const file = join(dataDir, 'by-relay.json')
    const gateway_url = `http://127.0.0.1:${relay.port}`
    writeFileSync(file, JSON.stringify({ ...venue.devnet, gateway_url }))
    const before = await createTrader(venue.devnet, 0).balances()
    const cashBefore = await createPerpTrader(venue.devnet, 0).cash()
    quoter = run(file)
    await quoted(1)
    await trade()

    relay.cut()
    await trade()
    relay.heal()
    await quoted(2)

    // The index moves, and with it every quote.
    writeFileSync(join(dataDir, 'prices.json'), JSON.stringify({ index: '0.000652' }))
    expect(await venue.stop({ keepData: true })).to.equal(0)
    venue = await startVenue({ ...options, dataDir })
    await quoted(3)
    await trade()

    const ended = once(quoter.child, 'close')
    quoter.child.kill('SIGINT')
    expect(await ended).to.deep.equal([0, null])
    const { printed, failed } = quoter.said
    expect(failed).to.equal('')
    const [, fills, cngn = '', usdc = ''] =
      /cNGN-USDC: (\d+) fills moved (\S+) cNGN, (\S+) USDC; so says the chain\n/.exec(printed) ?? []
    expect(Number(fills), printed).to.be.at.least(9)
    // The chain listens at another port since the restart.
    const after = await createTrader(venue.devnet, 0).balances()
    expect(e18s(cngn)).to.equal(after.cngnE18 - before.cngnE18)
    expect(e18s(usdc)).to.equal(after.usdcE18 - before.usdcE18)
    const [, perpUsdc = ''] =
      /cNGN-PERP: \d+ fills moved a position of -45000 cNGN, (\S+) USDC; so says/.exec(printed) ??
      []
    expect(perpUsdc, printed).to.not.equal('')
    const cashAfter = await createPerpTrader(venue.devnet, 0).cash()
    expect(e18s(perpUsdc)).to.equal(cashAfter - cashBefore)
  })
})

const e18s = (text: string): bigint => (text.startsWith('-') ? -e18(text.slice(1)) : e18(text))
