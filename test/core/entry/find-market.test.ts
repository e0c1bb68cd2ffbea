import { expect } from 'chai'
import { findInstrument, findMarket, findMarketByName } from '../../../core/entry/find-market.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'

const spot = aMarket()
const perp = aPerp()
const off = aMarket({ market: 'OFF', enabled: false, aliases: ['WAS-OFF'], subId: 5n })
const markets = [spot, aFuture(), perp, off]
const before = { nowMs: 999, aliasesUntilMs: 1000 }
const after = { nowMs: 1000, aliasesUntilMs: 1000 }
const upper = `0x${spot.assetAddress.slice(2).toUpperCase()}`

const listed = ['USDC-cNGN-30NOV26', 'cNGN-PERP', 'cNGN-USDC']
const unknown = (message: string) => ({ message, markets: listed })

describe('findMarket', () => {
  it('finds a symbol, a pair in any case, a pair without sub_id, and both when they agree (REA-001, REA-002)', () => {
    for (const naming of [
      { symbol: 'cNGN-USDC' },
      { assetAddress: upper, subId: '0' },
      { assetAddress: spot.assetAddress },
      { symbol: 'cNGN-USDC', assetAddress: upper, subId: '0' },
    ]) {
      expect(findMarket(markets, naming, before)).to.deep.equal({ market: spot, deprecated: false })
    }
    const future = { assetAddress: aFuture().assetAddress, subId: '1796047200' }
    expect(findMarket(markets, future, before)).to.have.nested.property(
      'market.market',
      'USDC-cNGN-30NOV26',
    )
  })

  it('follows an alias until the cut-off and says that it is deprecated (REA-004)', () => {
    const naming = { symbol: 'USDCcNGN-SPOT' }
    expect(findMarket(markets, naming, before)).to.deep.equal({ market: spot, deprecated: true })
    const both = { symbol: 'USDCcNGN-PERP', assetAddress: perp.assetAddress }
    expect(findMarket(markets, both, before)).to.deep.equal({ market: perp, deprecated: true })
    expect(findMarket(markets, naming, after)).to.deep.nested.include({
      'refusal.extra': unknown('no such market: USDCcNGN-SPOT'),
    })
  })

  it('asks for a name when there is none', () => {
    for (const naming of [{}, { symbol: '' }, { subId: '0' }]) {
      expect(findMarket(markets, naming, before)).to.deep.nested.include({
        'refusal.message': 'unknown_market',
        'refusal.extra': unknown('symbol or asset_address is required'),
      })
    }
  })

  const missing = [
    [{ symbol: 'NOPE' }, 'NOPE'],
    [{ symbol: 'usdccngn-spot' }, 'usdccngn-spot'],
    [{ symbol: 'cngn-usdc' }, 'cngn-usdc'],
    [{ symbol: 'OFF' }, 'OFF'],
    [{ symbol: 'WAS-OFF' }, 'WAS-OFF'],
    [{ symbol: ['cNGN-USDC', 'cNGN-PERP'] }, 'cNGN-USDC,cNGN-PERP'],
    [{ assetAddress: spot.assetAddress, subId: '1' }, `${spot.assetAddress}:1`],
    [{ assetAddress: spot.assetAddress, subId: '5' }, `${spot.assetAddress}:5`],
    [{ assetAddress: '0x12', subId: 'x' }, '0x12:x'],
    [
      { symbol: 'cNGN-USDC', assetAddress: perp.assetAddress },
      `cNGN-USDC at ${perp.assetAddress}:0`,
    ],
    [{ symbol: 'NOPE', assetAddress: spot.assetAddress }, `NOPE at ${spot.assetAddress}:0`],
    [{ symbol: 'x'.repeat(80) }, 'x'.repeat(80)],
    [{ symbol: 'x'.repeat(500) }, `${'x'.repeat(80)}…`],
  ] as const
  for (const [naming, named] of missing) {
    it(`names nothing: ${named} (REA-002)`, () => {
      expect(findMarket(markets, naming, before)).to.deep.nested.include({
        'refusal.status': 400,
        'refusal.extra': unknown(`no such market: ${named}`),
      })
    })
  }
})

describe('findMarketByName', () => {
  it('takes a symbol, an alias or a pair', () => {
    const found = { market: spot, deprecated: false }
    expect(findMarketByName(markets, 'cNGN-USDC', after)).to.deep.equal(found)
    expect(findMarketByName(markets, `${upper}:0`, after)).to.deep.equal(found)
    expect(findMarketByName(markets, 'USDCcNGN-SPOT', before)).to.include({ deprecated: true })
  })

  it('refuses anything else', () => {
    const unlisted = ['OFF', 'WAS-OFF', `${off.assetAddress}:5`]
    const wrong = ['', ':', spot.assetAddress, `${upper}:`, `${upper}:0:0`, '__proto__']
    for (const name of [...unlisted, ...wrong]) {
      expect(findMarketByName(markets, name, before)).to.have.nested.property(
        'refusal.extra.message',
        `no such market: ${name}`,
      )
    }
  })
})

describe('findInstrument', () => {
  it('knows unlisted markets too', () => {
    expect(findInstrument(markets, off.assetAddress, 5n)).to.equal(off)
    expect(findInstrument(markets, off.assetAddress, 6n)).to.equal(undefined)
  })
})
