import { expect } from 'chai'
import type { Browser } from 'playwright-core'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { wrongOf } from '../support/axe.js'
import { launchBrowser } from '../../bench/browser.js'
import { openTerminal, THEMES, tradeWithDemo } from './stage/page-looks.js'

describe('the terminal to those who do not see it, or use no pointer', function () {
  let venue: TestVenue
  let browser: Browser
  before(async () => {
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP, demoAccounts: true })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
  })

  for (const theme of THEMES) {
    for (const width of [390, 820, 1440]) {
      it(`is without fault at ${width} pixels in ${theme}, dialogs among it`, async () => {
        const wrong: string[] = []
        const url = `${venue.gatewayUrl}/#/cNGN-USDC`
        const page = await openTerminal(browser, url, { width, theme })
        wrong.push(...(await wrongOf(page)))
        await tradeWithDemo(page)
        await page.goto(`${venue.gatewayUrl}/#/cNGN-PERP`)
        await page.getByText('Funding, 1 h').waitFor()
        for (const name of ['Positions', 'Open', 'Fills', 'History', 'Funds']) {
          const lists = page.getByRole('group', { name: 'Lists' })
          await lists.getByRole('button', { name: new RegExp(`^${name}`) }).click()
          wrong.push(...(await wrongOf(page)))
        }
        for (const opener of [/^Deposit/, /^Withdraw/, 'Settings', /^Demo.* · 0x/]) {
          await page.getByRole('button', { name: opener }).first().click()
          await page.getByRole('dialog').waitFor()
          wrong.push(...(await wrongOf(page)))
          await page.keyboard.press('Escape')
        }
        if (width === 390) {
          await page.getByRole('button', { name: 'Buy', exact: true }).click()
          wrong.push(...(await wrongOf(page)))
        }
        expect([...new Set(wrong)]).to.deep.equal([])
        await page.context().close()
      })
    }
  }

  it('goes through the book by arrows, and fills the ticket by Enter', async () => {
    const url = `${venue.gatewayUrl}/#/cNGN-USDC`
    const page = await openTerminal(browser, url, { width: 1440, theme: 'dark' })
    await tradeWithDemo(page)
    for (const price of ['1400', '1410']) {
      await page.locator('input[name=price]').fill(price)
      await page.locator('input[name=size]').fill('10')
      await page.locator('input[name=size]').press('Enter')
      await page.getByText(`Buy USDC at ${price}: open`).first().waitFor()
    }
    await page.locator('table.ladder').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await page.locator('input[name=price]').inputValue()).to.match(/^1400/)
    await page.context().close()
  })
})
