import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import type * as Client from '../../client/index.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { launchBrowser } from '../../bench/browser.js'
import { serveClient, type Elsewhere } from './stage/elsewhere.js'
import { createTrader } from './stage/trader.js'

const SHOWN_WITHIN_MS = 30_000

describe('the terminal beside other pages', function () {
  let venue: TestVenue
  let browser: Browser
  let elsewhere: Elsewhere
  before(async () => {
    elsewhere = await serveClient()
    const env = { ALLOWED_ORIGINS: elsewhere.origin }
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP, env })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
    await elsewhere?.close()
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
      names: ['cNGN-PERP', 'cNGN-USDC'],
      best: '0.0005',
      code: 'order_id_required',
    })
    await other.close()
    await maker.cancel(quote)
  })

  it('has documents that can be tried out as they are', async () => {
    const docs = await browser.newPage()
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
    for (const name of ['docs/start', 'docs/feed', 'docs/codes', 'docs/first-fill']) {
      const href = await docs.getByRole('link', { name, exact: true }).getAttribute('href')
      expect(href).to.equal(name)
    }
    await docs.close()
  })
})
