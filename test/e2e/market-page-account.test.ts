import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import type { Browser, Page } from 'playwright-core'
import { eventually } from '../support/eventually.js'
import { SPOT_AND_PERP, startVenue, type TestVenue } from '../support/venue.js'
import { launchBrowser } from './stage/browser.js'
import { createTrader } from './stage/trader.js'

const SHOWN_WITHIN_MS = 30_000
const SPOT_PAGE = '#cNGN-USDC'

describe('an account at the market page in a browser', function () {
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
    const fresh = await (await browser.newContext()).newPage()
    await prepare(fresh)
    await fresh.goto(new URL(SPOT_PAGE, venue.gatewayUrl).href)
    return fresh
  }
  const says = (on: Page, text: RegExp) =>
    eventually(async () => expect(await on.innerText('body')).to.match(text), SHOWN_WITHIN_MS)
  const type = async (price: string, size: string): Promise<void> => {
    await page.getByLabel('Price').fill(price)
    await page.getByLabel('Size').fill(size)
  }

  it('is let in by one press, with play money that is still there after a reload', async () => {
    await page.getByRole('button', { name: 'Trade with a demo account' }).click()
    await says(page, /Orders of 0x[0-9a-fA-F]{40}/)
    await type('1100', '10')
    await page.getByRole('button', { name: 'Sign and place' }).click()
    await says(page, /page-\S+\s+buy\s+1 100\s+10/)
    await says(page, /cNGN\s+1 000 000 000\s+11 000\s/)
    const [who = ''] = /0x[0-9a-fA-F]{40}/.exec(await page.innerText('body')) ?? []
    await page.reload()
    await says(page, new RegExp(`Orders of ${who}`))
    await says(page, /page-\S+\s+buy\s+1 100\s+10/)
    await page.getByRole('button', { name: /^Cancel page-/ }).click()
    await says(page, /No open orders/)
    await says(page, /Ended[\s\S]*buy\s+1 100\s+10\s+0 %\s+cancelled: /)
  })

  /** How many orders the page sends meanwhile. */
  async function sentBy(send: () => Promise<void>): Promise<number> {
    let sent = 0
    const count = (request: { url(): string; method(): string }): void => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/orders')) sent += 1
    }
    page.on('request', count)
    await send()
    await says(page, /page-\S+ is (active|matching|filled)\./)
    page.off('request', count)
    return sent
  }

  it('places one order by a double click, and one by a key that is held', async () => {
    const place = page.getByRole('button', { name: 'Sign and place' })
    await type('1250', '3')
    expect(await sentBy(() => place.dblclick())).to.equal(1)
    await says(page, /page-\S+\s+buy\s+1 250\s+3/)
    await type('1251', '4')
    const held = async (): Promise<void> => {
      for (let n = 0; n < 5; n += 1) await page.getByLabel('Size').press('Enter')
    }
    expect(await sentBy(held)).to.equal(1)
    await says(page, /page-\S+\s+buy\s+1 251\s+4/)
    await page.getByRole('button', { name: 'Cancel all of cNGN-USDC (2)' }).click()
    await says(page, /No open orders/)
  })

  it('buys the size that it asks for, however far the limit is, once it has pressed twice', async () => {
    const maker = createTrader(venue.devnet, 2)
    const offer = await maker.place({ side: 'buy', amount: '16000', price: '0.000625' })
    await says(page, /1 600\s+10\b/)
    await type('1800', '5')
    await says(page, /Now (5\.00|4\.99) USDC of it fill, and nothing rests/)
    const place = page.getByRole('button', { name: 'Sign and place' })
    await place.click()
    await says(page, /more than 5 % beyond the best of the book\. Press again if it is meant/)
    await place.click()
    await says(page, /Fills[\s\S]*buy\s+1 600\s+5\s+taker\s+\S+\s+settled/)
    await maker.cancel(offer)
  })

  it('is asked again after its wallet has rejected, and not at a change of market', async () => {
    const account = privateKeyToAccount(venue.devnet.accounts[3]?.private_key ?? '0x')
    const wallet = { isRejecting: true, prompts: 0 }
    const fresh = await openPage(async (opened) => {
      await opened.exposeFunction('signByWallet', async (message: string) => {
        wallet.prompts += 1
        return wallet.isRejecting ? undefined : account.signMessage({ message })
      })
      await opened.addInitScript(walletScript(account.address))
    })
    await fresh.getByRole('button', { name: 'Connect the wallet' }).click()
    const again = fresh.getByRole('button', { name: 'Try again' })
    await again.waitFor({ timeout: SHOWN_WITHIN_MS })
    wallet.isRejecting = false
    await again.click()
    await says(fresh, /No open orders/)
    await says(fresh, /Orders of 0x/)
    const { prompts } = wallet
    await fresh.getByRole('link', { name: 'cNGN-PERP' }).click()
    await says(fresh, /Funding of an hour/)
    await says(fresh, /No open orders/)
    expect(wallet.prompts).to.equal(prompts)
    await fresh.context().close()
  })
})

/** A wallet in the page (EIP-1193) that signs texts by a function that the test exposes. */
const walletScript = (address: string): string => `globalThis.ethereum = {
  request: async ({ method, params }) => {
    if (method === 'eth_requestAccounts') return ['${address}']
    const signature = await globalThis.signByWallet(params[0])
    if (signature === undefined) throw { code: 4001, message: 'User rejected the request.' }
    return signature
  },
}`
