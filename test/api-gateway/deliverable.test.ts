import { expect } from 'chai'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSignatureVerifier } from '../../chain/signing/verify-signature.js'
import type { Block, Change } from '../../core/model/change.js'
import type { Market } from '../../core/model/market.js'
import { defaultMarketFile, loadMarkets } from '../../data/markets.js'
import { createMemoryBus } from '../../runtime/bus/memory-bus.js'
import type { RunningProcess } from '../../runtime/process/process.js'
import { codeAnswer } from '../support/actions.js'
import { signedOrderBody, testAddresses, testDomain } from '../support/builders.js'
import { startFakeMatcher, type FakeMatcher } from '../support/fake-matcher.js'
import { anIntakeStage, type IntakeStage } from '../support/intake-stage.js'
import { START_MS, type MarketAct } from '../support/market-commands.js'
import { feedOf } from '../support/market-feed.js'
import { tempDir } from '../support/temp-dir.js'
import {
  aHistoryGateway,
  authHeader,
  frameOwner,
  NOW_MS,
  type HistoryGateway,
} from './stage/history-gateway.js'

const NAME = 'USDCcNGN-APR30-2026'
/** 2026-04-30 13:00 UTC. */
const EXPIRY_SEC = Date.UTC(2026, 3, 30, 13) / 1_000

type Row = Record<string, unknown>

/** The spot market and the deliverable future, as a market file states them. */
function marketsOf(): readonly Market[] {
  const dir = tempDir()
  try {
    const [spot = {}] = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
    const row: Row = {
      ...spot,
      market: NAME,
      ordinal: 3,
      aliases: [],
      enabled: true,
      contract_type: 'deliverable_fx_future',
      settlement_type: 'physical_delivery',
      sub_id: `${EXPIRY_SEC}`,
      min_size: '1',
      amount_step: '1',
    }
    delete row.order_entry
    const file = join(dir.path, 'markets.json')
    writeFileSync(file, JSON.stringify([spot, row]))
    return loadMarkets(testAddresses, file).markets
  } finally {
    dir.remove()
  }
}

const place = (over: Partial<Extract<MarketAct, { act: 'place' }>>): MarketAct => ({
  act: 'place',
  buy: true,
  price: 100,
  size: 10,
  trader: 1,
  livesSec: 3_600,
  unchecked: false,
  ...over,
})

/** A bid for 10 of which 4 were sold to it, and another that was cancelled; all by the owner of the frame. */
function pastOf(market: Market): Block[] {
  const acts: MarketAct[] = [
    place({ size: 10 }),
    place({ buy: false, price: 99, size: 4, trader: 2 }),
    { act: 'settle', pick: 0, outcome: 'success' },
    place({ price: 95 }),
    { act: 'cancel', pick: 2 },
  ]
  const owned = (change: Change): Change => {
    const named = { ...change, owner: frameOwner }
    if (named.kind === 'OrderFilled')
      return { ...named, fill: { ...named.fill, txHash: `0x${'7e'.repeat(32)}` } }
    return named.kind === 'OrderPlaced'
      ? { ...named, order: { ...named.order, owner: frameOwner } }
      : named
  }
  return feedOf(market, acts).map((block) => ({ ...block, changes: block.changes.map(owned) }))
}

describe('a deliverable future that is enabled', () => {
  let markets: readonly Market[]
  let gateway: HistoryGateway
  let intake: IntakeStage
  let running: RunningProcess
  let matcher: FakeMatcher
  let header: string

  before(async function () {
    markets = marketsOf()
    const [spot, deliverable] = markets
    if (spot === undefined || deliverable === undefined) throw new Error('a row was refused')
    const bus = createMemoryBus()
    intake = anIntakeStage()
    const verifier = createSignatureVerifier({
      domain: testDomain,
      readCode: () => codeAnswer(false),
      callIsValidSignature: () => Promise.resolve(false),
    })
    matcher = await startFakeMatcher(bus, spot.market)
    gateway = await aHistoryGateway({ markets, bus })
    running = await intake.start(bus, { markets, verifier, nowMs: () => NOW_MS })
    gateway.project(pastOf(deliverable))
    header = await authHeader()
  })
  after(async () => {
    await gateway.close()
    await running.stop()
    await matcher.stop()
    intake.close()
  })

  const rows = async (path: string, of: string): Promise<Row[]> => {
    const { status, json } = await gateway.get(path, header)
    expect(status, path).to.equal(200)
    return json[of] as Row[]
  }

  it('is listed, with its expiry, as one that takes no orders (REA-010)', async () => {
    const { text } = await gateway.get('/v1/markets')
    const listed = JSON.parse(text) as Row[]
    expect(listed.map(({ market }) => market)).to.deep.equal([NAME, 'cNGN-USDC'])
    expect(listed[0]).to.include({
      contract_type: 'deliverable_fx_future',
      settlement_type: 'physical_delivery',
      expiry_timestamp: EXPIRY_SEC,
      sub_id: `${EXPIRY_SEC}`,
      accepts_orders: false,
      min_size: '1',
      amount_step: '1',
    })
    expect(listed[0]).to.not.have.any.keys('future', 'perp', 'order_entry_spec')
    expect(listed[1]).to.not.have.property('accepts_orders')
  })

  it('presents the orders, fills, trades and candles that are stored of it', async () => {
    const orders = await rows('/v1/orders', 'orders')
    expect(orders.map(({ market, status }) => [market, status])).to.deep.equal([
      [NAME, 'cancelled'],
      [NAME, 'filled'],
      [NAME, 'active'],
    ])
    expect(orders[1]).to.include({ settlement_type: 'physical_delivery', filled_amount: '4' })
    const fills = await rows('/v1/fills', 'fills')
    expect(fills.map(({ market, size, price }) => [market, size, price])).to.deep.equal([
      [NAME, '4', '1'],
      [NAME, '4', '1'],
    ])
    const trades = await rows(`/v1/trades?symbol=${NAME}`, 'trades')
    expect(trades.map(({ price, size }) => [price, size])).to.deep.equal([['1', '4']])
    const start = new Date(START_MS).toISOString()
    const candles = await rows(`/v1/candles?symbol=${NAME}&interval=1d&start=${start}`, 'candles')
    expect(candles).to.have.length(1)
    expect(candles[0]).to.include({ open: '1', close: '1' })
    const order = await gateway.get(`/v1/orders/${encodeURIComponent(String(orders[2]?.order_id))}`)
    expect(order.json).to.include({ market: NAME, status: 'active', filled_amount: '4' })
  })

  it('refuses a signed order that is valid but for its market, and keeps nothing of it (REA-010)', async () => {
    const before = intake.registry().lastNo()
    const market = markets[1]
    const body = await signedOrderBody({ ...(market && { market }), price: '1', amount: '10' })
    const { status, json } = await gateway.send('POST', '/v1/orders', { body })
    expect([status, json.code]).to.deep.equal([400, 'market_disabled'])
    expect(intake.registry().lastNo()).to.equal(before)
    // The same order of the market beside it is taken.
    const other = await signedOrderBody({ orderId: 'spot', nonce: 2n })
    expect((await gateway.send('POST', '/v1/orders', { body: other })).status).to.be.oneOf([
      200, 201,
    ])
  })

  it('has no ticker', async () => {
    const { status, json } = await gateway.get(`/v1/integrations/tickers?ticker_id=${NAME}`)
    expect([status, json.code]).to.deep.equal([400, 'unknown_market'])
  })
})
