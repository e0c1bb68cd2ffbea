import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { launchBrowser } from './stage/browser.js'
import { createTrader } from './stage/trader.js'

const SHOWN_WITHIN_MS = 30_000
const SPOT_PAGE = '#/cNGN-USDC'

describe('an account at the terminal in a browser', function () {
  let venue: TestVenue
  let browser: Browser
  let page: Page
  before(async () => {
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP, demoAccounts: true })
    browser = await launchBrowser()
    page = await openPage()
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
  })

  /** A page of a browser that was never here, on the spot market. */
  async function openPage(prepare: (fresh: Page) => Promise<void> = async () => {}) {
    const fresh = await (
      await browser.newContext({ viewport: { width: 1440, height: 1000 } })
    ).newPage()
    await prepare(fresh)
    await fresh.goto(new URL(SPOT_PAGE, venue.gatewayUrl).href)
    return fresh
  }
  const says = (on: Page, text: RegExp) =>
    eventually(async () => expect(await on.innerText('body')).to.match(text), SHOWN_WITHIN_MS)
  const list = (name: string) =>
    page
      .getByRole('group', { name: 'Lists' })
      .getByRole('button', { name: new RegExp(`^${name}`) })
      .click()
  const choose = (side: string) =>
    page.getByRole('group', { name: 'Side' }).getByRole('button', { name: side }).click()
  const submit = () => page.locator('.ticket button[type=submit]')
  const type = async (price: string, size: string): Promise<void> => {
    await choose('Buy')
    await page.locator('input[name=price]').fill(price)
    await page.locator('input[name=size]').fill(size)
  }

  it('is let in by one press, with play money that is still there after a reload', async () => {
    await page.getByRole('button', { name: 'Account', exact: true }).click()
    await page.getByRole('button', { name: 'Trade with a demo account' }).click()
    await says(page, /Demo: play money · 0x[0-9a-fA-F]{4}/)
    await type('1100', '10')
    await submit().click()
    await list('Open')
    await says(page, /Buy USDC\s+1,100\.0+\s+(10\.00|9\.99) USDC/)
    await list('Funds')
    await says(page, /cNGN\s+1,000,000,000\.0+\s+11,000\.0+\s/)
    const [who = ''] = /0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/.exec(await page.innerText('body')) ?? []
    await page.reload()
    await says(page, new RegExp(`Demo: play money · ${who}`))
    await list('Open')
    await says(page, /Buy USDC\s+1,100\.0+\s+(10\.00|9\.99) USDC/)
    await page.getByRole('button', { name: /^Cancel page-/ }).click()
    await says(page, /No open orders/)
    await list('History')
    await says(page, /Buy USDC\s+1,100\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+cancelled/)
  })

  /** How many orders the page sends meanwhile. */
  async function sentBy(send: () => Promise<void>): Promise<number> {
    let sent = 0
    const count = (request: { url(): string; method(): string }): void => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/orders')) sent += 1
    }
    page.on('request', count)
    await send()
    await says(page, /Buy USDC at \d+: (open|matching|filled)/)
    page.off('request', count)
    return sent
  }

  it('places one order by a double click, and one by a key that is held', async () => {
    await list('Open')
    await type('1250', '3')
    expect(await sentBy(() => submit().dblclick())).to.equal(1)
    await says(page, /Buy USDC\s+1,250\.0+\s+(3\.00|2\.99) USDC/)
    await type('1251', '4')
    const held = async (): Promise<void> => {
      for (let n = 0; n < 5; n += 1) await page.locator('input[name=size]').press('Enter')
    }
    expect(await sentBy(held)).to.equal(1)
    await says(page, /Buy USDC\s+1,25[01]\.\d+\s+(4\.00|3\.99) USDC/)
  })

  /** Holds a key until it has repeated. */
  async function hold(key: string): Promise<void> {
    for (let n = 0; n < 3; n += 1) await page.keyboard.down(key)
    await page.keyboard.up(key)
  }

  it('cancels one order by a key that is held, and none by the press that arms it', async () => {
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByLabel(/Keys for orders/).check()
    await page.keyboard.press('Escape')
    await page.getByRole('region', { name: 'open', exact: true }).focus()
    await hold('x')
    await says(page, /Order keys are armed/)
    await hold('x')
    await says(page, /Cancel all of cNGN-USDC \(1\)/)
    await says(page, /1 order is cancelled/)
    await page.getByRole('button', { name: 'Cancel all of cNGN-USDC (1)' }).click()
    await says(page, /No open orders/)
  })

  it('takes neither a double click nor a key that is held for the answer to its question', async () => {
    const maker = createTrader(venue.devnet, 2)
    const offer = await maker.place({ side: 'buy', amount: '16000', price: '0.000625' })
    await says(page, /1,600\.0+\s+10\.00/)
    await type('1800', '5')
    await says(page, /Fills now\s+(5\.00|4\.99) USDC/)
    await submit().dblclick()
    await says(page, /Press again if it is meant/)
    await page.locator('input[name=size]').fill('4')
    await says(page, /Fills now\s+(4\.00|3\.99) USDC/)
    await hold('Enter')
    await says(page, /Press again if it is meant/)
    expect(await submit().innerText()).to.equal('Place anyway')
    await page.locator('input[name=size]').fill('')
    await maker.cancel(offer)
  })

  it('buys the size that it asks for, however far the limit is, once it has pressed twice', async () => {
    const maker = createTrader(venue.devnet, 2)
    const offer = await maker.place({ side: 'buy', amount: '16000', price: '0.000625' })
    await says(page, /1,600\.0+\s+10\.00/)
    await type('1800', '5')
    await says(page, /Fills now\s+(5\.00|4\.99) USDC/)
    await submit().click()
    await says(page, /more than 5 % beyond the best of the book\. Press again if it is meant/)
    await submit().click()
    await list('Fills')
    await says(page, /Buy USDC\s+1,600\.0+\s+(5\.00|4\.99)\s+\S+\s+taker\s+0x/)
    await maker.cancel(offer)
  })

  it('buys at market within the guard', async () => {
    const maker = createTrader(venue.devnet, 2)
    const offer = await maker.place({ side: 'buy', amount: '16000', price: '0.000625' })
    await says(page, /1,600\.0+\s+10\.00/)
    await choose('Buy')
    await page
      .getByRole('group', { name: 'Kind of order' })
      .getByRole('button', { name: 'market' })
      .click()
    await page.locator('input[name=size]').fill('2')
    await says(page, /Average price\s+1,600\.0+/)
    await submit().click()
    await says(page, /Buy USDC at market: (matching|filled)/)
    await page
      .getByRole('group', { name: 'Kind of order' })
      .getByRole('button', { name: 'limit' })
      .click()
    await maker.cancel(offer)
  })

  it('asks again where the venue did not answer, and opens by a link that names no market', async () => {
    let failures = 1
    const fresh = await openPage(async (opened) => {
      await opened.route('**/v1/venue', (route) =>
        failures-- > 0 ? route.fulfill({ status: 503, body: 'starting' }) : route.continue(),
      )
    })
    await says(fresh, /The venue does not answer/)
    await fresh.evaluate("location.hash = '#/%'")
    await fresh.getByRole('button', { name: 'Try again' }).click()
    await fresh.locator('#health').waitFor()
    await eventually(() => expect(fresh.url()).to.match(/#\/cNGN-(PERP|USDC)$/), SHOWN_WITHIN_MS)
    await fresh.context().close()
  })
})
