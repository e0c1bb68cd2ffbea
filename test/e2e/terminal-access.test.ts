import { expect } from 'chai'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { createRestClient } from '../../client/index.js'
import { wrongOf } from '../support/axe.js'
import { startVenue, type TestVenue } from '../support/venue.js'
import { launchBrowser } from '../../bench/browser.js'
import { createTrader } from './stage/trader.js'
import { openTerminal, THEMES, tradeWithDemo } from './stage/page-looks.js'

type TradersBrowser = Awaited<ReturnType<BrowserContext['storageState']>>

describe('the terminal to those who do not see it, or use no pointer', function () {
  let venue: TestVenue
  let browser: Browser
  let series: string
  let state: TradersBrowser
  before(async () => {
    venue = await startVenue({ blockTime: 1, markets: 'all', demoAccounts: true })
    const markets = await createRestClient(venue.gatewayUrl).markets()
    series = markets.find(({ future }) => future !== undefined)?.market ?? ''
    browser = await launchBrowser()
    state = await aTradersBrowser()
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
  })

  /** A browser whose demo account has an open order, and a position in the perpetual. */
  async function aTradersBrowser(): Promise<TradersBrowser> {
    const look = { width: 1440, theme: 'dark' } as const
    const first = await openTerminal(browser, linkTo('cNGN-PERP'), look)
    await tradeWithDemo(first)
    const { perp_subaccount_id: subaccountId = '' } = venue.devnet.accounts[0] ?? {}
    const desk = { market: 'cNGN-PERP', subaccountId }
    const maker = createTrader(venue.devnet, 0, undefined, desk)
    await maker.place({ side: 'sell', amount: '50000', price: '0.00065' })
    const place = async (page: Page, price: string, size: string): Promise<void> => {
      await page.locator('input[name=price]').fill(price)
      await page.locator('input[name=size]').fill(size)
      await page.locator('input[name=size]').press('Enter')
    }
    await place(first, '0.00065', '50000')
    await first.getByText('Long cNGN at 0.00065: filled').first().waitFor({ timeout: 60_000 })
    const kept = await first.context().storageState()
    await first.context().close()
    const second = await openTerminal(browser, linkTo('cNGN-USDC'), { ...look, state: kept })
    await place(second, '1400', '10')
    await second.getByText('Buy USDC at 1400: open').first().waitFor()
    await second.context().close()
    return kept
  }

  /** What is wrong in the dialog that this opens. A key that comes before the last one is gone opens none. */
  async function inDialog(page: Page, open: () => Promise<unknown>): Promise<readonly string[]> {
    await open()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    const wrong = await wrongOf(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    return wrong
  }

  const choose = (page: Page, group: string, name: RegExp) =>
    page.getByRole('group', { name: group }).getByRole('button', { name }).click()
  const linkTo = (market: string) => `${venue.gatewayUrl}/#/${market}`

  for (const theme of THEMES) {
    for (const width of [390, 820, 1440]) {
      it(`is without fault at ${width} pixels in ${theme}, dialogs among it`, async () => {
        const wrong: string[] = []
        const note = async (): Promise<void> => void wrong.push(...(await wrongOf(page)))
        const noteDialog = async (name: string | RegExp): Promise<void> => {
          const open = () => page.getByRole('button', { name }).first().click()
          wrong.push(...(await inDialog(page, open)))
        }
        const page = await openTerminal(browser, linkTo('cNGN-USDC'), { width, theme, state })
        await note()
        await choose(page, 'Lists', /^Open/)
        await page.getByRole('button', { name: /^Edit page-/ }).waitFor()
        await note()
        for (const name of [/^Edit page-/, /^open$/, 'Settings', /^Demo.* · 0x/])
          await noteDialog(name)
        for (const key of ['?', 'Control+k'])
          wrong.push(...(await inDialog(page, () => page.keyboard.press(key))))
        await page.goto(linkTo('cNGN-PERP'))
        await page.getByText('Funding, 1 h').waitFor()
        for (const name of ['Fills', 'History', 'Positions', 'Funds']) {
          await choose(page, 'Lists', new RegExp(`^${name}`))
          if (name === 'Positions') await noteDialog(/^Close cNGN-PERP/)
          await note()
        }
        for (const name of [/^Deposit/, /^Withdraw/]) await noteDialog(name)
        const panes = width === 390 ? 'Panes' : 'What is shown'
        for (const name of ['depth', 'funding', 'liquidations', 'details']) {
          await choose(page, panes, new RegExp(`^${name}$`))
          await note()
        }
        await page.goto(linkTo(series))
        await page.getByText('Trading ends in').waitFor()
        await note()
        if (width === 390) {
          await page.getByRole('button', { name: 'Buy', exact: true }).click()
          await note()
        }
        expect([...new Set(wrong)]).to.deep.equal([])
        await page.context().close()
      })
    }
  }

  for (const theme of THEMES)
    it(`lets in without fault in ${theme}`, async () => {
      const page = await openTerminal(browser, linkTo('cNGN-USDC'), { width: 390, theme })
      const wrong = [
        ...(await wrongOf(page)),
        ...(await inDialog(page, () =>
          page.getByRole('button', { name: 'Account', exact: true }).click(),
        )),
      ]
      expect(wrong).to.deep.equal([])
      await page.context().close()
    })

  it('goes through the book by arrows, and fills the ticket by Enter', async () => {
    const url = `${venue.gatewayUrl}/#/cNGN-USDC`
    const page = await openTerminal(browser, url, { width: 1440, theme: 'dark', state })
    for (const price of ['1405', '1410']) {
      await page.locator('input[name=price]').fill(price)
      await page.locator('input[name=size]').fill('10')
      await page.locator('input[name=size]').press('Enter')
      await page.getByText(`Buy USDC at ${price}: open`).first().waitFor()
    }
    await page.locator('table.ladder').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    expect(await page.locator('input[name=price]').inputValue()).to.match(/^1405/)
    await page.context().close()
  })
})
