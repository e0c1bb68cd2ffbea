import { expect } from 'chai'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, signCancelAll, signFrame } from '../../../client/index.js'
import { eventually } from '../../support/eventually.js'
import { createPerpTrader, PERP } from '../stage/perp-trader.js'
import type { StoryVenue } from '../stage/story-venue.js'
import { OWN, type Desk } from '../stage/terminal-desk.js'
import { createTrader, SPOT } from '../stage/trader.js'

const HERE = 61
const ELSEWHERE = 50
/** Of the devnet's file. */
const ACCOUNT = 4

/** Opens and closes the commands within one frame: whether their input got the focus, and whether the button before has it again. */
const WITHOUT_A_FRAME = `(async () => {
  const settled = async () => { for (let turn = 0; turn < 50; turn += 1) await null }
  const before = document.querySelector('button[aria-label^="Edit "]')
  before.focus()
  before.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }))
  await settled()
  const isTyping = document.activeElement.matches('dialog[open] input')
  document.querySelector('dialog button[aria-label="Close the dialog"]').click()
  await settled()
  return { isTyping, isBack: document.activeElement === before }
})()`

/** Story 10: many orders, worked by the keyboard, and a tab that is closed. */
export function manyOrders(stage: () => StoryVenue): void {
  let desk: Desk
  const owner = () => {
    const account = stage().venue.devnet.accounts[ACCOUNT]
    if (account === undefined) throw new Error('the devnet has too few accounts')
    return { ...account, signer: privateKeyToAccount(account.private_key) }
  }
  const rest = () => createRestClient(stage().venue.gatewayUrl)

  it('10: shows every open order, whatever ended later elsewhere', async () => {
    const { venue } = stage()
    const spot = createTrader(venue.devnet, ACCOUNT)
    const perp = createPerpTrader(venue.devnet, ACCOUNT)
    await inTens(HERE, (n) =>
      spot.place({ side: 'sell', amount: '1000', price: `0.001${100 + n}` }),
    )
    await inTens(ELSEWHERE, (n) => perp.place({ side: 'buy', size: 100, price: `0.0003${10 + n}` }))
    const issuedAtSec = Math.floor(Date.now() / 1_000)
    const { chain_id: chainId, matching } = venue.devnet
    const terms = { market: PERP, owner: owner().address }
    await rest().cancelAll(
      await signCancelAll(
        owner().signer,
        { chainId, matching },
        {
          ...terms,
          issuedAtSec,
          expirySec: issuedAtSec + 60,
        },
      ),
    )
    desk = await stage().freshDesk(SPOT)
    await desk.button('Account').first().click()
    await desk.page.getByText('Developer: accounts of this devnet').click()
    await desk.page.locator('#devnet').setInputFiles(join(venue.dataDir, 'devnet.json'))
    await desk.button(new RegExp(owner().address, 'i')).click()
    await desk.list('Open')
    await eventually(async () => expect(await desk.rows()).to.equal(HERE))
    await desk.shows(OWN, new RegExp(`Open ${HERE}`))
  })

  it('10: takes the key after the one that opens a dialog, however late the page is painted', async () => {
    expect(await desk.page.evaluate(WITHOUT_A_FRAME)).to.deep.equal({
      isTyping: true,
      isBack: true,
    })
  })

  it('10: reduces, replaces and cancels by the keyboard alone', async () => {
    const { page } = desk
    const press = (key: string) => page.keyboard.press(key)
    await press('Control+k')
    await page.keyboard.type('settings')
    await press('Enter')
    await page.getByLabel('Keys for orders').focus()
    await press('Space')
    await press('Escape')

    const change = async (label: string, value: string): Promise<void> => {
      await desk
        .button(/^Edit /)
        .first()
        .focus()
      await press('Enter')
      await page.getByLabel(label).focus()
      await press('Control+a')
      await page.keyboard.type(value)
      await press('Enter')
    }
    await change('New size in all', '0.5')
    await desk.says(/Reduced: it keeps its place in the queue/)
    await desk.shows(OWN, /\s(0\.50|0\.49) USDC\s+0 %\s+open/)
    await change('New price', '850')
    await desk.shows(OWN, /Buy USDC\s+850\.0+\s/)
    expect(await desk.rows()).to.equal(HERE)

    await press('x')
    await desk.says(/Order keys are armed for five minutes: press again/)
    expect(await desk.rows()).to.equal(HERE)
    for (let left = HERE - 1; left >= HERE - 5; left -= 1) {
      await press('x')
      await eventually(async () => expect(await desk.rows()).to.equal(left))
    }
  })

  it('10: has all cancelled within twenty seconds after its tab is closed', async () => {
    await desk.button('Dead man off').click()
    await desk.button('Dead man on').waitFor()
    const { signer } = owner()
    const signed = await signFrame(signer, {
      purpose: 'history',
      domain: stage().venue.devnet.auth_domain,
    })
    const open = async () =>
      (await rest().orderHistory(signed, { status: 'open', limit: 100 })).orders.length
    // The first renewal is there before the page goes.
    await desk.page.waitForResponse((response) => response.url().includes('cancel-all-after'))
    expect(await open()).to.equal(HERE - 5)
    await desk.page.close()
    await eventually(async () => expect(await open()).to.equal(0), 20_000)
  })
}

/** Runs it so often, ten at a time. */
async function inTens(count: number, run: (n: number) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < count; from += 10)
    await Promise.all(Array.from({ length: Math.min(10, count - from) }, (_, n) => run(from + n)))
}
