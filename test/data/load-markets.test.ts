import { expect } from 'chai'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { defaultMarketFile, loadMarkets, MarketFileError } from '../../data/markets.js'
import { rowOfNextSeries } from '../../data/series-row.js'
import { futureAddresses, perpAddresses, testAddresses } from '../support/builders.js'

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
    const [market] = loadMarkets(mixed).markets
    expect(market).to.deep.include({
      market: 'cNGN-USDC',
      ordinal: 0,
      enabled: true,
      contractType: 'spot',
      settlementType: 'spot',
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
    expect(market).not.to.have.property('amountStep')
  })

  it('loads a deliverable future, which the venue does not list by default', () => {
    const row: Row = {
      ...spot,
      market: 'USDCcNGN-APR30-2026',
      ordinal: 3,
      contract_type: 'deliverable_fx_future',
      settlement_type: 'physical_delivery',
      aliases: [],
      min_size: '1',
      amount_step: '1',
      sub_id: '1777554000',
    }
    delete row.order_entry
    const { markets } = loadMarkets(testAddresses, written([spot, row]))
    expect(markets[1]).to.include({ settlementType: 'physical_delivery', amountStep: 10n ** 18n })
    expect(markets[1]).not.to.have.property('orderEntry')
  })

  const other = { ...spot, market: 'B', ordinal: 1, aliases: [], sub_id: '1' }
  const broken: (readonly [string, Row, RegExp])[] = [
    ['an unknown field', { ...other, tick: '1' }, /tick/],
    ['a tick of zero', { ...other, tick_size: '0' }, /tick_size/],
    ['a step with an exponent', { ...other, min_size: '1e-6' }, /min_size/],
    ['a fee as text', { ...other, taker_fee_bps: '25' }, /taker_fee_bps/],
    ['an ordinal beyond 65,535', { ...other, ordinal: 65_536 }, /ordinal/],
    ['an identifier with a dot', { ...other, market: 'a.b' }, /market/],
    ['an address that the deployment lacks', { ...other, asset: 'toString' }, /toString/],
    ['an identifier twice', { ...other, market: 'cNGN-USDC' }, /identifier cNGN-USDC/],
    ['an alias that is a market', { ...other, aliases: ['cNGN-USDC'] }, /identifier/],
    ['an ordinal twice', { ...other, ordinal: 0 }, /ordinal 0/],
    ['an instrument twice', { ...other, sub_id: '0' }, /instrument/],
  ]
  const future = {
    ...other,
    contract_type: 'future',
    settlement_type: 'cash_settled_future',
    sub_id: `${Date.UTC(2026, 11, 1, 1) / 1_000}`,
    min_size: '1',
    amount_scale: `${10n ** 15n}`,
  }
  for (const [name, market, problem] of [
    ['the day before', 'USDC-cNGN-30NOV26', /must end with -01DEC26/],
    ['another year', 'USDC-cNGN-01DEC27', /must end with -01DEC26/],
    ['another spelling', 'USDC-cNGN-1DEC26', /must end with -01DEC26/],
    ['no date', 'USDC-cNGN', /must end with -01DEC26/],
  ] as const) {
    broken.push([`a series named by ${name}`, { ...future, market }, problem])
  }
  broken.push(['a series without expiry', { ...future, sub_id: '86400' }, /not an expiry/])
  const series = { ...future, market: 'S-01DEC26' }
  for (const [name, step] of [
    ['min_size', '0.5'],
    ['amount_step', '1.5'],
  ] as const) {
    const problem = new RegExp(`${name} that must be a whole number of the chain's units`)
    broken.push([`a series whose ${name} the chain refuses`, { ...series, [name]: step }, problem])
  }
  for (const [name, row, problem] of broken) {
    it(`refuses a row with ${name}, and loads the others`, () => {
      const last = { ...other, market: 'C', ordinal: 2, sub_id: '2' }
      const { markets, refused } = loadMarkets(testAddresses, written([spot, row, last]))
      expect(markets.map(({ market }) => market)).to.deep.equal([spot.market, 'C'])
      expect(refused).to.have.length(1)
      expect(refused[0]?.problem).to.match(problem)
      expect(refused[0]?.row).to.equal(name.endsWith('a dot') ? 'row 2' : row.market)
    })
  }

  it('loads series that are named by the UTC date of their expiry, to the second', () => {
    const [first, last] = [Date.UTC(2026, 11, 1), Date.UTC(2026, 11, 2) - 1_000].map(
      (ms) => ms / 1_000,
    )
    const rows = [first, last].map((sec, i) => ({
      ...future,
      market: `S${i}-01DEC26`,
      ordinal: i + 1,
      sub_id: `${sec}`,
    }))
    const { markets, refused } = loadMarkets(testAddresses, written([spot, ...rows]))
    expect(refused).to.deep.equal([])
    expect(markets.map(({ market }) => market)).to.deep.equal([
      spot.market,
      'S0-01DEC26',
      'S1-01DEC26',
    ])
  })

  it('refuses a file that is not a list of markets', () => {
    for (const content of ['[', '{}', '1']) {
      expect(() => loadMarkets(testAddresses, written(content)), content).to.throw(MarketFileError)
    }
  })

  it('joins the shipped perpetual, whose prices and sizes are entered as the engine has them', () => {
    const all = { ...testAddresses, ...perpAddresses, ...futureAddresses }
    const { markets, refused, absent } = loadMarkets(all)
    expect([refused, absent]).to.deep.equal([[], []])
    const names = ['cNGN-USDC', 'cNGN-PERP']
    expect(markets.map(({ market }) => market)).to.deep.equal(names)
    expect(markets[1]).to.deep.include({
      ordinal: 1,
      contractType: 'perpetual',
      settlementType: 'cash_settled_perpetual',
      aliases: ['USDCcNGN-PERP'],
      tickSize: 1n,
      minSize: 10n ** 18n,
      amountScale: 10n ** 18n,
      takerFeeBps: 25,
      assetAddress: perpAddresses.perp_asset,
      quoteAssetAddress: perpAddresses.cash_asset,
      tradeModuleAddress: perpAddresses.perp_trade_module,
      marginManagerAddress: perpAddresses.perp_manager,
      orderEntry: { name: 'cngn_usdc_perp_v1', orientation: 'identity' },
    })
  })

  it('joins the row of a series, whose contracts are 1,000 of its sizes', () => {
    const rows = [...shipped, rowOfNextSeries(shipped, 1_796_047_200)]
    const { markets } = loadMarkets({ ...testAddresses, ...futureAddresses }, written(rows))
    expect(markets[1]).to.deep.include({
      market: 'USDC-cNGN-30NOV26',
      ordinal: 2,
      aliases: [],
      enabled: true,
      contractType: 'future',
      settlementType: 'cash_settled_future',
      minSize: 10n ** 18n,
      amountStep: 10n ** 18n,
      tickSize: 1n,
      takerFeeBps: 25,
      contractMultiplier: 1_000n,
      amountScale: 10n ** 15n,
      subId: 1_796_047_200n,
      assetAddress: futureAddresses.future_asset,
      quoteAssetAddress: testAddresses.wrapped_usdc,
      tradeModuleAddress: futureAddresses.future_trade_module,
      marginManagerAddress: futureAddresses.futures_manager,
    })
    expect(markets[1]).not.to.have.property('orderEntry')
    // The identifier spells the UTC date of the sub id (FUT-001).
    expect(new Date(1_796_047_200_000).toISOString()).to.equal('2026-11-30T14:00:00.000Z')
  })

  describe('on a deployment that lacks contracts of a market', () => {
    const on = (addresses: Record<string, string>, rows: unknown = shipped.slice(0, 2)) => {
      const { markets, refused, absent } = loadMarkets(addresses, written(rows))
      return {
        markets: markets.map(({ market }) => market),
        refused: refused.map(({ row }) => row),
        absent: absent.map(({ market }) => market),
      }
    }
    const shared = {
      cash_asset: perpAddresses.cash_asset,
      perp_manager: perpAddresses.perp_manager,
    }

    it('a market of which the deployment has nothing of its own is absent', () => {
      const [market] = loadMarkets(testAddresses).absent
      expect(market).to.deep.equal({
        market: 'cNGN-PERP',
        lacks: ['perp_asset', 'perp_trade_module'],
      })
      const expected = { markets: ['cNGN-USDC'], refused: [], absent: ['cNGN-PERP'] }
      expect(on(testAddresses)).to.deep.equal(expected)
      expect(on({ ...testAddresses, ...shared })).to.deep.equal(expected)
    })

    it('a market of which it has one of two, or not what is shared, is refused alone', () => {
      for (const name of Object.keys(perpAddresses)) {
        const lacking: Record<string, string> = { ...testAddresses, ...perpAddresses }
        delete lacking[name]
        const expected = { markets: ['cNGN-USDC'], refused: ['cNGN-PERP'], absent: [] }
        expect(on(lacking), name).to.deep.equal(expected)
      }
    })

    it('a deployment that has no market of the file is the wrong one', () => {
      const expected = { markets: [], refused: ['cNGN-USDC', 'cNGN-PERP'], absent: [] }
      expect(on(shared)).to.deep.equal(expected)
    })

    it('an absent market keeps its names and its ordinal', () => {
      const taker = { ...spot, market: 'B', aliases: [], sub_id: '1', ordinal: 1 }
      const [, perp] = shipped
      const expected = { markets: ['cNGN-USDC'], refused: ['B'], absent: ['cNGN-PERP'] }
      expect(on(testAddresses, [spot, perp, taker])).to.deep.equal(expected)
    })

    it('a row that is malformed is refused and not absent', () => {
      const rows = [spot, { ...shipped[1], settlement_type: 'spot' }]
      expect(on(testAddresses, rows).refused).to.deep.equal(['cNGN-PERP'])
    })
  })

  it('refuses a deployment with a malformed address, and a missing file', () => {
    const { markets, refused } = loadMarkets({ ...testAddresses, wrapped_usdc: '0x12' })
    expect(markets).to.deep.equal([])
    expect(refused[0]?.problem).to.include('wrapped_usdc')
    expect(() => loadMarkets(testAddresses, new URL('file:///nowhere/markets.json'))).to.throw(
      MarketFileError,
      'cannot read /nowhere/markets.json: ENOENT',
    )
    expect(() => loadMarkets(testAddresses, written('{'))).to.throw(MarketFileError, /JSON/)
  })
})
