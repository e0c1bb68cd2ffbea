import { expect } from 'chai'
import type { Browser, Page } from 'playwright-core'
import type { Hex } from '../../core/action.js'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { launchBrowser } from './stage/browser.js'
import { BASE_CHAIN_ID, installWallet, type BrowserWallet } from './stage/browser-wallet.js'
import { createPerpTrader } from './stage/perp-trader.js'

const SHOWN_WITHIN_MS = 30_000

describe('a wallet at the terminal in a browser', function () {
  let venue: TestVenue
  let browser: Browser
  let page: Page
  let wallet: BrowserWallet
  before(async () => {
    venue = await startVenue({ blockTime: 1, markets: SPOT_AND_PERP })
    browser = await launchBrowser()
    const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } })
    page = await context.newPage()
    const key = venue.devnet.accounts[3]?.private_key as Hex
    wallet = await installWallet(page, venue.devnet, key)
    await page.goto(`${venue.gatewayUrl}/#/cNGN-USDC`)
  })
  after(async () => {
    await browser?.close()
    await venue?.stop()
  })

  const says = (text: RegExp) =>
    eventually(async () => expect(await page.innerText('body')).to.match(text), SHOWN_WITHIN_MS)
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const account = () => page.locator('.bar-end button').nth(-2)
  const closeDialog = () => button('Close the dialog').click()
  const list = (name: string) =>
    page
      .getByRole('group', { name: 'Lists' })
      .getByRole('button', { name: new RegExp(`^${name}`) })
      .click()
  async function place(side: string, price: string, size: string): Promise<void> {
    await page.getByRole('group', { name: 'Side' }).getByRole('button', { name: side }).click()
    await page.locator('input[name=price]').fill(price)
    await page.locator('input[name=size]').fill(size)
    await page.locator('.ticket button[type=submit]').click()
  }
  const openMarket = (name: string) =>
    page
      .getByRole('link', { name: new RegExp(`^${name}`) })
      .first()
      .click()

  it('goes on after a rejected connection and a wrong chain, without a reload', async () => {
    await wallet.moveTo(BASE_CHAIN_ID)
    wallet.rejectNext('eth_requestAccounts')
    await account().click()
    await button('Connect Test Wallet').click()
    await says(/You rejected the connection in the wallet\. Try again/)
    await button('Connect Test Wallet').click()
    await says(/The wallet is on chain 8453/)
    expect(wallet.misled).to.deep.equal([])
    await button('Switch the wallet to the venue').click()
    await says(/Trade without prompts/)
    await closeDialog()
  })

  it('asks again for what was rejected, and nothing at a change of market', async () => {
    await page.reload()
    const rejecting = setInterval(() => wallet.rejectNext('personal_sign'), 10)
    const again = button('Try again')
    await again.waitFor({ timeout: SHOWN_WITHIN_MS })
    clearInterval(rejecting)
    await eventually(async () => {
      if (await again.isVisible()) await again.click()
      await list('Funds')
      expect(await page.innerText('body')).to.match(/Trading account \d+/)
      expect(await again.isVisible()).to.equal(false)
    }, SHOWN_WITHIN_MS)
    const before = wallet.prompts.length
    await openMarket('cNGN-PERP')
    await says(/Funding, 1 h/)
    await openMarket('cNGN-USDC')
    expect(wallet.prompts.length).to.equal(before)
  })

  it('places by a signature of the wallet, also after one was rejected', async () => {
    wallet.rejectNext('eth_signTypedData_v4')
    await list('Open')
    await place('Buy USDC', '1300', '5')
    await says(/Not signed: You rejected the signature in the wallet/)
    await page.locator('.ticket button[type=submit]').click()
    await says(/Buy USDC\s+1,300\.0+\s+(5\.00|4\.99) USDC/)
    await button(/^Cancel page-/).click()
    await says(/No open orders/)
  })

  it('trades without prompts once it has enabled trading, until it revokes', async () => {
    await account().click()
    await button('Enable trading').click()
    await says(/On the chain: 0x[0-9a-f]{64}[\s\S]*Done/)
    expect(wallet.prompts.at(-1)).to.equal('eth_sendTransaction')
    await closeDialog()
    const before = wallet.prompts.length
    await list('Open')
    for (const price of ['1300', '1310', '1320']) {
      await place('Buy USDC', price, '5')
      await says(new RegExp(`Buy USDC\\s+1,${price.slice(1)}\\.0+`))
    }
    await openMarket('cNGN-PERP')
    await says(/Funding, 1 h/)
    await openMarket('cNGN-USDC')
    await button('Cancel all of cNGN-USDC (3)').click()
    await says(/3 orders are cancelled/)
    await place('Buy USDC', '1330', '5')
    await says(/Buy USDC\s+1,330\.0+/)
    expect(wallet.prompts.length).to.equal(before)
    await account().click()
    await button('Revoke').click()
    await says(/On the chain: 0x[0-9a-f]{64}[\s\S]*Done/)
    await closeDialog()
    await says(/No open orders/)
  })

  it('opens a position, sees it as foretold, and closes it whole', async () => {
    const maker = createPerpTrader(venue.devnet, 2)
    await maker.place({ side: 'sell', size: 60_000, price: '0.00066' })
    await maker.place({ side: 'buy', size: 60_000, price: '0.00064' })
    await openMarket('cNGN-PERP')
    await says(/0\.00066000\s+60,000/)
    await place('Long cNGN', '0.00066', '50000')
    await list('Positions')
    await says(/cNGN-PERP\s+long\s+50,000 cNGN\s+[\d.]+ USDC\s+0\.00066000/)
    await button(/^Close cNGN-PERP|^Close$/)
      .first()
      .click()
    await says(/Fills now\s+50,000 cNGN/)
    await button('Close 100 % at market').click()
    await says(/No open positions/)
  })
})
