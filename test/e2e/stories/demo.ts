import { expect } from 'chai'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../support/eventually.js'
import { createPerpTrader, PERP } from '../stage/perp-trader.js'
import type { StoryVenue } from '../stage/story-venue.js'
import { BOOK, deskOf, OWN, read, type Desk } from '../stage/terminal-desk.js'
import { createTrader, e18, readBalances, SPOT, type Trader } from '../stage/trader.js'

/** 1,549 cNGN for a USDC, in the engine's terms. */
const BEST = '0.00064557779212395'
const DOWN_MS = 10_000

/** Stories of a trader with a demo account: 1, 6, 7 and 8. */
export function demoStories(stage: () => StoryVenue): void {
  let desk: Desk
  let maker: Trader
  let subaccountId: bigint
  before(() => {
    maker = createTrader(stage().venue.devnet, 0)
  })

  /** Offers so many USDC at the best price. */
  const offer = (usdc: number) =>
    maker.place({ side: 'buy', amount: `${usdc * 1_549}`, price: BEST })
  const held = () => readBalances(stage().venue.devnet, subaccountId)
  /** Holds a key until it has repeated. */
  async function hold(key: string): Promise<void> {
    for (let n = 0; n < 3; n += 1) await desk.page.keyboard.down(key)
    await desk.page.keyboard.up(key)
  }

  it('1: is let in by one press, buys at market what was said, and is still there after a reload', async () => {
    await offer(20)
    desk = await stage().freshDesk(SPOT)
    await desk.button('Account').first().click()
    // No file is the way in.
    expect(await desk.page.locator('#devnet').isVisible()).to.equal(false)
    await desk.button('Trade with a demo account').click()
    await desk.says(/Demo: play money · 0x[0-9a-fA-F]{4}/, 10_000)
    await desk.list('Funds')
    await desk.shows(OWN, /Trading account \d+[\s\S]*cNGN\s+1,000,000,000\.00\s+0\.00\s/, 10_000)
    await desk.shows(OWN, /Margin account \d+[\s\S]*100,000\.00/, 10_000)
    const funds = await desk.region(OWN).innerText()
    subaccountId = BigInt(/Trading account (\d+)/.exec(funds)?.[1] ?? 0)
    const before = await held()
    await desk.kind('market')
    await desk.choose('Buy USDC')
    await desk.input('size').fill('10')
    expect(await desk.foretold('Average price')).to.match(/^1,549\.0/)
    const giveMost = read(await desk.foretold('You give at most'))
    const receiveLeast = read(await desk.foretold('You receive at least'))
    const fee = read(await desk.foretold('Fee'))
    await desk.submit.click()
    await desk.list('Fills')
    await desk.shows(
      OWN,
      /Buy USDC\s+1,549\.0+\s+(10\.00|9\.99) USDC\s+[\d.]+\s+taker\s+0x[0-9a-f]{8}/,
    )
    const after = await held()
    const usdc = after.usdcE18 - before.usdcE18
    const cngn = before.cngnE18 - after.cngnE18
    expect(Number(usdc) / 1e18 + fee).to.be.closeTo(10, 0.01)
    expect(Number(usdc) / 1e18).to.be.at.least(receiveLeast)
    expect(cngn <= e18(`${giveMost}`), `${cngn} of ${giveMost}`).to.equal(true)
    expect(Number(cngn) / 1e18).to.be.closeTo(15_490, 16)
    const name = /0x[0-9a-fA-F]{4}…[0-9a-fA-F]{4}/
    const [who = ''] = name.exec(await desk.account().innerText()) ?? []
    await desk.page.reload()
    await desk.says(new RegExp(`Demo: play money · ${who}`))
    await desk.list('Funds')
    await desk.shows(OWN, new RegExp(`Trading account ${subaccountId}`))
  })

  describe('6: one press, one order', () => {
    /** Exactly one order was sent, however often, and the page shows it once. */
    async function isOne(price: string, act: () => Promise<unknown>): Promise<void> {
      await desk.list('Open')
      await desk.type('Buy USDC', price, '3')
      const row = new RegExp(`Buy USDC\\s+1,${price.slice(1)}\\.0+\\s+(3\\.00|2\\.99) USDC[^]*open`)
      const posted = await desk.postedBy(async () => {
        await act()
        await desk.shows(OWN, row)
        await eventually(async () => expect(await desk.submit.isEnabled()).to.equal(true))
      })
      expect(new Set(posted.map(({ order_id: id }) => id)).size).to.equal(1)
      expect(new Set(posted.map(({ signature }) => signature)).size).to.equal(1)
      expect(await desk.rows()).to.equal(1)
      await desk.clear(SPOT)
    }

    it('by a double click', () => isOne('1250', () => desk.submit.dblclick()))

    it('by Enter five times', () =>
      isOne('1251', async () => {
        for (let n = 0; n < 5; n += 1) await desk.input('size').press('Enter')
      }))

    it('while the answer is held for five seconds', () =>
      isOne('1252', async () => {
        await desk.page.route(
          '**/v1/orders',
          async (route) => {
            const response = await route.fetch()
            await delay(5_000)
            await route.fulfill({ response })
          },
          { times: 1 },
        )
        await desk.submit.click()
        expect(await desk.submit.isDisabled()).to.equal(true)
        for (let n = 0; n < 3; n += 1) await desk.input('size').press('Enter')
      }))

    it('when the venue answers 500 until it is pressed again', () =>
      isOne('1253', async () => {
        await desk.page.route('**/v1/orders', async (route) => {
          await route.fetch()
          await route.fulfill({ status: 500, json: { error: 'internal' } })
        })
        // Nor does a look at the order tell.
        await desk.page.route('**/v1/orders/*', (route) => route.fulfill({ status: 500, json: {} }))
        await desk.submit.click()
        await desk.button('Send the same order again').waitFor({ timeout: 60_000 })
        await desk.page.unroute('**/v1/orders')
        await desk.page.unroute('**/v1/orders/*')
        await desk.submit.click()
      }))

    it('of a key that is held cancels one, and the press that arms the keys none', async () => {
      for (const price of ['1255', '1256']) {
        await desk.place('Buy USDC', price, '3')
        await desk.shows(OWN, new RegExp(`Buy USDC\\s+1,${price.slice(1)}\\.0+`))
      }
      await desk.button('Settings').click()
      await desk.page.getByLabel(/Keys for orders/).check()
      await desk.page.keyboard.press('Escape')
      await desk.page.getByRole('region', { name: 'open', exact: true }).focus()
      await hold('x')
      await desk.says(/Order keys are armed/)
      expect(await desk.rows()).to.equal(2)
      await hold('x')
      await desk.shows(OWN, /Cancel all of cNGN-USDC \(1\)/)
      await desk.says(/1 order is cancelled/)
      await desk.clear(SPOT)
    })

    it('in two tabs: each shows the order of the other, once', async () => {
      const other = deskOf(await desk.page.context().newPage())
      await other.page.goto(`${stage().venue.gatewayUrl}/#/${SPOT}`)
      await other.says(/Demo: play money/)
      await other.list('Open')
      let sent: readonly object[] = []
      const echoed = await desk.postedBy(async () => {
        sent = await other.postedBy(async () => {
          await other.place('Buy USDC', '1254', '3')
          for (const each of [desk, other]) {
            await each.shows(OWN, /Buy USDC\s+1,254\.0+\s+(3\.00|2\.99) USDC\s+0 %\s+open/)
            expect(await each.rows()).to.equal(1)
          }
        })
      })
      expect(sent).to.have.length(1)
      expect(echoed).to.deep.equal([])
      await other.page.close()
      await desk.clear(SPOT)
    })
  })

  it('places a ladder by one press: orders of one size at even distances, all of which rest', async () => {
    await desk.openMarket(SPOT)
    await desk.list('Open')
    await desk.kind('ladder')
    await desk.type('Buy USDC', '1200', '12')
    await desk.input('last').fill('1230')
    await desk.input('count').fill('4')
    await desk.shows('Order', /Prices\s+1,200\.0+ to 1,230\.0+ cNGN per USDC/)
    const posted = await desk.postedBy(async () => {
      await desk.submit.dblclick()
      await desk.says(/ladder of 4: 4 placed/)
    })
    // They are one request of their own.
    expect(posted).to.deep.equal([])
    for (const price of ['1,200', '1,210', '1,220', '1,230'])
      await desk.shows(OWN, new RegExp(`Buy USDC\\s+${price}\\.0+\\s+(3\\.00|2\\.99) USDC`))
    expect(await desk.rows()).to.equal(4)
    await desk.kind('limit')
    await desk.clear(SPOT)
  })

  describe('7: what stands between a ticket and its signature', () => {
    it('takes neither a double click nor a key that is held for the answer to its question', async () => {
      const rest = await offer(10)
      await desk.openMarket(SPOT)
      await desk.type('Buy USDC', '1800', '5')
      await desk.shows('Order', /Fills now\s+(5\.00|4\.99) USDC/)
      await desk.submit.dblclick()
      await desk.shows('Order', /Press again if it is meant/)
      await desk.input('size').fill('4')
      await desk.shows('Order', /Fills now\s+(4\.00|3\.99) USDC/)
      await hold('Enter')
      await desk.shows('Order', /Press again if it is meant/)
      expect(await desk.submit.innerText()).to.equal('Place anyway')
      await desk.input('size').fill('')
      await maker.cancel(rest)
    })

    it('trades the size that it asks for, however far the limit is, once it is pressed again', async () => {
      const rests = [
        await offer(30),
        await maker.place({ side: 'sell', amount: '30960', price: '0.000646' }),
      ]
      for (const [side, price, size] of [
        ['Buy USDC', '1800', 10],
        ['Buy USDC', '2500', 6],
        ['Sell USDC', '100', 10],
      ] as const) {
        await desk.shows(BOOK, /1,549\.0+[^]*1,547\.9/)
        const before = await held()
        await desk.place(side, price, `${size}`)
        await desk.shows(
          'Order',
          /more than 5 % beyond the best of the book\. Press again if it is meant/,
        )
        await eventually(async () => expect(await desk.submit.innerText()).to.equal('Place anyway'))
        const [order] = await desk.postedBy(async () => {
          await desk.submit.click()
          await eventually(async () => expect(await desk.input('size').inputValue()).to.equal(''))
        })
        await maker.until(order?.order_id ?? '', 'filled')
        const after = await held()
        const changed = Number(after.usdcE18 - before.usdcE18) / 1e18
        // The taker's fee is a quarter of a per cent: a buyer receives less by it, a seller gives more.
        const traded = changed > 0 ? changed / 0.9975 : -changed / 1.0025
        expect(traded, `${side} ${price}`).to.be.closeTo(size, size / 1_000)
        expect(changed > 0).to.equal(side === 'Buy USDC')
      }
      for (const rest of rests) await maker.cancel(rest)
    })

    it('sells a perpetual far below the market, and is not cancelled for its fee', async () => {
      const bidder = createPerpTrader(stage().venue.devnet, 1)
      await bidder.place({ side: 'buy', size: 20_000, price: '0.00065' })
      await desk.openMarket(PERP)
      await desk.shows(BOOK, /0\.00065000\s+20,000/)
      await desk.place('Short cNGN', '0.0005', '20000')
      await desk.shows('Order', /Press again if it is meant/)
      await desk.submit.click()
      await desk.list('Fills')
      await desk.shows(OWN, /Short cNGN\s+0\.00065000\s+20,000 cNGN\s+[\d.]+\s+taker\s+0x/)
      await desk.list('History')
      await desk.shows(OWN, /Short cNGN\s+0\.00050000\s+20,000 cNGN\s+100 %\s+filled/)
    })

    it('does not send what is below the least of the market, and offers that', async () => {
      const posted = await desk.postedBy(async () => {
        await desk.place('Long cNGN', '0.0004', '0.0000001')
        await desk.shows('Order', /below the smallest that the market takes/)
      })
      expect(posted).to.deep.equal([])
      await desk.button('size 1').click()
      expect(await desk.input('size').inputValue()).to.equal('1')
      await desk.shows('Order', /Size\s+1 cNGN/)
    })
  })

  // A suite runs its own tests before those of the suites in it.
  describe('8: a feed that is lost', () => {
    it('looks lost while the feed is, cancels all the same, and comes back with what happened meanwhile', async () => {
      await desk.openMarket(SPOT)
      await desk.list('Open')
      await desk.place('Buy USDC', '1100', '10')
      await desk.shows(OWN, /Buy USDC\s+1,100\.0+\s+(10\.00|9\.99) USDC\s+0 %\s+open/)
      await desk.place('Sell USDC', '1700', '5')
      await desk.shows(OWN, /Sell USDC\s+1,700\.0+\s+(5\.00|4\.99) USDC\s+0 %\s+open/)
      await desk.health(/live/)
      const down = keepDown(stage(), 'ws-fanout')
      await desk.health(/lost: the numbers are old/, 3_000)
      await desk.page.getByRole('alert').getByText('The feed is lost').waitFor()
      const ladder = desk.page.locator('table.ladder')
      expect(await ladder.getAttribute('class')).to.match(/dead/)
      await desk.input('price').fill('1111')
      await ladder.locator('button[data-what=price]').first().dispatchEvent('click')
      expect(await desk.input('price').inputValue()).to.equal('1111')
      await desk.input('size').fill('1')
      await desk.kind('market')
      await desk.submit.click()
      await desk.shows('Order', /The book is not live/)
      await desk.kind('limit')
      const oldest = desk.button(/^Cancel page-/).last()
      await oldest.click()
      await eventually(async () => expect(await desk.rows()).to.equal(1))
      await desk.health(/lost/)
      // It meets the order that is left.
      const sold = await maker.place({ side: 'sell', amount: '8500', price: '0.000588' })
      await maker.until(sold.order_id, 'filled')
      const quote = await maker.place({ side: 'buy', amount: '2500', price: '0.0004' })
      await down()
      await desk.health(/live [1-9]\d* reconnects?$/, 60_000)
      await desk.shows(BOOK, /2,500\.0+\s+1\.00/)
      expect(await desk.region(BOOK).innerText()).not.to.match(/1,700\.0|1,100\.0/)
      await desk.list('Open')
      await desk.shows(OWN, /No open orders/)
      await desk.list('Fills')
      await desk.shows(OWN, /Sell USDC\s+1,700\.0+\s+(5\.00|4\.99) USDC\s+[\d.]+\s+maker\s+0x/)
      const fills = await desk.region(OWN).innerText()
      expect(fills.match(/1,700\.0/g)).to.have.length(1)
      await maker.cancel(quote)
    })
  })
}

/** Ends a process whenever it has been started, for ten seconds and until the returned function is called. */
function keepDown({ venue }: StoryVenue, worker: string): () => Promise<void> {
  let isOver = false
  const ended = new Set<number>()
  const startedMs = performance.now()
  const run = async (): Promise<void> => {
    while (!isOver || performance.now() - startedMs < DOWN_MS) {
      const pid = (await venue.pids())[worker]
      if (pid !== undefined && !ended.has(pid)) {
        ended.add(pid)
        await venue.kill(worker, 'SIGKILL')
      }
      await delay(50)
    }
  }
  const running = run()
  // Awaited by who ends it.
  running.catch(() => undefined)
  return async () => {
    isOver = true
    await running
  }
}
