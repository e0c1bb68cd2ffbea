import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defaultMarketFile, loadMarkets, MarketFileError } from '../../data/load-markets.js'
import { testAddresses } from '../support/builders.js'

type Row = Record<string, unknown>

const shipped = JSON.parse(readFileSync(defaultMarketFile, 'utf8')) as Row[]
const [spot = {}] = shipped

describe('loadMarkets', () => {
  let folder: string
  before(() => (folder = mkdtempSync(join(tmpdir(), 'markets-'))))
  after(() => rmSync(folder, { recursive: true }))

  const written = (content: unknown): URL => {
    const path = join(folder, 'markets.json')
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
    return pathToFileURL(path)
  }

  it('joins the shipped spot market with the addresses, lower-cased', () => {
    const mixed = { ...testAddresses, wrapped_cngn: `0x${'Cd'.repeat(20)}` }
    const [market] = loadMarkets(mixed)
    expect(market).to.deep.include({
      market: 'cNGN-USDC',
      ordinal: 0,
      enabled: true,
      contractType: 'spot',
      aliases: ['USDCcNGN-SPOT'],
      tickSize: 1n,
      minSize: 10n ** 12n,
      contractMultiplier: 1n,
      amountScale: 10n ** 18n,
      takerFeeBps: 25,
      makerFeeBps: 0,
      assetAddress: `0x${'cd'.repeat(20)}`,
      subId: 0n,
      quoteAssetAddress: testAddresses.wrapped_usdc,
      tradeModuleAddress: testAddresses.spot_trade_module,
      marginManagerAddress: testAddresses.spot_manager,
      orderEntry: { name: 'cngn_usdc_spot_v1', orientation: 'inverted' },
    })
    expect(market).not.to.have.any.keys('settlementType', 'amountStep')
  })

  it('loads a deliverable future, which the venue does not list by default', () => {
    const row: Row = {
      ...spot,
      market: 'USDCcNGN-APR30-2026',
      ordinal: 3,
      contract_type: 'deliverable_fx_future',
      settlement_type: 'physical_delivery',
      aliases: [],
      amount_step: '1',
      sub_id: '1777554000',
    }
    delete row.order_entry
    const markets = loadMarkets(testAddresses, written([spot, row]))
    expect(markets[1]).to.include({ settlementType: 'physical_delivery', amountStep: 10n ** 18n })
    expect(markets[1]).not.to.have.property('orderEntry')
  })

  const other = { ...spot, market: 'B', ordinal: 1, aliases: [], sub_id: '1' }
  const broken: readonly (readonly [string, unknown, RegExp])[] = [
    ['text that is not JSON', '[', /cannot read/],
    ['no market', [], /1/],
    ['an unknown field', [{ ...spot, tick: '1' }], /tick/],
    ['a tick of zero', [{ ...spot, tick_size: '0' }], /tick_size/],
    ['a step with an exponent', [{ ...spot, min_size: '1e-6' }], /min_size/],
    ['a fee as text', [{ ...spot, taker_fee_bps: '25' }], /taker_fee_bps/],
    ['an ordinal that does not fit a byte', [{ ...spot, ordinal: 256 }], /ordinal/],
    ['an identifier with a dot', [{ ...spot, market: 'a.b' }], /market/],
    ['an address that the deployment lacks', [{ ...spot, asset: 'toString' }], /toString/],
    ['an identifier twice', [spot, { ...other, market: 'cNGN-USDC' }], /identifier cNGN-USDC/],
    ['an alias that is a market', [spot, { ...other, aliases: ['cNGN-USDC'] }], /identifier/],
    ['an ordinal twice', [spot, { ...other, ordinal: 0 }], /ordinal 0/],
    ['an instrument twice', [spot, { ...other, sub_id: '0' }], /instrument/],
  ]
  for (const [name, content, message] of broken) {
    it(`refuses ${name}`, () => {
      expect(() => loadMarkets(testAddresses, written(content))).to.throw(MarketFileError, message)
    })
  }

  it('refuses a deployment with a malformed address, and a missing file', () => {
    expect(() => loadMarkets({ ...testAddresses, wrapped_usdc: '0x12' })).to.throw(
      MarketFileError,
      'wrapped_usdc',
    )
    expect(() => loadMarkets(testAddresses, new URL('file:///nowhere/markets.json'))).to.throw(
      MarketFileError,
      'cannot read',
    )
  })
})
