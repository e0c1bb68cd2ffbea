import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { startVenue } from '../support/venue.js'
import { launchBrowser } from '../../bench/browser.js'
import { openTerminal, THEMES, tradeWithDemo, WIDTHS } from './stage/page-looks.js'

/**
 * Pictures of the terminal at four widths in both themes, in the directory that is named, `var/screenshots` by default: `npm run
 * screenshots`. They are of a devnet with its demo maker, so that there is something to see.
 */

const [, , directory = 'var/screenshots'] = process.argv
/** The maker quotes and trades for so long before the pictures. */
const TRADES_MS = 30_000

await mkdir(directory, { recursive: true })
const venue = await startVenue({
  blockTime: 1,
  markets: 'all',
  demoMaker: true,
  feeder: true,
  demoAccounts: true,
})
const browser = await launchBrowser()
try {
  const first = await openTerminal(browser, `${venue.gatewayUrl}/#/cNGN-USDC`, {
    width: 1440,
    theme: 'dark',
  })
  await tradeWithDemo(first)
  await first.waitForTimeout(TRADES_MS)
  const state = await first.context().storageState()
  await trade(first)
  for (const theme of THEMES) {
    for (const width of WIDTHS) {
      for (const market of ['cNGN-USDC', 'cNGN-PERP']) {
        const page = await openTerminal(browser, `${venue.gatewayUrl}/#/${market}`, {
          width,
          theme,
          state,
        })
        await show(page)
        await page.screenshot({ path: join(directory, `${market}-${width}-${theme}.png`) })
        await page.context().close()
      }
    }
  }
} finally {
  await browser.close()
  await venue.stop()
}

/** Some orders and fills, so that the lists are not empty. */
async function trade(page: Page): Promise<void> {
  const place = async (kind: 'limit' | 'market', price: string, size: string): Promise<void> => {
    await page
      .getByRole('group', { name: 'Kind of order' })
      .getByRole('button', { name: kind })
      .click()
    if (kind === 'limit') await page.locator('input[name=price]').fill(price)
    await page.locator('input[name=size]').fill(size)
    await page.locator('.ticket button[type=submit]').click()
    await page.locator('.toast.good, .toast.bad, .said:not(:empty)').first().waitFor()
  }
  await place('market', '', '25')
  await place('limit', '1500', '40')
  await page
    .getByRole('link', { name: /^cNGN-PERP/ })
    .first()
    .click()
  await page.getByText(/Funding, 1 h/).waitFor()
  await place('market', '', '50000')
  await place('limit', '0.0006', '20000')
  await page.waitForTimeout(5_000)
}

/** A price and a size in the ticket, and the lists of own orders. */
async function show(page: Page): Promise<void> {
  const list = page.getByRole('group', { name: 'Lists' })
  await list.getByRole('button', { name: /^Open/ }).click()
  const size = page.locator('input[name=size]')
  if (await size.isVisible()) {
    await page.getByRole('button', { name: 'ask', exact: true }).click()
    await page.getByRole('button', { name: '25 %', exact: true }).click()
  }
  const canvas = page.locator('.chart canvas').first()
  await canvas.waitFor()
  // The receipt waits for the venue's foresight.
  await page.waitForTimeout(1_500)
}
