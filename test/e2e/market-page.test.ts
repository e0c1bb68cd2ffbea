import { expect } from 'chai'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Browser, type Page } from 'playwright-core'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { createTrader, type Trader } from './stage/trader.js'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync)
/** What a page shows follows a fill within a second; a busy machine takes longer. */
const SHOWN_WITHIN_MS = 30_000
const BUNDLE_BYTES_MAX = 250 * 1024

/** In the browser of Debian's package, where it is installed. */
describe('the market page in a browser', function () {
  this.timeout(240_000)
  let venue: TestVenue
  let browser: Browser
  let page: Page
  const wrong: string[] = []
  if (CHROMIUM === undefined) {
    it('is not run: no Chromium is installed')
    return
  }

  before(async () => {
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP })
    browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
    page = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    page.on('pageerror', (error) => wrong.push(error.message))
    page.on('requestfailed', (request) => wrong.push(`${request.url()} failed`))
    page.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(venue.gatewayUrl).host) wrong.push(request.url())
    })
    page.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) wrong.push(message.text())
    })
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
  })

  const section = (name: string) =>
    page.locator('section', { has: page.getByRole('heading', { name, exact: true }) })
  const shows = (heading: string, text: string | RegExp) =>
    eventually(async () => {
      const shown = await section(heading).innerText()
      expect(shown).to.match(typeof text === 'string' ? new RegExp(text) : text)
    }, SHOWN_WITHIN_MS)

  async function aTrade(maker: Trader, taker: Trader): Promise<void> {
    const resting = await maker.place({ side: 'sell', amount: '1600', price: '0.000625' })
    await taker.place({ side: 'buy', amount: '1600', price: '0.000625' })
    await maker.until(resting.order_id, 'filled')
  }

  it('shows the markets, and the book and trades of one as they change', async () => {
    const [maker, taker] = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)]
    await page.goto(`${venue.gatewayUrl}/#cNGN-USDC`)
    await page.getByRole('link', { name: 'cNGN-PERP' }).waitFor()
    await shows('Book', 'No open orders')
    const quote = await maker.place({ side: 'buy', amount: '2000', price: '0.0005' })
    // A bid for cNGN at 0.0005 USDC offers one USDC at 2,000 cNGN each.
    await shows('Book', /2 000\s+1\b/)
    await page.getByRole('button', { name: 'Engine units' }).click()
    await shows('Book', /0\.0005\s+2 000\b/)
    await page.getByRole('button', { name: 'Engine units' }).click()
    await aTrade(maker, taker)
    await shows('Trades', /1 600\s+1\s.*0x[0-9a-f]{8}/s)
    await maker.cancel(quote)
    await shows('Book', 'No open orders')
    await eventually(async () => {
      expect(await page.locator('#health').innerText()).to.match(/^feed connected, seq [1-9]/)
    }, SHOWN_WITHIN_MS)
  })

  it('checks, places and cancels an order with an account of the devnet', async () => {
    await page.locator('#devnet').setInputFiles(join(venue.dataDir, 'devnet.json'))
    await shows('Own orders and fills', /Orders of 0x/)
    await page.getByLabel('Price').fill('1400')
    await page.getByLabel('Size').fill('10')
    await shows('Order', /You sign: buy 10 .* at 1400 /)
    await page.getByRole('button', { name: 'Check only' }).click()
    await shows('Order', 'The venue would take it')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await shows('Own orders and fills', /page-\S+\s+buy\s+1 400/)
    await page.getByRole('button', { name: 'Cancel', exact: true }).click()
    await shows('Own orders and fills', 'is cancelled')
    await shows('Own orders and fills', 'No open orders')
  })

  it('says why an order is refused, and refuses the file of another venue', async () => {
    await page.getByLabel('Price').fill('1400')
    await page.getByLabel('Size').fill('10')
    await page.getByLabel('Subaccount').fill('999999')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await shows('Order', /subaccount/)
    const other = { name: 'devnet.json', mimeType: 'application/json', buffer: Buffer.from('{}') }
    await page.locator('#devnet').setInputFiles(other)
    await shows('Account', 'describes another venue')
  })

  it('shows what the perpetual adds', async () => {
    await page.getByRole('link', { name: 'cNGN-PERP' }).click()
    await shows('Market', /Funding of an hour/)
    await shows('Market', /Largest leverage\s+10/)
  })

  it('loads nothing from elsewhere, breaks nowhere, and is small', async () => {
    const response = await fetch(new URL('/web/main.js', venue.gatewayUrl), {
      headers: { 'accept-encoding': 'gzip' },
    })
    expect((await response.arrayBuffer()).byteLength).to.be.above(0)
    expect(Number(response.headers.get('content-length'))).to.be.below(BUNDLE_BYTES_MAX)
    expect(wrong).to.deep.equal([])
  })
})
