import { expect } from 'chai'
import { createPublicClient, http } from 'viem'
import type { Devnet } from '../support/venue.js'
import { e18, type Hex, type Json } from './black-box/client.js'
import { asHeader, getWith, signedFrame, type FillJson } from './black-box/frames.js'
import {
  COPIED_FROM_MARKET,
  DECIMAL,
  expectError,
  expectShape,
  HASH,
  isInteger,
  ISO,
  isObject,
  ORDER,
  TEXT,
  type Look,
} from './black-box/shapes.js'
import { feeOf, quoteOf, SWEPT, tellStory, type Story } from './black-box/story.js'
import { sharedVenue } from './stage/shared-venue.js'

/** Fill record. */
const FILL: Readonly<Record<string, Look>> = {
  trade_id: isInteger,
  order_id: TEXT,
  liquidity: /^(taker|maker)$/,
  side: /^(buy|sell)$/,
  price: DECIMAL,
  size: DECIMAL,
  sub_id: '0',
  market: 'cNGN-USDC',
  display_name: TEXT,
  created_at: ISO,
  fee: DECIMAL,
  tx_hash: HASH,
  spot_contract: isObject,
}

describe('a trader looks back', function () {
  let devnet: Devnet
  let story: Story
  before(async function () {
    ;({ devnet } = await sharedVenue())
    story = await tellStory(devnet)
  })
  after(() => story.first.cancel(story.orders.resting))

  const historyOf = (name: keyof Story['orders']) => story.reader.order(story.orders[name].order_id)
  const fillsOf = (name: keyof Story['orders']) => story.reader.fillsOf(story.orders[name].order_id)

  describe('at its orders', () => {
    it('all of them, field by field, of its own only', async () => {
      const orders = await story.reader.orders()
      expect(orders).to.have.length(10)
      const { body } = await story.first.get<Story['orders']['sweep'][]>('/v1/markets')
      const entry = body.find(({ market }) => market === 'cNGN-USDC') ?? {}
      for (const order of orders) {
        expectShape(order, { ...ORDER, owner_address: story.first.address })
        for (const field of COPIED_FROM_MARKET)
          expect(order[field], field).to.equal((entry as Json)[field])
      }
    })

    it('newest first (REA-025)', async () => {
      const times = (await story.reader.orders()).map((it) => it.created_at as string)
      expect(times).to.deep.equal([...times].sort().reverse())
      const { resting } = story.orders
      expect((await story.reader.orders()).at(-1)?.order_id).to.equal(resting.order_id)
    })

    it('in every status', async () => {
      for (const [name, status] of [
        ['resting', 'active'],
        ['ownMaker', 'filled'],
        ['ownTaker', 'filled'],
        ['hit', 'filled'],
        ['sweep', 'cancelled'],
        ['plain', 'cancelled'],
        ['expired', 'expired'],
      ] as const)
        expect((await historyOf(name)).status, name).to.equal(status)
      expect(story.whileSettling).to.include('matching')
    })

    it('with the reason and the time of a cancel, and only of a cancel (ORD-081)', async () => {
      for (const [name, cancel_reason] of [
        ['sweep', 'enough for today'],
        ['plain', 'unspecified'],
        ['selfTrade', 'self_trade'],
        ['feeBound', 'fee_bound_too_low'],
      ] as const) {
        const order = await historyOf(name)
        expectShape(order, { status: 'cancelled', cancel_reason, cancelled_at: ISO })
        expect((order.cancelled_at as string) >= (order.created_at as string)).to.equal(true)
      }
      for (const name of ['resting', 'ownMaker', 'expired'] as const) {
        expect(await historyOf(name)).not.to.have.property('cancel_reason')
        expect(await historyOf(name)).not.to.have.property('cancelled_at')
      }
    })

    it('with the USDC that changed hands, to the last digit', async () => {
      const { filled_quote, filled_amount } = await historyOf('sweep')
      const expected = SWEPT.reduce((sum, [price, amount]) => sum + quoteOf(price, amount), 0n)
      expect(e18(filled_quote as string)).to.equal(expected)
      expect(filled_amount).to.equal('60.500004')
      expectShape(await historyOf('hit'), { filled_quote: '0.0485' })
    })

    it('without filled_quote where nothing was filled (MON-025)', async () => {
      for (const name of ['resting', 'plain', 'selfTrade', 'feeBound', 'expired'] as const)
        expect(await historyOf(name), name).not.to.have.property('filled_quote')
    })

    it('with the signed action and signature as they were sent (ORD-044)', async () => {
      const { action_json, signature } = story.orders.ownMaker
      expect((await historyOf('ownMaker')).action_json).to.deep.equal(action_json)
      expect((await historyOf('ownMaker')).signature).to.equal(signature)
    })

    it('at once after it places and cancels (REA-032)', async () => {
      const order = await story.first.place({ side: 'buy', price: '0.0010', amount: '1' })
      expectShape((await story.reader.ordersPage('limit=1')).body.orders[0], {
        order_id: order.order_id,
        status: 'active',
      })
      await story.first.cancel(order)
      expectShape((await story.reader.ordersPage('limit=1')).body.orders[0], {
        order_id: order.order_id,
        status: 'cancelled',
      })
    })

    it('page by page, although orders are placed meanwhile (REA-027)', async () => {
      const all = (await story.reader.orders()).map((it) => it.order_id)
      const seen: unknown[] = []
      let pages = 0
      for (let query: string | undefined = 'limit=3'; query !== undefined; pages++) {
        const { body } = await story.reader.ordersPage(query)
        seen.push(...body.orders.map((it) => it.order_id))
        const full = body.orders.length === 3
        expect(body.next_before !== undefined, 'next_before of a full page').to.equal(full)
        query = full ? `limit=3&before=${encodeURIComponent(body.next_before ?? '')}` : undefined
        const order = await story.second.place({ side: 'buy', price: '0.0010', amount: '1' })
        await story.second.cancel(order)
      }
      expect(seen).to.deep.equal(all)
      expect(pages).to.be.greaterThan(3)
    })
  })

  describe('at its fills', () => {
    it('field by field, newest first', async () => {
      const fills = await story.reader.fills()
      expect(fills).to.have.length(SWEPT.length + 3)
      for (const fill of fills)
        expectShape(fill, { ...FILL, asset_address: devnet.wrapped_cngn.toLowerCase() })
      const times = fills.map((it) => it.created_at as string)
      expect(times).to.deep.equal([...times].sort().reverse())
    })

    it('of a sweep: one for each maker, at its price, as taker', async () => {
      // Matches of one order may settle in any order.
      const fills = (await fillsOf('sweep')).sort((a, b) => Number(a.price) - Number(b.price))
      expect(fills.map(({ price, size }) => [price, size])).to.deep.equal(SWEPT)
      for (const fill of fills) {
        expectShape(fill, { liquidity: 'taker', side: 'buy' })
        expect(e18(fill.fee)).to.equal(feeOf(quoteOf(fill.price, fill.size)))
      }
    })

    it('as maker, who pays nothing (MON-020)', async () => {
      const fills = await fillsOf('hit')
      expect(fills).to.have.length(1)
      const terms = { liquidity: 'maker', side: 'sell', price: '0.0097', size: '5', fee: '0' }
      expectShape(fills[0], terms)
    })

    it('of a trade between its two subaccounts: once for each order (REA-029)', async () => {
      const [[maker], [taker]] = [await fillsOf('ownMaker'), await fillsOf('ownTaker')]
      expect(maker?.trade_id).to.equal(taker?.trade_id)
      expect(maker?.tx_hash).to.equal(taker?.tx_hash)
      expectShape(maker, { liquidity: 'maker', side: 'sell', fee: '0' })
      const fee = '0.0006'
      expectShape(taker, { liquidity: 'taker', side: 'buy', price: '0.0096', size: '25', fee })
      const listed = (await story.reader.fills()).filter((it) => it.trade_id === maker?.trade_id)
      expect(listed).to.have.length(2)
    })

    it('in trader terms from its own side (REA-016)', async () => {
      const [[maker], [taker]] = [await fillsOf('ownMaker'), await fillsOf('ownTaker')]
      const terms = { price: '104.1666666667', size: '0.24' }
      expect(maker?.spot_contract).to.deep.equal({
        spec: 'cngn_usdc_spot_v1',
        ui_intent: { side: 'buy', ...terms },
        engine_order: { side: 'sell', price: '0.0096', amount: '25' },
        balance_delta: { usdc: '+0.24', cngn: '-25' },
      })
      expect(taker?.spot_contract).to.deep.equal({
        spec: 'cngn_usdc_spot_v1',
        ui_intent: { side: 'sell', ...terms },
        engine_order: { side: 'buy', price: '0.0096', amount: '25' },
        balance_delta: { usdc: '-0.24', cngn: '+25' },
      })
    })

    it('that the public trades show too, settled by transactions that succeeded', async () => {
      const { trades } = await story.first.trades()
      const chain = createPublicClient({ transport: http(devnet.rpc_url) })
      for (const fill of await story.reader.fills()) {
        const trade = trades.find((it) => it.trade_id === fill.trade_id)
        for (const field of ['price', 'size', 'created_at', 'tx_hash', 'market', 'asset_address'])
          expect(trade?.[field], field).to.equal(fill[field])
        expect(trade?.[`${fill.liquidity as string}_order_id`]).to.equal(fill.order_id)
        const receipt = await chain.getTransactionReceipt({ hash: fill.tx_hash as Hex })
        expect(receipt.status).to.equal('success')
      }
    })

    it('and the other side sees its own half of them only', async () => {
      const mine = await story.reader.fills()
      const theirs = await story.othersReader.fills()
      const myOrders = new Set(mine.map((it) => it.order_id))
      expect(theirs.filter((it) => myOrders.has(it.order_id))).to.deep.equal([])
      const swept = await fillsOf('sweep')
      expect(swept).to.have.length(SWEPT.length)
      for (const { trade_id, price } of swept) {
        const half = theirs.find((it) => it.trade_id === trade_id)
        expectShape(half, { liquidity: 'maker', side: 'sell', fee: '0', price })
      }
      const [between] = await fillsOf('ownTaker')
      expect(theirs.find((it) => it.trade_id === between?.trade_id)).to.equal(undefined)
    })

    for (const size of [1, 2, 4])
      it(`page by page, ${size} at a time, without loss or repeat`, async () => {
        const all = await story.reader.fills()
        const seen: FillJson[] = []
        let pages = 0
        for (let before: string | undefined = ''; before !== undefined; pages++) {
          const { body } = await story.reader.fillsPage(`limit=${size}${before}`)
          expect(body.next_before !== undefined).to.equal(body.fills.length === size)
          seen.push(...body.fills)
          before = body.next_before && `&before=${encodeURIComponent(body.next_before)}`
        }
        expect(seen).to.deep.equal(all)
        expect(pages).to.equal(Math.floor(all.length / size) + 1)
      })
  })

  it('not from a place in the other history, nor from one that was tampered with (REA-028)', async () => {
    const text = 'before must be a next_before value returned by this endpoint'
    const { next_before: ofFills = '' } = (await story.reader.fillsPage('limit=1')).body
    const { next_before: ofOrders = '' } = (await story.reader.ordersPage('limit=1')).body
    for (const [path, before] of [
      ['/v1/orders', ofFills],
      ['/v1/fills', ofOrders],
      ['/v1/fills', `${ofFills}A`],
      ['/v1/orders', ofOrders.slice(0, -1)],
    ]) {
      const answer = await getWith(devnet, `${path}?before=${before}`, story.reader.header)
      expectError(answer, 400, text)
    }
  })

  it('and shows no other owner’s from a place in its own', async () => {
    const { next_before = '' } = (await story.reader.fillsPage('limit=1')).body
    const header = asHeader(await signedFrame(devnet, `0x${'77'.repeat(32)}`))
    const answer = await getWith(devnet, `/v1/fills?before=${next_before}`, header)
    expect(answer.body).to.deep.equal({ fills: [] })
  })
})
