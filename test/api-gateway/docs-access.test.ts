import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import { launchBrowser } from '../../bench/browser.js'
import { wrongOf } from '../support/axe.js'
import { aGatewayStage, type GatewayStage } from '../support/gateway-stage.js'

/** Rows and words of long pages that look like those before them: axe takes many seconds for all. */
const ALIKE = ['tbody tr:nth-child(n + 6)', '.microlight span:nth-child(n + 40)']

describe('the documents to those who do not see them', () => {
  let gateway: GatewayStage
  let browser: Browser
  before(async () => {
    gateway = await aGatewayStage()
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await gateway?.close()
  })
  const open = (page: Page, name: string) => page.goto(`http://127.0.0.1:${gateway.port}/${name}`)

  it('are without fault', async () => {
    const page = await browser.newPage()
    const wrong: string[] = []
    for (const name of ['start', 'feed', 'codes', 'first-fill', 'rules']) {
      await open(page, `docs/${name}`)
      wrong.push(...(await wrongOf(page, ALIKE)).map((it) => `${name}: ${it}`))
    }
    await page.close()
    expect(wrong).to.deep.equal([])
  })

  it('nor is one in the dark, where colours alone differ', async () => {
    const page = await browser.newPage({ colorScheme: 'dark' })
    await open(page, 'docs/start')
    expect(await wrongOf(page, ALIKE)).to.deep.equal([])
    await page.close()
  })

  it('so is the interface, with a read that was answered and an order that is written', async () => {
    const page = await browser.newPage()
    await open(page, 'docs')
    const block = (operation: string) =>
      page.locator(`[id^="operations-"][id$="-${operation}"]`).first()
    for (const operation of ['readBook', 'placeOrder']) {
      await block(operation).locator('.opblock-summary-control').click()
      await block(operation).getByRole('button', { name: 'Execute' }).waitFor()
    }
    await block('readBook').getByRole('button', { name: 'Execute' }).click()
    await block('readBook').locator('.live-responses-table .response').first().waitFor()
    expect(await wrongOf(page, ALIKE)).to.deep.equal([])
    await page.close()
  })

  it('long ones have contents, and a field that finds the rows with all its words', async () => {
    const page = await browser.newPage()
    await open(page, 'docs/codes')
    const contents = page.getByRole('navigation', { name: 'Contents' })
    const chapter = contents.getByRole('link', { name: 'Placing orders: fields' })
    await page.locator(`h3${await chapter.getAttribute('href')}`).waitFor()
    const rows = page.locator('tbody tr:visible')
    const all = await rows.count()
    await page.getByLabel('Find').fill('post_only cross')
    const found = page.getByRole('status').filter({ hasText: /^[1-9]\d? found$/ })
    await found.waitFor()
    expect(await rows.count())
      .to.be.above(0)
      .and.below(10)
    await page.getByRole('cell', { name: 'post_only_would_cross', exact: true }).first().waitFor()
    expect(await page.locator('h3:visible').count()).to.be.below(3)
    await page.getByLabel('Find').fill('')
    expect(await rows.count()).to.equal(all)
    await page.close()
  })
})
