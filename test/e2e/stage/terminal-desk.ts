import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { setTimeout as delay } from 'node:timers/promises'
import { eventually } from '../../support/eventually.js'

/** What a page shows follows within a second; a busy machine takes longer. */
const SHOWN_WITHIN_MS = 30_000
/** To read a text makes the browser lay the page out, which is not to be its whole work. */
const READ_EVERY_MS = 50

export const OWN = 'Own orders and funds'
export const BOOK = 'Order book'

export type List = 'Positions' | 'Open' | 'Fills' | 'History' | 'Funding' | 'Funds'

/** What was posted to `/v1/orders`: each body as it was sent. */
interface Posted {
  readonly order_id: string
  readonly signature: string
}

/** The terminal on a page, as its user works it. */
export function deskOf(page: Page) {
  const button = (name: string | RegExp) => page.getByRole('button', { name })
  const region = (name: string) => page.getByRole('region', { name, exact: true }).first()
  const ticket = page.locator('.ticket')
  const submit = ticket.locator('button[type=submit]')
  const input = (name: 'price' | 'size' | 'last' | 'count') => page.locator(`input[name=${name}]`)
  const group = (name: string) => page.getByRole('group', { name })
  const reads = (read: () => Promise<string>, text: RegExp, withinMs: number) =>
    eventually(async () => {
      const shown = await read()
      if (!text.test(shown)) await delay(READ_EVERY_MS)
      expect(shown).to.match(text)
    }, withinMs)
  const shows = (name: string, text: RegExp, withinMs = SHOWN_WITHIN_MS) =>
    reads(() => region(name).innerText(), text, withinMs)
  const choose = (side: string) => group('Side').getByRole('button', { name: side }).click()
  async function type(side: string, price: string, size: string): Promise<void> {
    await choose(side)
    await input('price').fill(price)
    await input('size').fill(size)
  }
  return {
    page,
    button,
    region,
    ticket,
    submit,
    input,
    shows,
    choose,
    type,
    says: (text: RegExp, withinMs = SHOWN_WITHIN_MS) =>
      reads(() => page.innerText('body'), text, withinMs),
    list: (name: List) =>
      region(OWN)
        .getByRole('group', { name: 'Lists' })
        .getByRole('button', { name: new RegExp(`^${name}`) })
        .click(),
    kind: (name: 'limit' | 'market' | 'ladder') =>
      group('Kind of order').getByRole('button', { name }).click(),
    async place(side: string, price: string, size: string): Promise<void> {
      await type(side, price, size)
      await submit.click()
    },
    async openMarket(name: string): Promise<void> {
      await page
        .getByRole('link', { name: new RegExp(`^${name}`) })
        .first()
        .click()
      await page.locator(`nav.markets a[aria-current=page]`, { hasText: name }).waitFor()
    },
    account: () => page.locator('.bar-end button').nth(-2),
    closeDialog: () => button('Close the dialog').click(),
    health: (text: RegExp, withinMs = SHOWN_WITHIN_MS) =>
      reads(
        async () => {
          const light = page.locator('#health')
          return `${await light.innerText()} ${await light.getAttribute('title')}`
        },
        text,
        withinMs,
      ),
    /** The value of a line of the receipt. */
    async foretold(name: string): Promise<string> {
      let found = ''
      await eventually(async () => {
        const line = ticket.locator('.receipt dl > div', { hasText: name }).first()
        found = await line.locator('dd').innerText()
        return found !== ''
      }, SHOWN_WITHIN_MS)
      return found
    },
    /** How many rows the list that is open has. */
    rows: () => region(OWN).locator('table.list tbody tr').count(),
    /** The orders that the page sends while it does something, one for each time that it sends. */
    async postedBy(act: () => Promise<unknown>): Promise<Posted[]> {
      const posted: Posted[] = []
      const note = (request: { url(): string; method(): string; postData(): string | null }) => {
        if (request.method() === 'POST' && new URL(request.url()).pathname === '/v1/orders')
          posted.push(JSON.parse(request.postData() ?? '{}') as Posted)
      }
      page.on('request', note)
      await act()
      page.off('request', note)
      return posted
    },
    /** Cancels what is open in a market, and waits until nothing is. */
    async clear(market: string): Promise<void> {
      const all = button(new RegExp(`^Cancel all of ${market} \\([1-9]`))
      await region(OWN).getByRole('button', { name: /^Open/ }).click()
      await all.click()
      await shows(OWN, /No open orders/)
    },
  }
}

export type Desk = ReturnType<typeof deskOf>

/** A number as the page writes it. */
export const read = (text: string): number =>
  Number((/-?[\d,]+(\.\d+)?/.exec(text)?.[0] ?? '').replaceAll(',', ''))
