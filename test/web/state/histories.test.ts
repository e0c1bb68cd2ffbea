import { mock } from 'node:test'
import { signal } from '@preact/signals'
import { expect } from 'chai'
import type { BookRecord, ChannelHandler, LiquidationRecord } from '../../../client/index.js'
import type { OwnOrderRow } from '../../../web/select/order-row.js'
import { createLiquidations } from '../../../web/state/liquidations.js'
import { createPages, type PageOf } from '../../../web/state/pages.js'
import { followQueue } from '../../../web/state/queue.js'
import { fakeTerminal } from '../act/fake-terminal.js'

/** Lets what is resolved go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('web/state: a history page by page', () => {
  const aHistory = (pages: Readonly<Record<string, PageOf<number> | undefined>>) =>
    createPages<number>(
      (before) => {
        const page = pages[before ?? 'newest']
        return page === undefined ? Promise.reject(new Error('busy')) : Promise.resolve(page)
      },
      (item) => item,
    )

  it('reads on where the page before ended, and keeps it when what is new comes', async () => {
    const pages = {
      newest: { items: [9, 8], next: 'a' } as PageOf<number>,
      a: { items: [7], next: undefined },
    }
    const history = aHistory(pages)
    await history.readNewest()
    expect([history.items.value, history.hasOlder.value]).to.deep.equal([[9, 8], true])
    await history.readOlder()
    expect([history.items.value, history.hasOlder.value]).to.deep.equal([[9, 8, 7], false])
    pages.newest = { items: [10, 9], next: 'b' }
    await history.readNewest()
    expect([history.items.value, history.hasOlder.value]).to.deep.equal([[10, 9, 8, 7], false])
    await history.readOlder()
    expect(history.items.value).to.deep.equal([10, 9, 8, 7])
  })

  it('begins anew where the newest page does not join what is known', async () => {
    const pages = { newest: { items: [2, 1], next: undefined } as PageOf<number> }
    const history = aHistory(pages)
    await history.readNewest()
    pages.newest = { items: [9, 8], next: 'a' }
    await history.readNewest()
    expect([history.items.value, history.hasOlder.value]).to.deep.equal([[9, 8], true])
  })

  it('says why nothing came, until something does', async () => {
    const pages: Record<string, PageOf<number>> = {}
    const history = aHistory(pages)
    await history.readNewest()
    expect([history.trouble.value, history.items.value]).to.deep.equal(['busy', undefined])
    pages.newest = { items: [], next: undefined }
    await history.readNewest()
    expect([history.trouble.value, history.items.value]).to.deep.equal([undefined, []])
  })
})

describe('web/state: liquidations', () => {
  it('come newest first while they are looked at, without those that did not happen', () => {
    let handler: ChannelHandler<'liquidations'> | undefined
    const { all, follow } = createLiquidations({
      subscribeLiquidations(followed) {
        handler = followed
        return () => (handler = undefined)
      },
    })
    const event = (log_index: number, reversed = false): LiquidationRecord =>
      ({
        market: 'A',
        tx_hash: '0x1',
        log_index,
        ...(reversed && { reversed }),
      }) as LiquidationRecord
    const end = follow()
    expect(all.value).to.equal(undefined)
    handler?.onSnapshot([event(2), event(1)], 1)
    handler?.onUpdate([event(2, true), event(3), event(4)], 2)
    expect(all.value?.map(({ log_index }) => log_index)).to.deep.equal([4, 3, 1])
    end()
    expect(handler).to.equal(undefined)
  })
})

describe('web/state: the place of own orders in the queue', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())
  const soon = async (): Promise<void> => {
    mock.timers.tick(400)
    await settle()
  }

  it('is read while own orders rest, again after some seconds, and not without any', async () => {
    const asked: string[] = []
    const bids = [{ order_id: 'other', limit_price: '1', open_amount: '2' }, { order_id: 'a' }]
    const page = fakeTerminal({
      book(market) {
        asked.push(market)
        const mine = { ...bids[1], limit_price: '1', open_amount: '1' }
        return Promise.resolve({ bids: [bids[0], mine], asks: [] } as unknown as BookRecord)
      },
    })
    const openHere = signal<readonly OwnOrderRow[]>([])
    const places = followQueue(page.terminal, openHere)
    await soon()
    expect(asked).to.deep.equal([])
    openHere.value = [{ id: 'a' } as OwnOrderRow]
    await soon()
    expect([...places.value.keys()]).to.deep.equal(['a'])
    expect(places.value.get('a')?.orders).to.equal(1)
    page.nowSec.value += 5
    await soon()
    expect(asked).to.have.length(2)
    openHere.value = []
    await soon()
    expect([places.value.size, asked.length]).to.deep.equal([0, 2])
  })

  it('takes nothing that comes after another market was opened', async () => {
    let answer: (book: BookRecord) => void = () => undefined
    const page = fakeTerminal({ book: () => new Promise((resolve) => (answer = resolve)) })
    const openHere = signal<readonly OwnOrderRow[]>([{ id: 'a' } as OwnOrderRow])
    const places = followQueue(page.terminal, openHere)
    await soon()
    page.open(page.markets[1]?.name ?? '')
    const mine = { order_id: 'a', limit_price: '1', open_amount: '1' }
    answer({ bids: [mine], asks: [] } as unknown as BookRecord)
    await settle()
    expect(places.value.size).to.equal(0)
  })
})
