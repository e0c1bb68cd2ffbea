import type { Browser, BrowserContextOptions } from 'playwright-core'
import { createRestClient } from '../../../client/index.js'
import { dateCodeOf } from '../../../core/contracts/future.js'
import { eventually } from '../../support/eventually.js'
import { startVenue, type TestVenue } from '../../support/venue.js'
import { launchBrowser } from '../../../bench/browser.js'
import { deskOf, type Desk } from './terminal-desk.js'

const HOUR_SEC = 3_600
const DAY_SEC = 86_400
/** Trading in the first series ends an hour before its expiry: so long after now. The venue opens it before. */
const FIRST_TRADES_SEC = 180

/** The venue that the stories share, and their browser. */
export interface StoryVenue {
  readonly venue: TestVenue
  readonly browser: Browser
  /** The series whose trading ends while the stories run, and the next one. */
  readonly series: { readonly ending: string; readonly open: string }
  /** A page of a browser that was never here, once its feed is there. */
  freshDesk(market: string, options?: FreshOptions): Promise<Desk>
  stop(): Promise<void>
}

export interface FreshOptions extends BrowserContextOptions {
  /** What is done to the page before it opens. */
  readonly prepare?: (desk: Desk) => Promise<void>
}

/** How many times slower the processor of the pages from `freshDesk` is; set by hand (test/README.md). */
const SLOWER = Number(process.env.PAGE_SLOWER ?? 1)

/** All kinds of market, two series among them; an index that moves on, and demo accounts. */
export async function startStoryVenue(): Promise<StoryVenue> {
  const browser = await launchBrowser()
  try {
    const firstSec = Math.floor(Date.now() / 1_000) + HOUR_SEC + FIRST_TRADES_SEC
    const expiries = [0, 30, 60].map((days) => firstSec + days * DAY_SEC)
    const [ending = '', open = ''] = expiries.map((sec) => `USDC-cNGN-${dateCodeOf(BigInt(sec))}`)
    const dates = expiries.map((sec) => new Date(sec * 1_000).toISOString().replace('.000', ''))
    const venue = await startVenue({
      markets: 'all',
      feeder: true,
      demoAccounts: true,
      env: { FUTURES_CALENDAR: dates.join(','), FEEDER_EVERY_S: '2' },
    })
    const rest = createRestClient(venue.gatewayUrl)
    await eventually(async () => {
      const entry = (await rest.markets()).find(({ market }) => market === open)
      return entry?.trading_status === 'open' && entry.future?.band_status === 'ok'
    }, 100_000)
    return {
      venue,
      browser,
      series: { ending, open },
      async freshDesk(market, { prepare, ...options } = {}) {
        const viewport = { width: 1440, height: 1000 }
        const page = await (await browser.newContext({ viewport, ...options })).newPage()
        const session = await page.context().newCDPSession(page)
        await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER })
        const desk = deskOf(page)
        await prepare?.(desk)
        await page.goto(`${venue.gatewayUrl}/#/${market}`)
        await desk.health(/live|halted/)
        return desk
      },
      async stop() {
        await browser.close()
        await venue.stop()
      },
    }
  } catch (error) {
    await browser.close()
    throw error
  }
}
