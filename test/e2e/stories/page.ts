import { expect } from 'chai'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { eventually } from '../../support/eventually.js'
import type { TestVenue } from '../../support/venue.js'
import { listen, subscribe } from '../black-box/socket.js'
import type { StoryVenue } from '../stage/story-venue.js'
import { BOOK, deskOf, OWN, type Desk } from '../stage/terminal-desk.js'
import { createTrader, type Trader } from '../stage/trader.js'

/** What a page shows follows a fill within a second; a busy machine takes longer. */
const SHOWN_WITHIN_MS = 30_000
/** Compressed, as a browser loads them: what the first paint needs, the chart, the style sheet. */
const FIRST_BYTES_MAX = 95_000
const CHART_BYTES_MAX = 60_000
const STYLE_BYTES_MAX = 12_000
/** What shows a fill must show it so soon, at least once in so many fills: the machine may have been busy at the others. */
const FILL_SHOWN_MS = 1_000
const FILLS_TRIED = 5

type Part = 'book' | 'depth' | 'candles' | 'trades'

/** Notes in the page when each of the parts that are shown begins to look another way than now, in unix milliseconds. */
const WATCH_PARTS = `(() => {
  const looks = {
    book: () => document.querySelector('table.ladder')?.textContent,
    depth: () => document.querySelector('svg.depth')?.innerHTML,
    candles: () => [...document.querySelectorAll('.chart canvas')].map((each) => each.toDataURL()).join() || undefined,
    trades: () => document.querySelector('table.tape')?.textContent,
  }
  const before = Object.entries(looks).map(([part, look]) => [part, look, look()])
    .filter(([, , then]) => then !== undefined)
  const changed = (globalThis.changed = {})
  const timer = setInterval(() => {
    for (const [part, look, then] of before) if (!(part in changed) && look() !== then) changed[part] = Date.now()
    if (Object.keys(changed).length === before.length) clearInterval(timer)
  }, 20)
})()`

/** What the page shows and does, with an account of the devnet's file; the book is empty at first. */
export function pageStories(stage: () => StoryVenue): void {
  let venue: TestVenue
  let page: Page
  let desk: Desk
  const wrong: string[] = []
  before(async () => {
    venue = stage().venue
    page = await openPage()
    desk = deskOf(page)
  })
  after(() => page?.context().close())
  /** A page of which everything that breaks, and every request off the host, is noted. */
  async function openPage(): Promise<Page> {
    const viewport = { width: 1440, height: 1000 }
    const opened = await (await stage().browser.newContext({ viewport })).newPage()
    opened.on('pageerror', (error) => wrong.push(error.message))
    opened.on('requestfailed', (request) => wrong.push(`${request.url()} failed`))
    opened.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(venue.gatewayUrl).host) wrong.push(request.url())
    })
    opened.on('console', (message) => {
      if (/Content Security Policy|preload/.test(message.text())) wrong.push(message.text())
    })
    return opened
  }

  async function aTrade(maker: Trader, taker: Trader): Promise<void> {
    const resting = await maker.place({ side: 'sell', amount: '1600', price: '0.000625' })
    await taker.place({ side: 'buy', amount: '1600', price: '0.000625' })
    await maker.until(resting.order_id, 'filled')
  }

  it('shows the markets, and the book and trades of one as they change', async () => {
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    await page.goto(`${venue.gatewayUrl}/#/cNGN-USDC`)
    await page.getByRole('link', { name: /^cNGN-PERP/ }).waitFor()
    await desk.shows(BOOK, /No open orders/)
    const quote = await maker.place({ side: 'buy', amount: '2000', price: '0.0005' })
    // A bid for cNGN at 0.0005 USDC offers one USDC at 2,000 cNGN each.
    await desk.shows(BOOK, /2,000\.0+\s+1\.00\s+1\.00/)
    await aTrade(maker, taker)
    await desk.shows('Trades', /1,600\.0+[^0-9]+1\.00\s+[\d:]+\s+0x[0-9a-f]{6}/)
    await maker.cancel(quote)
    await desk.shows(BOOK, /No open orders/)
    await desk.button('details').click()
    await desk.shows('Chart and details', /Engine price in\s+USDC per cNGN/i)
    await desk.button('chart').click()
    await eventually(async () => {
      expect(await page.locator('#health').innerText()).to.match(/live/)
    }, SHOWN_WITHIN_MS)
  })

  it('changes book, depth, candles and trades within a second of a fill', async () => {
    const maker = createTrader(venue.devnet, 0)
    const taker = createTrader(venue.devnet, 1)
    const feed = await listen(venue.devnet, subscribe('trades', 'cNGN-USDC'))
    const quotes = [
      await maker.place({ side: 'buy', amount: '2000', price: '0.0005' }),
      await maker.place({ side: 'sell', amount: '2000', price: '0.0008' }),
    ]
    /** How long after a fill each part of the page shows it, in milliseconds; book and depth show the match before it. */
    async function lagsOf(price: string, shownPrice: RegExp, parts: number): Promise<number[]> {
      const resting = await maker.place({ side: 'sell', amount: '2000', price })
      await desk.shows(BOOK, shownPrice)
      await page.evaluate(WATCH_PARTS)
      const crossing = await taker.place({ side: 'buy', amount: '2000', price })
      const matchedMs = Date.now()
      await feed.next(({ data }) => data?.taker_order_id === crossing.order_id)
      const filledMs = Date.now()
      await maker.until(resting.order_id, 'filled')
      let changed: Partial<Record<Part, number>> = {}
      await eventually(async () => {
        changed = await page.evaluate<typeof changed>('globalThis.changed')
        return Object.keys(changed).length === parts
      }, SHOWN_WITHIN_MS)
      const since = (part: Part): number =>
        part === 'book' || part === 'depth' ? matchedMs : filledMs
      return (Object.entries(changed) as [Part, number][]).map(([part, at]) => at - since(part))
    }
    let ticks = 640
    // Depth stands where the candles stand.
    for (const pane of ['chart', 'depth']) {
      await desk.button(pane).click()
      if (pane === 'chart') await page.locator('.chart canvas').first().waitFor()
      const tried: number[][] = []
      const isSoon = (lags: readonly number[]) => lags.every((lagMs) => lagMs <= FILL_SHOWN_MS)
      while (!tried.some(isSoon) && tried.length < FILLS_TRIED) {
        ticks += 1
        const whole = `${1e6 / ticks}`.slice(0, 4)
        tried.push(await lagsOf(`0.000${ticks}`, new RegExp(`1,${whole.slice(1)}`), 3))
      }
      expect(tried.some(isSoon), `${pane} ${JSON.stringify(tried)}`).to.equal(true)
    }
    await desk.button('chart').click()
    for (const quote of quotes) await maker.cancel(quote)
    feed.close()
  })

  it('foretells, places and cancels an order with an account of the devnet', async () => {
    await page.getByRole('button', { name: 'Account', exact: true }).click()
    await page.locator('#devnet').setInputFiles(join(venue.dataDir, 'devnet.json'))
    await page
      .getByText(/devnet|account/i)
      .first()
      .waitFor()
    await desk.closeDialog()
    await page.locator('input[name=price]').fill('1400')
    await page.locator('input[name=size]').fill('10')
    await desk.shows('Order', /You give at most\s+14,000\.0+ cNGN/)
    await desk.shows('Order', /You receive at least\s+9\.9\d USDC/)
    await desk.shows('Order', /Fills now\s+nothing: it rests/)
    await page.getByText('What is signed').click()
    await desk.shows(
      'Order',
      /buy USDC at 1,400\.0+ cNGN per USDC or better: give at most 14,000\.0+ cNGN/,
    )
    await desk.place('Buy USDC', '1400', '10')
    await desk.list('Open')
    await desk.shows(OWN, /Buy USDC\s+1,400\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+open/)
    await desk.list('Funds')
    await desk.shows(OWN, /cNGN\s+[\d,.]+\s+14,000\.0+\s+[\d,.]+/)
    await desk.list('Open')
    await desk.button(/^Cancel page-/).click()
    await desk.shows(OWN, /No open orders/)
    await desk.list('History')
    await desk.shows(
      OWN,
      /Buy USDC\s+1,400\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+cancelled\s+cancelled on the page/,
    )
    await desk.list('Funds')
    await desk.shows(OWN, /cNGN\s+[\d,.]+\s+0\.00\s+[\d,.]+/)
  })

  it('shows an order that meets another from its match to its transaction, and its life', async () => {
    const maker = createTrader(venue.devnet, 2)
    await maker.place({ side: 'sell', amount: '6400', price: '0.000625' })
    await desk.place('Sell USDC', '1600', '4')
    await desk.list('Fills')
    await desk.shows(
      OWN,
      /Sell USDC\s+1,600\.0+\s+(4\.00|3\.99) USDC\s+[\d.]+\s+taker\s+0x[0-9a-f]{8}/,
    )
    await desk.list('History')
    await desk.button('filled').first().click()
    await eventually(async () => {
      const told = await page.getByRole('dialog').innerText()
      expect(told).to.match(/page-[\s\S]*filled[\s\S]*0x[0-9a-f]{64}/i)
    }, SHOWN_WITHIN_MS)
    await desk.closeDialog()
  })

  it('fills the ticket by a click on the book', async () => {
    const maker = createTrader(venue.devnet, 2)
    const offer = await maker.place({ side: 'buy', amount: '16000', price: '0.000625' })
    await desk.shows(BOOK, /1,600\.0+\s+10\.00/)
    await page.locator('.ladder button[data-what=sum]').first().click()
    expect(await page.locator('input[name=price]').inputValue()).to.match(/^1600/)
    expect(await page.locator('input[name=size]').inputValue()).to.match(/^10\.00/)
    expect(await desk.button('Buy USDC').first().getAttribute('aria-pressed')).to.equal('true')
    await maker.cancel(offer)
    await page.locator('input[name=size]').fill('')
  })

  it('cancels all by one signature, also by the keyboard alone', async () => {
    for (const price of ['1300', '1200']) {
      await page.getByRole('group', { name: 'Side' }).getByRole('button', { name: 'Buy' }).click()
      await page.locator('input[name=price]').fill(price)
      await page.locator('input[name=size]').fill('10')
      await page.locator('input[name=size]').press('Enter')
      await desk.list('Open')
      await desk.shows(OWN, new RegExp(`Buy USDC\\s+1,${price.slice(1)}`))
    }
    await desk.button('Cancel all of cNGN-USDC (2)').press('Enter')
    await page.getByText('2 orders are cancelled').first().waitFor()
    await desk.shows(OWN, /No open orders/)
  })

  it('changes an order in place: less keeps its place, another price takes a new one', async () => {
    await desk.place('Buy USDC', '1300', '10')
    await desk.list('Open')
    await desk.shows(OWN, /1,300\.0+\s+(10\.00|9\.99) USDC/)
    await desk.button(/^Edit page-/).click()
    await page.getByLabel('New size in all').fill('4')
    await desk.button('Change the order').click()
    await desk.shows(OWN, /1,300\.0+\s+(4\.00|3\.99) USDC/)
    await desk.button(/^Edit page-/).click()
    await page.getByLabel('New price').fill('1250')
    await desk.button('Change the order').click()
    await desk.shows(OWN, /1,250\.0+\s+(4\.00|3\.99) USDC/)
    await desk.button(/^Cancel page-/).click()
    await desk.shows(OWN, /No open orders/)
  })

  it('moves an order by its line on the chart, asks before it is sent, and leaves it by Escape', async () => {
    await desk.place('Buy USDC', '1550', '4')
    await desk.shows(OWN, /1,550\.0+\s+(4\.00|3\.99) USDC/)
    const grip = page.getByRole('button', { name: /^Move Buy USDC/ })
    const dialog = page.getByRole('dialog', { name: /^Edit: Buy USDC/ })
    // A chart that is drawn at another scale moves the grip from under the pointer.
    let [x, y] = [0, 0]
    await eventually(async () => {
      await grip.hover()
      ;({ x = 0, y = 0 } = (await grip.boundingBox()) ?? {})
      await page.mouse.down()
      const isHeld = await grip.evaluate(
        (it: { onpointermove: unknown }) => it.onpointermove !== null,
      )
      if (!isHeld) await page.mouse.up()
      return isHeld
    })
    await page.mouse.move(x + 5, y + 60, { steps: 4 })
    await eventually(async () => expect(await grip.innerText()).to.match(/1,5[0-4]\d\.\d{4}/))
    await page.keyboard.press('Escape')
    await page.mouse.up()
    expect(await dialog.isVisible()).to.equal(false)
    await grip.focus()
    for (const key of ['Shift+ArrowDown', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    // Eleven basis points of it below.
    expect(await dialog.getByLabel('New price').inputValue()).to.match(/^1548\.29/)
    await desk.button('Change the order').click()
    await desk.shows(OWN, /1,548\.29\d*\s+(4\.00|3\.99) USDC/)
    await desk.button(/^Cancel page-/).click()
    await desk.shows(OWN, /No open orders/)
  })

  it('says why an order is refused, and refuses the file of another venue', async () => {
    await page.locator('input[name=price]').fill('1400')
    await page.locator('input[name=size]').fill('999999999')
    await desk.shows('Order', /less free than the order can take/)
    await page.locator('.ticket button[type=submit]').click()
    await desk.shows('Order', /less free than the order can take/)
    await page.locator('input[name=size]').fill('')
    await desk.button(/0x[0-9a-fA-F]{4}…/).click()
    const other = { name: 'devnet.json', mimeType: 'application/json', buffer: Buffer.from('{}') }
    await page.locator('#devnet').setInputFiles(other)
    await page.getByText('describes another venue').waitFor()
    await desk.closeDialog()
  })

  it('pays out of the account, after it has said in words what is signed', async () => {
    await desk.list('Funds')
    await desk
      .button(/^Withdraw/)
      .first()
      .click()
    await page.getByLabel('Amount to withdraw').fill('5')
    await page.getByText(/You sign: pay 5 USDC of account \d+ out to your wallet/).waitFor()
    await desk.button('Sign and withdraw').click()
    await page
      .getByText(/The withdrawal is confirmed: 0x[0-9a-f]{64}/)
      .waitFor({ timeout: SHOWN_WITHIN_MS })
    await page.getByLabel('Amount to withdraw').fill('999999999')
    await desk.button('Sign and withdraw').click()
    await page
      .getByText(/would revert/)
      .first()
      .waitFor({ timeout: SHOWN_WITHIN_MS })
    await desk.closeDialog()
  })

  it('shows what the perpetual adds, and the margin of the account', async () => {
    await desk.openMarket('cNGN-PERP')
    await eventually(async () => {
      expect(await page.locator('.head-facts').innerText()).to.match(/Funding, 1 h/)
    }, SHOWN_WITHIN_MS)
    await desk.button('details').click()
    await desk.shows('Chart and details', /Largest leverage\s+10/)
    await desk.button('chart').click()
    await desk.list('Positions')
    await desk.shows(OWN, /No open positions/)
    await desk.list('Funds')
    await desk.shows(OWN, /Margin account \d+[\s\S]*100,000\.0+/)
    await desk.button(/^Deposit/).click()
    await page.getByLabel('Amount to deposit').fill('25')
    await page
      .getByText(/You sign twice: let the deposit module take 25 USDC of your wallet/)
      .waitFor()
    await desk.button('Sign and deposit').click()
    await page
      .getByText(/The deposit is confirmed: 0x[0-9a-f]{64}/)
      .waitFor({ timeout: SHOWN_WITHIN_MS })
    await desk.closeDialog()
  })

  it('asks again where the venue did not answer, and opens by a link that names no market', async () => {
    const fresh = await openPage()
    await fresh.route('**/v1/venue', (route) => route.fulfill({ status: 503, body: 'starting' }), {
      times: 1,
    })
    await fresh.goto(`${venue.gatewayUrl}/#/cNGN-USDC`)
    await fresh.getByText('The venue does not answer').waitFor()
    await fresh.evaluate("location.hash = '#/%'")
    await fresh.getByRole('button', { name: 'Try again' }).click()
    await fresh.locator('#health').waitFor()
    await eventually(
      () => expect(fresh.url()).to.match(/#\/(USDC-)?cNGN-[A-Z0-9]+$/),
      SHOWN_WITHIN_MS,
    )
    await fresh.context().close()
  })

  it('loads nothing from elsewhere, breaks nowhere, and is small', async () => {
    const page = await openPage()
    const sizes = new Map<string, number>()
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (!pathname.startsWith('/web/')) return
      sizes.set(pathname.slice('/web/'.length), Number(response.headers()['content-length']))
    })
    await page.goto(`${venue.gatewayUrl}/#/cNGN-USDC`)
    await page.locator('.chart canvas').first().waitFor()
    const names = [...sizes.keys()]
    const chart = names.filter((name) => name.startsWith('draw-chart'))
    const sum = (some: readonly string[]) =>
      some.reduce((bytes, name) => bytes + (sizes.get(name) ?? Infinity), 0)
    expect(chart).to.have.length(1)
    expect(sum(chart)).to.be.below(CHART_BYTES_MAX)
    expect(sum(['style.css'])).to.be.below(STYLE_BYTES_MAX)
    const first = names.filter((name) => name.endsWith('.js') && !chart.includes(name))
    expect(sum(first)).to.be.below(FIRST_BYTES_MAX)
    await page.context().close()
    expect(wrong).to.deep.equal([])
  })
}
