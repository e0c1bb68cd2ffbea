import { expect } from 'chai'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import type * as Client from '../../client/index.js'
import { buildClient } from '../../devnet/build-client.js'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { listen, subscribe } from './black-box/socket.js'
import { launchBrowser } from './stage/browser.js'
import { createTrader, type Trader } from './stage/trader.js'

/** What a page shows follows a fill within a second; a busy machine takes longer. */
const SHOWN_WITHIN_MS = 30_000
const BUNDLE_BYTES_MAX = 250 * 1024
/** What shows a fill must show it so soon, at least once in so many fills: the machine may have been busy at the others. */
const FILL_SHOWN_MS = 1_000
const FILLS_TRIED = 5

type Part = 'book' | 'depth' | 'candles' | 'trades'

/** Notes in the page when each part begins to look another way than now, in unix milliseconds. */
const WATCH_PARTS = `(() => {
  const find = (name) =>
    [...document.querySelectorAll('section')].find((each) => each.querySelector('h2')?.textContent === name)
  const looks = {
    book: () => find('Book').querySelector('table').textContent,
    depth: () => find('Book').querySelector('svg').innerHTML,
    candles: () => [...find('Candles').querySelectorAll('canvas')].map((each) => each.toDataURL()).join(),
    trades: () => find('Trades').querySelector('table').textContent,
  }
  const before = Object.entries(looks).map(([part, look]) => [part, look, look()])
  const changed = (globalThis.changed = {})
  const timer = setInterval(() => {
    for (const [part, look, then] of before) if (!(part in changed) && look() !== then) changed[part] = Date.now()
    if (Object.keys(changed).length === before.length) clearInterval(timer)
  }, 20)
})()`

/** A site of another origin that serves the browser build of the client. */
interface Elsewhere {
  readonly origin: string
  close(): Promise<void>
}

async function serveClient(): Promise<Elsewhere> {
  const directory = await mkdtemp(join(tmpdir(), 'client-'))
  await buildClient(directory)
  const script = await readFile(join(directory, 'lib/browser.js'))
  await rm(directory, { recursive: true })
  const server = createServer(({ url }, response) => {
    const isScript = url === '/browser.js'
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html')
    response.end(isScript ? script : '<!doctype html><title>elsewhere</title>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

describe('the market page in a browser', function () {
  let venue: TestVenue
  let browser: Browser
  let page: Page
  let elsewhere: Elsewhere
  const wrong: string[] = []
  before(async () => {
    elsewhere = await serveClient()
    const env = { ALLOWED_ORIGINS: elsewhere.origin }
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP, env })
    browser = await launchBrowser()
    page = await openPage()
  })
  /** A page of which everything that breaks, and every request off the host, is noted. */
  async function openPage(): Promise<Page> {
    const opened = await browser.newPage({ viewport: { width: 1400, height: 1000 } })
    opened.on('pageerror', (error) => wrong.push(error.message))
    opened.on('requestfailed', (request) => wrong.push(`${request.url()} failed`))
    opened.on('request', (request) => {
      if (new URL(request.url()).host !== new URL(venue.gatewayUrl).host) wrong.push(request.url())
    })
    opened.on('console', (message) => {
      if (/Content Security Policy/.test(message.text())) wrong.push(message.text())
    })
    return opened
  }
  after(async () => {
    await browser?.close()
    await venue?.stop()
    await elsewhere?.close()
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

  it('changes book, depth, candles and trades within a second of a fill', async () => {
    const [maker, taker] = [createTrader(venue.devnet, 0), createTrader(venue.devnet, 1)]
    const feed = await listen(venue.devnet, subscribe('trades', 'cNGN-USDC'))
    const quotes = [
      await maker.place({ side: 'buy', amount: '2000', price: '0.0005' }),
      await maker.place({ side: 'sell', amount: '2000', price: '0.0008' }),
    ]
    /** How long after a fill each part of the page shows it, in milliseconds; book and depth show the match before it. */
    async function lagsOf(price: string, shownPrice: RegExp): Promise<Record<Part, number>> {
      const resting = await maker.place({ side: 'sell', amount: '2000', price })
      await shows('Book', shownPrice)
      await page.evaluate(WATCH_PARTS)
      const crossing = await taker.place({ side: 'buy', amount: '2000', price })
      const matchedMs = Date.now()
      await feed.next(({ data }) => data?.taker_order_id === crossing.order_id)
      const filledMs = Date.now()
      await maker.until(resting.order_id, 'filled')
      let changed: Partial<Record<Part, number>> = {}
      await eventually(async () => {
        changed = await page.evaluate<typeof changed>('globalThis.changed')
        return Object.keys(changed).length === 4
      }, SHOWN_WITHIN_MS)
      const { book = 0, depth = 0, candles = 0, trades = 0 } = changed
      return {
        ...{ book: book - matchedMs, depth: depth - matchedMs },
        ...{ candles: candles - filledMs, trades: trades - filledMs },
      }
    }
    const tried: Record<Part, number>[] = []
    const isSoon = (lags: Record<Part, number>) =>
      Object.values(lags).every((lagMs) => lagMs <= FILL_SHOWN_MS)
    while (!tried.some(isSoon) && tried.length < FILLS_TRIED) {
      const ticks = 640 + tried.length
      tried.push(await lagsOf(`0.000${ticks}`, new RegExp(`1 ${`${1e6 / ticks}`.slice(1, 4)}`)))
    }
    expect(tried.some(isSoon), JSON.stringify(tried)).to.equal(true)
    for (const quote of quotes) await maker.cancel(quote)
    feed.close()
  })

  it('checks, places and cancels an order with an account of the devnet', async () => {
    await page.locator('#devnet').setInputFiles(join(venue.dataDir, 'devnet.json'))
    await shows('Own orders and fills', /Orders of 0x/)
    await page.getByLabel('Price').fill('1400')
    await page.getByLabel('Size').fill('10')
    await shows(
      'Order',
      /You sign: buy USDC at 1,400\.0000 cNGN per USDC or better: give at most 14,000\.00 cNGN, receive at least 9\.9\d USDC/,
    )
    await shows('Order', 'Nothing of it fills now: it rests')
    await page.getByRole('button', { name: 'Check only' }).click()
    await shows('Order', 'The venue would take it')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await shows('Own orders and fills', /page-\S+\s+buy\s+1 400/)
    await shows('Balances', /Tokens[\s\S]*cNGN\s+[\d ]+\s+14 000\s+0\s+\d+/)
    await page.getByRole('button', { name: /^Cancel page-/ }).click()
    await shows('Own orders and fills', 'is cancelled')
    await shows('Own orders and fills', 'No open orders')
    await shows('Own orders and fills', /Ended[\s\S]*buy\s+1 400\s+10\s+0 %\s+cancelled: /)
    await shows('Balances', /cNGN\s+[\d .]+\s+0\s+0\s+\d/)
  })

  it('shows an order that meets another from its match to its transaction', async () => {
    const maker = createTrader(venue.devnet, 2)
    await maker.place({ side: 'sell', amount: '6400', price: '0.000625' })
    await page.getByLabel('Price').fill('1600')
    await page.getByLabel('Size').fill('4')
    await page.getByLabel('Side').selectOption('sell')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await shows(
      'Own orders and fills',
      /Fills[\s\S]*sell\s+1 600\s+4\s+taker\s+\S+\s+settled 0x[0-9a-f]{8}/,
    )
  })

  it('cancels all by one signature, also by the keyboard alone', async () => {
    await page.getByLabel('Side').selectOption('buy')
    for (const price of ['1300', '1200']) {
      await page.getByLabel('Price').fill(price)
      await page.getByLabel('Size').fill('10')
      await page.getByLabel('Size').press('Enter')
      await shows('Own orders and fills', new RegExp(`buy\\s+1 ${price.slice(1)}`))
    }
    await page.getByRole('button', { name: 'Cancel all of cNGN-USDC (2)' }).press('Enter')
    await shows('Own orders and fills', '2 orders are cancelled')
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

  it('pays out of the account, after it has said in words what is signed', async () => {
    await page.getByLabel('Amount to withdraw').fill('5')
    await shows('Funds', /You sign: pay 5 USDC of subaccount \d+ out to your wallet/)
    await page.getByRole('button', { name: 'Sign and withdraw' }).click()
    await shows('Funds', /The withdrawal is confirmed: 0x[0-9a-f]{64}/)
    await page.getByLabel('Amount to withdraw').fill('999999999')
    await page.getByRole('button', { name: 'Sign and withdraw' }).click()
    await shows('Funds', /would revert/)
  })

  it('shows what the perpetual adds, and the margin of the account', async () => {
    await page.getByRole('link', { name: 'cNGN-PERP' }).click()
    await shows('Market', /Funding of an hour/)
    await shows('Market', /Largest leverage\s+10/)
    await shows('Funds', /No position in this market/)
    await shows('Funds', /Margin[\s\S]*100000/)
    await page.getByLabel('Amount to deposit').fill('25')
    await shows('Funds', /You sign twice: let the deposit module take 25 USDC of your wallet/)
    await page.getByRole('button', { name: 'Sign and deposit' }).click()
    await shows('Funds', /The deposit is confirmed: 0x[0-9a-f]{64}/)
  })

  it('is no privilege: a page of an allowed origin uses the client alike', async () => {
    const maker = createTrader(venue.devnet, 2)
    const quote = await maker.place({ side: 'buy', amount: '2000', price: '0.0005' })
    const other = await browser.newPage()
    await other.goto(elsewhere.origin)
    // Runs in the page: it reads, keeps a book from the socket, and is refused with a code.
    const told = await other.evaluate(
      async ([client, venue, market]) => {
        const { createLocalBook, createRestClient, createSocketClient, VenueRefused } =
          (await import(client)) as typeof Client
        const rest = createRestClient(venue)
        const names = (await rest.markets()).map((one) => one.market)
        const refused: unknown = await rest.placeOrder({} as never).catch((error: unknown) => error)
        const book = createLocalBook()
        const socket = createSocketClient({ url: `${venue.replace('http', 'ws')}/v1/ws` })
        const best = await new Promise<string | undefined>((resolve) =>
          socket.subscribe('book', market, {
            onSnapshot: (snapshot, seq) => {
              book.reset(snapshot, seq)
              resolve(book.levels('buy')[0]?.price)
            },
            onUpdate: (delta, seq) => book.apply(delta, seq),
          }),
        )
        socket.close()
        return {
          names,
          best,
          code: refused instanceof VenueRefused ? refused.code : String(refused),
        }
      },
      ['/browser.js', venue.gatewayUrl, 'cNGN-USDC'] as const,
    )
    expect(told).to.deep.equal({
      ...{ names: ['cNGN-PERP', 'cNGN-USDC'], best: '0.0005', code: 'order_id_required' },
    })
    await other.close()
    await maker.cancel(quote)
  })

  it('comes back when the fan-out is killed, with what happened meanwhile', async () => {
    await page.getByRole('link', { name: 'cNGN-USDC' }).click()
    await shows('Trades', /1 600/)
    const [maker, taker] = [createTrader(venue.devnet, 2), createTrader(venue.devnet, 3)]
    const health = (text: RegExp) =>
      eventually(async () => {
        expect(await page.locator('#health').innerText()).to.match(text)
      }, SHOWN_WITHIN_MS)
    await health(/^feed connected, .* behind$/)
    await venue.kill('ws-fanout', 'SIGKILL')
    const quote = await maker.place({ side: 'buy', amount: '2500', price: '0.0004' })
    const resting = await maker.place({ side: 'sell', amount: '1250', price: '0.0008' })
    await taker.place({ side: 'buy', amount: '1250', price: '0.0008' })
    await maker.until(resting.order_id, 'filled')
    await health(/^feed connected, .*, [1-9]\d* reconnects?$/)
    await shows('Trades', /1 250\s+1\s.*0x[0-9a-f]{8}/s)
    await shows('Book', /2 500\s+1\b/)
    await maker.cancel(quote)
    await shows('Book', 'No open orders')
    // Own orders come by a subscription that must prove the account again.
    await page.getByLabel('Subaccount').fill(venue.devnet.accounts[0]?.spot_subaccount_id ?? '')
    await page.getByLabel('Price').fill('1400')
    await page.getByLabel('Size').fill('10')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await shows('Own orders and fills', /page-\S+\s+buy\s+1 400/)
    await page.getByRole('button', { name: /^Cancel page-/ }).click()
    await shows('Own orders and fills', 'No open orders')
  })

  it('has documents that can be tried out as they are', async () => {
    const docs = await openPage()
    await docs.goto(`${venue.gatewayUrl}/docs`)
    /** Opens an operation, sends what is filled in, and resolves with the status and the body of the answer. */
    async function tryOut(operation: string): Promise<string> {
      const block = docs.locator(`[id^="operations-"][id$="-${operation}"]`)
      await block.locator('.opblock-summary-control').click()
      await block.getByRole('button', { name: 'Execute' }).click()
      const answer = block.locator('.live-responses-table .response').first()
      await answer.waitFor({ timeout: SHOWN_WITHIN_MS })
      return answer.innerText()
    }
    expect(await tryOut('readBook')).to.match(/^200\s[^]*"market_presentation"/)
    expect(await tryOut('placeOrder')).to.match(/^200\s[^]*"status": "active"/)
    expect(await tryOut('cancelOrder')).to.match(/^200\s[^]*"status": "cancelled"/)
    for (const name of ['docs/feed', 'docs/codes', 'docs/first-fill']) {
      const href = await docs.getByRole('link', { name, exact: true }).getAttribute('href')
      expect(href).to.equal(name)
    }
    await docs.close()
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
