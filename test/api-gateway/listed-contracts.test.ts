import { expect } from 'chai'
import type { ListedAssets } from '../../interface/listed-contracts.js'
import { A_DEPLOYMENT } from '../support/gateway-stage.js'
import type { HistoryGateway } from './stage/history-gateway.js'
import { aListedGateway, LISTED, LISTED_NOW_MS as NOW_MS } from './stage/listed-gateway.js'

const { spot: SPOT, perp: PERP, future: FUTURE } = LISTED

describe('what listing sites poll of pairs and contracts', () => {
  let gateway: HistoryGateway
  let isChainRead = true
  before(async () => {
    gateway = await aListedGateway({ isRead: () => isChainRead })
  })
  after(() => gateway.close())

  const read = async (path: string): Promise<unknown> => {
    const { status, text, headers } = await gateway.get(`/v1/integrations/${path}`)
    expect([path, status]).to.deep.equal([path, 200])
    expect(headers['cache-control'], path).to.equal('public, max-age=5')
    return JSON.parse(text)
  }

  const DAY = { last_price: '1', base_volume: '3', quote_volume: '2.6', target_volume: '2.6' }
  const FEES = { maker_fee: '0', taker_fee: '0.0025' }

  it('are contracts with what trades and chain state, and nothing else (REA-064)', async () => {
    const ofBook = { bid: '0.3', ask: '1.2', high: '1', low: '0.8' }
    expect(await read('contracts')).to.deep.equal([
      {
        ticker_id: FUTURE.market,
        base_currency: 'USDC',
        target_currency: 'cNGN',
        quote_currency: 'cNGN',
        ...DAY,
        ...ofBook,
        product_type: 'Futures',
        index_price: '1540.5',
        ...FEES,
        expiry_timestamp: Number(FUTURE.subId),
        end_timestamp: Number(FUTURE.subId),
      },
      {
        ticker_id: PERP.market,
        base_currency: 'cNGN',
        target_currency: 'USDC',
        quote_currency: 'USDC',
        ...DAY,
        ...ofBook,
        product_type: 'Perpetual',
        open_interest: '2000',
        open_interest_usd: '1.3',
        index_price: '0.00065',
        funding_rate: '-0.00001',
        ...FEES,
      },
    ])
    isChainRead = false
    const rows = (await read('contracts')) as Record<string, unknown>[]
    isChainRead = true
    for (const row of rows)
      expect(row).to.not.have.any.keys('open_interest', 'index_price', 'funding_rate')
    expect(await read('contract_specs')).to.deep.equal([
      {
        ticker_id: FUTURE.market,
        contract_type: 'Vanilla',
        contract_price: '1000',
        contract_price_currency: 'USDC',
      },
      {
        ticker_id: PERP.market,
        contract_type: 'Vanilla',
        contract_price: '1',
        contract_price_currency: 'cNGN',
      },
    ])
  })

  it('are spot markets as pairs, with USDC priced in cNGN', async () => {
    const day = { last_price: '1', base_volume: '2.6', quote_volume: '3' }
    expect(await read('pairs')).to.deep.equal([
      { ticker_id: SPOT.market, base: 'USDC', target: 'cNGN' },
    ])
    expect(await read('summary')).to.deep.equal([
      {
        trading_pairs: 'USDC_cNGN',
        base_currency: 'USDC',
        quote_currency: 'cNGN',
        ...day,
        lowest_ask: '3.3333333334',
        highest_bid: '0.8333333333',
        // From 1.25 to 1.
        price_change_percent_24h: '-20',
        highest_price_24h: '1.25',
        lowest_price_24h: '1',
      },
    ])
    expect(await read('ticker')).to.deep.equal({ USDC_cNGN: { ...day, isFrozen: '0' } })
    const asset = { can_withdraw: true, can_deposit: true, ...FEES }
    expect(await read('assets')).to.deep.equal({
      USDC: { name: 'USDC', contract_address: A_DEPLOYMENT.usdc, ...asset },
      cNGN: { name: 'cNGN', contract_address: A_DEPLOYMENT.cngn, ...asset },
    })
  })

  it('name a token’s id at a listing site where the operator has set it', async () => {
    const other = await aListedGateway({ unifiedIds: { USDC: 3408, cNGN: undefined } })
    const { text } = await other.get('/v1/integrations/assets')
    await other.close()
    const { USDC, cNGN } = JSON.parse(text) as ListedAssets
    expect(USDC?.unified_cryptoasset_id).to.equal(3408)
    expect(cNGN).to.not.have.property('unified_cryptoasset_id')
  })

  it('are books and trades of every market, by pair or identifier (REA-063)', async () => {
    const time = { timestamp: NOW_MS }
    for (const { market } of [PERP, FUTURE]) {
      const book = { ticker_id: market, ...time, bids: [['0.3', '1']], asks: [['1.2', '1']] }
      expect(await read(`orderbook/${market}`)).to.deep.equal(book)
      const trades = (await read(`trades/${market}`)) as Record<string, unknown>[]
      expect(trades.map(({ price, type }) => [price, type])).to.deep.equal([
        ['1', 'buy'],
        ['0.8', 'sell'],
      ])
    }
    const spot = (await read('trades/USDC_cNGN')) as Record<string, unknown>[]
    expect(spot.map(({ price, base_volume, type }) => [price, base_volume, type])).to.deep.equal([
      ['1', '1', 'sell'],
      ['1.25', '1.6', 'buy'],
    ])
    const { sell } = (await read(`historical_trades?ticker_id=${SPOT.market}&type=sell`)) as {
      sell: unknown[]
    }
    const [{ quote_volume, timestamp, ...first } = {}] = spot
    expect(sell).to.deep.equal([
      { ...first, target_volume: quote_volume, trade_timestamp: timestamp },
    ])
    expect(await read('orderbook/USDC_cNGN?depth=2')).to.deep.equal({
      ticker_id: SPOT.market,
      ...time,
      bids: [['0.8333333333', '1.2']],
      asks: [['3.3333333334', '0.3']],
    })
  })

  it('are not sent again unchanged, and say how much of the feeds they show', async () => {
    for (const path of ['contracts', 'summary', 'ticker', 'orderbook/USDC_cNGN']) {
      const { headers } = await gateway.get(`/v1/integrations/${path}`)
      expect(headers['x-feed-seq'], path).to.match(/=\d+/)
      const again = await gateway.send('GET', `/v1/integrations/${path}`, {
        headers: { 'if-none-match': String(headers.etag) },
      })
      expect([path, again.status]).to.deep.equal([path, 304])
    }
  })
})
