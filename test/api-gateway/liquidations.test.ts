import { expect } from 'chai'
import type { Liquidation } from '../../core/contracts/liquidation.js'
import { createLiquidationWriter, type LiquidationWriter } from '../../data/history/liquidations.js'
import type { LiquidationRecord } from '../../interface/liquidation.js'
import { aFuture, aMarket, aPerp } from '../support/builders.js'
import { aLiquidation } from '../support/liquidations.js'
import { aHistoryGateway, type HistoryGateway } from './stage/history-gateway.js'

const spot = aMarket()
const perp = aPerp()
const future = aFuture()

describe('GET /v1/liquidations', () => {
  let gateway: HistoryGateway
  let writer: LiquidationWriter
  let seq = 0
  const write = (added: readonly Liquidation[], takenBack: readonly Liquidation[] = []) =>
    writer.write((seq += 1), { added, takenBack })

  before(async () => {
    gateway = await aHistoryGateway({ markets: [spot, perp, future] })
    writer = createLiquidationWriter(gateway.history.db)
    const ofPerp = (block: number, fields: Partial<Liquidation> = {}) =>
      aLiquidation({ block, market: perp.market, ...fields })
    const { size, price, portion, paid, received, bySubaccountId, ...ended } = ofPerp(5)
    write([ofPerp(1, { event: 'auction_started' }), ofPerp(2), ofPerp(3)])
    write([
      ofPerp(4, { subaccountId: 8n, event: 'insolvent_auction_started' }),
      { ...ended, event: 'auction_ended' },
    ])
    write([aLiquidation({ block: 6, market: future.market, event: 'takeover', size: -4n })])
    expect([size, price, portion, paid, received, bySubaccountId]).not.to.include(undefined)
  })
  after(() => gateway.close())

  const page = async (query: string) => {
    const { status, json } = await gateway.get(`/v1/liquidations?${query}`)
    expect(status).to.equal(200)
    return json as unknown as { liquidations: LiquidationRecord[]; next_before?: string }
  }
  const blocks = async (query: string) =>
    (await page(query)).liquidations.map(({ block_number }) => block_number)
  const refusal = async (query: string) => {
    const { status, json } = await gateway.get(`/v1/liquidations?${query}`)
    return [status, json.code]
  }

  it('needs no signature, and lists those of all markets, the newest first (REA-057)', async () => {
    const { liquidations } = await page('')
    expect(liquidations.map(({ block_number }) => block_number)).to.deep.equal([6, 5, 4, 3, 2, 1])
    expect(liquidations[0]).to.deep.equal({
      market: future.market,
      event: 'takeover',
      subaccount_id: '7',
      size: '-0.000000000000000004',
      price: '0.00065',
      portion: '0.5',
      by_subaccount_id: '9',
      paid: '3',
      received: '0',
      block_number: 6,
      log_index: 3,
      occurred_at: '2026-09-21T14:13:32.000Z',
      tx_hash: aLiquidation({ block: 6 }).txHash,
    })
    expect(liquidations[1]).to.deep.equal({
      market: perp.market,
      event: 'auction_ended',
      subaccount_id: '7',
      block_number: 5,
      log_index: 3,
      occurred_at: '2026-09-21T14:13:30.000Z',
      tx_hash: aLiquidation({ block: 5 }).txHash,
    })
  })

  it('lists those of a market, by each of its names, of an account, and of both', async () => {
    expect(await blocks(`symbol=${perp.market}`)).to.deep.equal([5, 4, 3, 2, 1])
    expect(await blocks(`asset_address=${perp.assetAddress}`)).to.deep.equal([5, 4, 3, 2, 1])
    expect(await blocks(`symbol=${spot.market}`)).to.deep.equal([])
    expect(await blocks('subaccount_id=8')).to.deep.equal([4])
    expect(await blocks(`subaccount_id=7&symbol=${perp.market}`)).to.deep.equal([5, 3, 2, 1])
    expect(await blocks('subaccount_id=11')).to.deep.equal([])
  })

  it('lists those of a range of time', async () => {
    const from = '2026-09-21T14:13:24Z'
    const to = '2026-09-21T14:13:30Z'
    expect(await blocks(`start=${from}&end=${to}`)).to.deep.equal([4, 3, 2])
    expect(await blocks(`start=${from}&symbol=${perp.market}`)).to.deep.equal([5, 4, 3, 2])
    expect(await blocks(`end=${to}&subaccount_id=7`)).to.deep.equal([3, 2, 1])
  })

  it('pages to the oldest, each once, with what comes meanwhile', async () => {
    const found: number[] = []
    let query = 'limit=4'
    for (const size of [4, 2]) {
      const { liquidations, next_before } = await page(query)
      expect(liquidations).to.have.length(size)
      found.push(...liquidations.map(({ block_number }) => block_number))
      expect(next_before === undefined).to.equal(size === 2)
      if (size === 4) write([aLiquidation({ block: 60 })])
      query = `limit=4&before=${next_before}`
    }
    expect(found).to.deep.equal([6, 5, 4, 3, 2, 1])
    write([], [aLiquidation({ block: 60 })])
  })

  it('forgets what the chain has lost, and takes the same event from another block (REA-058)', async () => {
    const again = aLiquidation({ block: 3, market: perp.market })
    const moved = { ...again, blockHash: `0x${'ee'.repeat(32)}` as const, blockNumber: 9n }
    write([moved], [again])
    expect(await blocks('subaccount_id=7&limit=3')).to.deep.equal([6, 5, 9])
    write([again], [moved])
    write([again])
    expect(await blocks('')).to.deep.equal([6, 5, 4, 3, 2, 1])
  })

  it('refuses what no parameter may be', async () => {
    const cursor = String((await page('limit=1')).next_before)
    for (const [query, code] of [
      ['limit=0', 'invalid_limit'],
      ['limit=101', 'invalid_limit'],
      ['subaccount_id=', 'invalid_subaccount_id'],
      ['subaccount_id=-1', 'invalid_subaccount_id'],
      ['subaccount_id=1.5', 'invalid_subaccount_id'],
      ['subaccount_id=1&subaccount_id=2', 'invalid_subaccount_id'],
      [`subaccount_id=${'9'.repeat(400)}`, 'invalid_subaccount_id'],
      ['symbol=NOPE', 'unknown_market'],
      ['symbol=', 'unknown_market'],
      ['asset_address=0x12', 'unknown_market'],
      ['sub_id=7', 'unknown_market'],
      ['before=abc', 'invalid_before'],
      [`before=${cursor}&before=${cursor}`, 'invalid_before'],
      ['start=yesterday', 'invalid_start'],
      ['end=yesterday', 'invalid_end'],
      ['start=2026-09-21T14:13:24Z&end=2026-09-21T14:13:24Z', 'end_not_after_start'],
    ] as const)
      expect(await refusal(query), query).to.deep.equal([400, code])
    const { json } = await gateway.get(`/v1/marks?symbol=${perp.market}&before=${cursor}`)
    expect(json.code).to.equal('invalid_before')
  })
})
