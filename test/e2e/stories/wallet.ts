import { expect } from 'chai'
import { generatePrivateKey } from 'viem/accounts'
import { createRestClient } from '../../../client/index.js'
import type { Hex } from '../../../core/action.js'
import { eventually } from '../../support/eventually.js'
import { BASE_CHAIN_ID, installWallet, type BrowserWallet } from '../stage/browser-wallet.js'
import { fundNewcomer } from '../stage/newcomer.js'
import { createPerpTrader, PERP } from '../stage/perp-trader.js'
import { openSeriesTraders, registeredMarket } from '../stage/series.js'
import type { StoryVenue } from '../stage/story-venue.js'
import { BOOK, OWN, read, type Desk } from '../stage/terminal-desk.js'
import { SPOT } from '../stage/trader.js'

const FUNDS = { usdc: 10_000_000_000n, cngn: 10_000_000_000_000n }

/** Stories of a trader with a wallet that has tokens, and no account at first: 9, 2, 4, 5 and 3, in this order. */
export function walletStories(stage: () => StoryVenue): void {
  let desk: Desk
  let wallet: BrowserWallet
  let key: Hex
  before(async () => {
    const { venue } = stage()
    key = await fundNewcomer(venue.devnet, 5)
    desk = await stage().freshDesk(SPOT, {
      prepare: async ({ page }) => {
        wallet = await installWallet(page, venue.devnet, key)
      },
    })
  })

  const SIGNATURE = 'eth_signTypedData_v4'
  const TRANSACTION = 'eth_sendTransaction'
  /** What the wallet asks its user meanwhile. */
  async function promptsOf(act: () => Promise<unknown>): Promise<readonly string[]> {
    const before = wallet.prompts.length
    await act()
    return wallet.prompts.slice(before)
  }
  /** The same without the proofs of who reads. */
  const deedsOf = async (act: () => Promise<unknown>) =>
    (await promptsOf(act)).filter((method) => method !== 'personal_sign')
  /** Presses a button that sends transactions or asks for signatures; what the steps say when all are done. */
  async function step(name: string): Promise<string> {
    const steps = desk.page.locator('[aria-label=Steps]')
    const shown = async () => ((await steps.count()) === 0 ? '' : steps.innerText())
    const before = await shown()
    await desk.button(name).click()
    await eventually(async () => {
      expect(await shown()).not.to.equal(before)
      expect(await steps.getAttribute('aria-busy')).to.equal('false')
    })
    return shown()
  }
  const open = () => desk.account().click()
  const pay = async (what: string, amount: string): Promise<void> => {
    const dialog = desk.page.getByRole('dialog')
    await dialog.locator('label:has(span:text-is("What")) select').selectOption({ label: what })
    await dialog.getByLabel('Amount to pay in').fill(amount)
  }

  it('9: goes on after a wrong chain, one with the right number, and a rejected connection', async () => {
    const { chain_id: chainId } = stage().venue.devnet
    await wallet.moveTo(BASE_CHAIN_ID)
    wallet.rejectNext('eth_requestAccounts')
    await open()
    await desk.button('Connect Test Wallet').click()
    await desk.says(/You rejected the connection in the wallet\. Try again/)
    await desk.button('Connect Test Wallet').click()
    await desk.says(/The wallet is on chain 8453; the venue is on/)
    expect(wallet.misled).to.deep.equal([])
    wallet.chains.set(chainId, 'empty')
    await desk.button('Switch the wallet to the venue').click()
    await desk.says(/The wallet’s chain has the number \d+, but the venue is not on it/)
    wallet.chains.set(chainId, 'venue')
    await desk.button('Switch the wallet to the venue').click()
    await desk.says(/Trade without prompts/)
  })

  it('2: opens an account that appears by itself, and shows an order until it is cancelled, with the reason', async () => {
    wallet.rejectNext(TRANSACTION)
    await pay('USDC into a trading account', '600')
    expect(await step('Open trading account')).to.match(/You rejected .* in the wallet/)
    const asked = await deedsOf(async () => {
      expect(await step('Open trading account')).to.match(/Account: On the chain: 0x[0-9a-f]{64}/)
    })
    expect(asked).to.deep.equal([TRANSACTION, TRANSACTION])
    await desk.closeDialog()
    await desk.list('Funds')
    await desk.shows(OWN, /Trading account \d+[\s\S]*USDC\s+600\.00\s+0\.00\s+600\.00/)

    await desk.list('Open')
    wallet.rejectNext(SIGNATURE)
    await desk.place('Sell USDC', '1700', '10')
    await desk.says(/Not signed: You rejected the signature in the wallet/)
    const signed = await deedsOf(async () => {
      await desk.submit.click()
      await desk.shows(OWN, /Sell USDC\s+1,700\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+open/)
    })
    expect(signed).to.deep.equal([SIGNATURE])
    await eventually(async () => {
      const own = desk.region(BOOK).locator('td.own')
      expect(await own.innerText()).to.match(/1,700\.0/)
    })
    await desk.page.locator('.chart[aria-label*="sell 1,700"]').waitFor()
    await desk.list('Funds')
    await desk.shows(OWN, /USDC\s+600\.00\s+(10\.00|9\.99)\s+590\.0/)
    await desk.list('Open')
    await desk.button(/^Cancel page-/).click()
    await desk.shows(OWN, /No open orders/)
    await desk.list('History')
    await desk.shows(
      OWN,
      /Sell USDC\s+1,700\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+cancelled\s+cancelled on the page/,
    )
  })

  it('9: shows what is its own after a rejected signature, and asks nothing at a change of market', async () => {
    const rejecting = setInterval(() => wallet.rejectNext('personal_sign'), 10)
    await desk.page.reload()
    const again = desk.button('Try again')
    await again.waitFor({ timeout: 30_000 })
    clearInterval(rejecting)
    await eventually(async () => {
      if (await again.isVisible()) await again.click()
      await desk.list('Funds')
      expect(await desk.region(OWN).innerText()).to.match(/Trading account \d+/)
      expect(await again.isVisible()).to.equal(false)
    })
    const asked = await promptsOf(async () => {
      await desk.openMarket(PERP)
      await desk.says(/Funding, 1 h/)
      await desk.openMarket(SPOT)
    })
    expect(asked).to.deep.equal([])
  })

  it('9: sends nothing when the account changes while its order is signed', async () => {
    const release = wallet.holdNext(SIGNATURE)
    const posted = await desk.postedBy(async () => {
      await desk.place('Sell USDC', '1710', '5')
      await eventually(() => wallet.prompts.at(-1) === SIGNATURE)
      const before = await desk.account().innerText()
      await wallet.choose(generatePrivateKey())
      await eventually(async () => expect(await desk.account().innerText()).not.to.equal(before))
      release()
      await desk.shows('Order', /The wallet has another account|The account has changed/)
    })
    expect(posted).to.deep.equal([])
    await wallet.choose(key)
    await desk.list('Funds')
    await desk.shows(OWN, /Trading account \d+/)
    await desk.list('Open')
    await desk.place('Sell USDC', '1710', '5')
    await desk.shows(OWN, /Sell USDC\s+1,710\.0+\s+(5\.00|4\.99) USDC\s+0 %\s+open/)
    await desk.clear(SPOT)
  })

  it('4: trades a series within its band', async () => {
    const { venue, series } = stage()
    const market = await registeredMarket(venue, series.open)
    const [maker] = await openSeriesTraders(venue, market, FUNDS, 1)
    await maker?.place({ side: 'sell', price: '1540', amount: '2000' })
    await desk.openMarket(series.open)
    await desk.says(/Trading ends in\s+\d+ d \d+ h/)
    const posted = await desk.postedBy(async () => {
      await desk.place('Buy USDC', '2000', '1000')
      await desk.shows('Order', /outside of what the chain fills now/)
    })
    expect(posted).to.deep.equal([])
    const edge = desk.ticket.locator('.guards button', { hasText: /^price 16\d\d/ })
    const high = read(await edge.innerText())
    await edge.click()
    expect(read(await desk.input('price').inputValue())).to.equal(high)
    expect(await desk.ticket.innerText()).not.to.match(/outside of what the chain fills now/)

    await desk.place('Buy USDC', '1540', '1000')
    await desk.list('Positions')
    await desk.shows(OWN, new RegExp(`${series.open}\\s+long\\s+1,000 USDC`))
    await desk.list('Fills')
    // It is marked at the index: what the price was above it is paid at once.
    await desk.shows(
      OWN,
      /Buy USDC\s+1,540\.0+\s+1,000 USDC\s+2\.50\d*\s+[+-]?[\d,]+\.\d\d\s+taker\s+0x/,
    )

    await desk.openMarket(SPOT)
  })

  it('5: asks nothing once trading is enabled, until it is revoked', async () => {
    await open()
    expect(await deedsOf(() => step('Enable trading'))).to.deep.equal([TRANSACTION])
    await desk.closeDialog()
    const asked = await promptsOf(tradeMuch)
    expect(asked).to.deep.equal([])
    await open()
    expect(await deedsOf(() => step('Revoke'))).to.deep.equal([TRANSACTION])
    await desk.closeDialog()
    await desk.list('Open')
    await desk.shows(OWN, /No open orders/)
    const after = await promptsOf(async () => {
      await desk.place('Sell USDC', '1720', '5')
      await desk.shows(OWN, /Sell USDC\s+1,720\.0+/)
    })
    expect(after).to.include(SIGNATURE)
    await desk.clear(SPOT)
  })

  /** 10 orders, 3 replaced and 1 reduced, all cancelled, other markets, a lost connection, and an order that stays. */
  async function tradeMuch(): Promise<void> {
    await desk.list('Open')
    for (let n = 0; n < 10; n += 1) {
      await desk.place('Sell USDC', `${1_701 + n}`, '5')
      await desk.shows(OWN, new RegExp(`Sell USDC\\s+1,7${String(n + 1).padStart(2, '0')}\\.0+`))
    }
    const edit = async (label: string, value: string, shown: RegExp): Promise<void> => {
      await desk
        .button(/^Edit page-/)
        .last()
        .click()
      await desk.page.getByLabel(label).fill(value)
      await desk.button('Change the order').click()
      await desk.shows(OWN, shown)
    }
    for (const price of ['1750', '1751', '1752'])
      await edit('New price', price, new RegExp(`1,${price.slice(1)}\\.0+`))
    await edit('New size in all', '3', /\s(3\.00|2\.99) USDC/)
    await desk.openMarket(PERP)
    await desk.says(/Funding, 1 h/)
    await desk.openMarket(SPOT)
    await desk.button('Cancel all of cNGN-USDC (10)').click()
    await desk.button('Cancel 10 orders').click()
    await desk.shows(OWN, /No open orders/)
    await stage().venue.restartWorker('ws-fanout', 'SIGKILL')
    await desk.health(/live [1-9]\d* reconnects?$/)
    await desk.place('Sell USDC', '1730', '5')
    await desk.shows(OWN, /Sell USDC\s+1,730\.0+\s+(5\.00|4\.99) USDC\s+0 %\s+open/)
  }

  /** The list of own funding has the hour of now, with what a long of so much has paid in USDC since its fill. */
  async function isFundingRight(size: number): Promise<void> {
    const rest = createRestClient(stage().venue.gatewayUrl)
    await desk.list('Funding')
    const row = desk.region(OWN).locator('table.list tbody tr', { hasText: PERP }).first()
    const cell = (head: string) => row.locator(`td[data-head="${head}"]`).innerText()
    await eventually(async () => expect(read(await cell('Position, cNGN'))).to.equal(size), 30_000)
    // What a moment has cost is less than the last decimal.
    let paid = ''
    await eventually(async () => {
      paid = await cell('About, USDC')
      expect(paid).to.match(/^paid -0\.\d{6}$/)
    })
    const [hour] = (await rest.funding(PERP, { limit: 1 })).funding
    const [fill] = (await rest.trades(PERP, { limit: 1 })).trades
    if (hour === undefined || fill === undefined) throw new Error('no funding, or no fill')
    const { funding_rate_1h: rate, index_price: index } = hour
    expect(await cell('Rate, 1 h')).to.equal(`+${(100 * Number(rate)).toFixed(4)} %`)
    const heldSec = (Date.now() - Date.parse(fill.created_at)) / 1_000
    const mostPaid = (size * Number(rate) * Number(index) * heldSec) / 3_600
    expect(-read(paid))
      .to.be.greaterThan(0)
      .and.at.most(mostPaid + 0.000_001)
  }

  it('3: funds one margin account twice, opens a position as it was foretold, and closes it whole', async () => {
    await open()
    const asked = await deedsOf(async () => {
      for (const name of ['Open margin account', 'Pay in']) {
        await pay('USDC into a margin account', '100')
        expect(await step(name)).to.match(/Deposit: .*0x[0-9a-f]{64}/)
      }
    })
    expect(asked).to.deep.equal([SIGNATURE, SIGNATURE, SIGNATURE, SIGNATURE])
    await step('Enable trading')
    await desk.closeDialog()
    await desk.list('Funds')
    await desk.shows(OWN, /Margin account \d+[\s\S]*200\.00/)
    expect((await desk.region(OWN).innerText()).match(/Margin account/g)).to.have.length(1)

    const maker = createPerpTrader(stage().venue.devnet, 2)
    await maker.place({ side: 'sell', size: 1_200_000, price: '0.00066' })
    await maker.place({ side: 'buy', size: 1_200_000, price: '0.00064' })
    await desk.openMarket(PERP)
    await desk.shows(BOOK, /0\.00066000\s+1,200,000/)
    await desk.type('Long cNGN', '0.00066', '1000000')
    const entry = read(await desk.foretold('Average price'))
    const after = async (name: string) => read((await desk.foretold(name)).split('→')[1] ?? '')
    const margin = await after('Above initial margin, USDC')
    const liquidation = await after('Liquidation, USDC per cNGN')
    await desk.submit.click()
    await desk.list('Positions')
    await desk.shows(OWN, /cNGN-PERP\s+long\s+1,000,000 cNGN[^]*(gain|loss) [+-]?\d/)
    const row = desk.region(OWN).locator('table.list tbody tr', { hasText: PERP })
    const cell = async (head: string) =>
      read(await row.locator(`td[data-head="${head}"]`).innerText())
    expect(await cell('Entry')).to.equal(entry)
    expect(await cell('Liquidation near')).to.be.closeTo(liquidation, liquidation / 100)
    await desk.list('Funds')
    const free = desk.region(OWN).locator('tr', { hasText: PERP }).locator('td[data-head=Free]')
    await eventually(async () => expect(read(await free.innerText())).to.be.closeTo(margin, 0.5))
    await isFundingRight(1_000_000)
    await desk.list('Positions')
    await desk.button(/^Close cNGN-PERP/).click()
    await desk.says(/Fills now\s+1,000,000 cNGN/)
    await desk.button('Close 100 % at market').click()
    await eventually(async () => expect(await row.count()).to.equal(0))
  })
}
