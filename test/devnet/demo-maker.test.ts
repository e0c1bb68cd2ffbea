import { expect } from 'chai'
import { privateKeyToAccount } from 'viem/accounts'
import {
  createLocalBook,
  OutcomeUnknown,
  VenueRefused,
  type MarketEntry,
  type OrderBody,
  type OrderRecord,
} from '../../client/index.js'
import { parseDecimal } from '../../core/decimal.js'
import { validateOrder } from '../../core/entry/validate-order.js'
import { marketEntry } from '../../core/records/market-entry.js'
import { createDesk, type Desk } from '../../devnet/demo-maker/desk.js'
import { createMaker, type Maker } from '../../devnet/demo-maker/maker.js'
import { PRICINGS } from '../../devnet/demo-maker/pricings.js'
import { LEVELS, quoteAt, type QuoteCentre, type Grid } from '../../devnet/demo-maker/quotes.js'
import { createLog } from '../../runtime/process/log.js'
import { aFuture, aMarket, aPerp, testDomain, testPrivateKey } from '../support/builders.js'

/** A venue that only keeps orders; every one placed is checked as the real one would. */
function fakeVenue(startMs: number, market = aMarket()) {
  const orders = new Map<string, OrderBody>()
  const book = createLocalBook()
  let seq = 0
  let nowMs = startMs
  let down = false
  let loseNextAnswer = false
  let refuse = false
  let refused = 0
  const record = (body: OrderBody): OrderRecord =>
    ({
      ...body,
      owner_address: body.owner_address.toLowerCase(),
      open_amount: body.desired_amount,
    }) as OrderRecord
  const show = (body: OrderBody, open: string): void => {
    const { order_id, side, limit_price } = body
    const delta = { order_id, side, limit_price, order_open: open, size_delta: '', price_ticks: '' }
    book.apply(delta, ++seq)
  }
  const remove = (orderId: string): void => {
    const body = orders.get(orderId)
    if (body === undefined) return
    orders.delete(orderId)
    show(body, '0')
  }
  const sorted = (side: string): OrderRecord[] =>
    [...orders.values()].filter((body) => body.side === side).map(record)
  book.reset({ market_presentation: {} as MarketEntry, bids: [], asks: [] }, 0)

  return {
    orders,
    book,
    remove,
    nowMs: () => nowMs,
    /** Orders that were refused. */
    refused: () => refused,
    pass: (ms: number) => (nowMs += ms),
    set: (state: { down?: boolean; loseNextAnswer?: boolean; refuse?: boolean }) => {
      down = state.down ?? down
      loseNextAnswer = state.loseNextAnswer ?? loseNextAnswer
      refuse = state.refuse ?? refuse
    },
    rest: {
      book: () =>
        Promise.resolve({
          market_presentation: {} as MarketEntry,
          bids: sorted('buy'),
          asks: sorted('sell'),
        }),
      placeOrder(body: OrderBody): Promise<OrderRecord> {
        if (down) return Promise.reject(new OutcomeUnknown('down'))
        if (refuse) {
          refused += 1
          return Promise.reject(new VenueRefused(400, 'no', 'no', {}))
        }
        const checked = validateOrder(body, { markets: [market], nowMs })
        expect('refusal' in checked ? checked.refusal : undefined).to.equal(undefined)
        if (!orders.has(body.order_id)) {
          orders.set(body.order_id, body)
          show(body, body.desired_amount)
        }
        if (!loseNextAnswer) return Promise.resolve(record(body))
        loseNextAnswer = false
        return Promise.reject(new OutcomeUnknown('lost'))
      },
      cancelOrder({ nonce }: { nonce?: string | undefined }): Promise<OrderRecord> {
        if (down) return Promise.reject(new OutcomeUnknown('down'))
        const found = [...orders.values()].find((body) => body.nonce === nonce)
        if (found === undefined) return Promise.reject(new VenueRefused(404, 'gone', 'gone', {}))
        remove(found.order_id)
        return Promise.resolve(record(found))
      },
    },
  }
}

const { spot: SPOT, perpetual: PERPETUAL, future: FUTURE } = PRICINGS

describe('demo maker', () => {
  const startMs = 1_700_000_000_000
  let reference: QuoteCentre | undefined
  let venue: ReturnType<typeof fakeVenue>
  let desk: Desk
  let maker: Maker

  const makeDesk = (market = aMarket()): Desk =>
    createDesk({
      name: 'demo-maker',
      expiresInSec: 300,
      rest: venue.rest,
      market: marketEntry(market),
      signer: privateKeyToAccount(testPrivateKey),
      domain: { chainId: testDomain.chainId, matching: testDomain.verifyingContract },
      subaccountId: '7',
      nowMs: venue.nowMs,
      log: createLog('test', 'silent'),
    })
  const makerOf = (grid: Grid = SPOT): Maker =>
    createMaker({ desk, grid, around: () => reference, book: venue.book, nowMs: venue.nowMs })
  const prices = (side: string): bigint[] =>
    [...venue.orders.values()]
      .filter((body) => body.ui_intent?.side === side)
      .map((body) => parseDecimal(body.ui_intent?.price, 2) ?? -1n)
  const terms = () =>
    [...venue.orders.values()].map(({ side, limit_price, desired_amount }) => [
      ...[side, limit_price, desired_amount],
    ])
  const ids = (): string[] => [...venue.orders.keys()].sort()

  beforeEach(() => {
    reference = { price: 150_000n }
    venue = fakeVenue(startMs)
    desk = makeDesk()
    maker = makerOf()
  })

  it('quotes several orders on both sides, which never meet, and leaves them while they are good', async () => {
    await maker.refresh()
    expect(prices('buy')).to.have.length(LEVELS)
    expect(prices('sell')).to.have.length(LEVELS)
    for (const bid of prices('buy'))
      for (const ask of prices('sell')) expect(bid < ask).to.equal(true)
    const before = ids()
    await maker.refresh()
    expect(ids()).to.deep.equal(before)
  })

  it('replaces what was filled, what is about to expire and what has drifted', async () => {
    await maker.refresh()
    await maker.refresh()
    const first = ids()
    venue.remove(first[0] ?? '')
    await maker.refresh()
    expect(venue.orders.size).to.equal(2 * LEVELS)
    expect(ids().filter((id) => first.includes(id))).to.have.length(2 * LEVELS - 1)
    const second = ids()
    venue.pass(250_000)
    await maker.refresh()
    expect(ids().filter((id) => second.includes(id))).to.have.length(0)
    expect(venue.orders.size).to.equal(2 * LEVELS)
  })

  it('never crosses itself while the reference moves, by little or by much', async () => {
    for (const price of [150_000n, 150_020n, 150_150n, 151_800n, 165_000n, 164_900n, 120_000n]) {
      reference = { price }
      await maker.refresh()
      const bids = prices('buy')
      const asks = prices('sell')
      expect(bids.length + asks.length).to.equal(2 * LEVELS)
      for (const bid of bids) for (const ask of asks) expect(bid < ask).to.equal(true)
    }
  })

  it('holds one order per place however answers get lost', async () => {
    venue.set({ loseNextAnswer: true })
    for (let round = 0; round < 3; round++) await maker.refresh().catch(() => undefined)
    expect(venue.orders.size).to.equal(2 * LEVELS)
    venue.set({ down: true })
    venue.pass(280_000)
    for (let round = 0; round < 3; round++) await maker.refresh().catch(() => undefined)
    venue.set({ down: false })
    for (let round = 0; round < 3; round++) await maker.refresh()
    expect(venue.orders.size).to.equal(2 * LEVELS)
  })

  it('waits after a refusal before it tries that place again', async () => {
    venue.set({ refuse: true })
    await maker.refresh()
    venue.set({ refuse: false })
    await maker.refresh()
    expect(venue.orders.size).to.equal(0)
    venue.pass(31_000)
    await maker.refresh()
    expect(venue.orders.size).to.equal(2 * LEVELS)
  })

  it('sends fewer and fewer orders while the venue refuses them', async () => {
    venue.set({ refuse: true })
    for (let second = 0; second < 3_600; second += 1) {
      await maker.refresh()
      venue.pass(1_000)
    }
    // After 0, 30, 90, 210, 450, 930 seconds, and from then on every ten minutes.
    expect(venue.refused()).to.equal(10)
  })

  it('cancels its quotes on the way out, and what a killed run left when it comes back', async () => {
    await maker.refresh()
    const abandoned = ids()
    desk = makeDesk()
    maker = makerOf()
    await desk.clear()
    expect(venue.orders.size).to.equal(0)
    await maker.refresh()
    expect(ids().filter((id) => abandoned.includes(id))).to.have.length(0)
    await maker.withdraw()
    expect(venue.orders.size).to.equal(0)
  })

  it('quotes a perpetual in cNGN, and not while there is no price', async () => {
    venue = fakeVenue(startMs, aPerp())
    desk = makeDesk(aPerp())
    reference = undefined
    maker = makerOf(PERPETUAL)
    await maker.refresh()
    expect(venue.orders.size).to.equal(0)
    reference = { price: 6_500_000n }
    await maker.refresh()
    expect(terms()).to.have.length(2 * LEVELS)
    expect(terms()).to.deep.include.members([
      ['buy', '0.00064948', '100000'],
      ['sell', '0.00065052', '100000'],
    ])
  })

  it('quotes a future in whole contracts, within its band only', async () => {
    venue = fakeVenue(startMs, aFuture())
    desk = makeDesk(aFuture())
    maker = makerOf(FUTURE)
    reference = { price: 150_000n, low: 149_700n, high: 150_130n }
    await maker.refresh()
    expect(terms()).to.have.deep.members([
      ['buy', '1498.8', '3000'],
      ['buy', '1497.6', '6000'],
      ['sell', '1501.2', '3000'],
    ])
    // The band has moved away from a quote that the price has not left.
    reference = { price: 150_000n, low: 149_700n, high: 150_119n }
    await maker.refresh()
    expect(terms().map(([side]) => side)).to.deep.equal(['buy', 'buy'])
  })

  it('knows which quotes stand in the book', async () => {
    expect(maker.quotes()).to.deep.equal([])
    await maker.refresh()
    expect(maker.quotes()).to.have.length(2 * LEVELS)
    const bought = [...venue.orders.values()].find(({ side }) => side === 'buy')
    venue.remove(bought?.order_id ?? '')
    expect(maker.quotes()).to.have.length(2 * LEVELS - 1)
    expect(maker.quotes()).to.deep.include(quoteAt(SPOT, { price: 150_000n }, 'sell', 2))
  })
})
