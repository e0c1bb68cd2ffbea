import { expect } from 'chai'
import {
  entryOf,
  marketOf,
  nextOrdinal,
  ordinalsByName,
  whyUnregistrable,
  withEntries,
  type MarketEntries,
} from '../../../core/contracts/market-register.js'
import { MAX_ORDINAL } from '../../../core/limits.js'
import type { Market } from '../../../core/model/market.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'

const spot = aMarket()
const perp = aPerp()
const future = aFuture()
const entries = (...markets: readonly Market[]): MarketEntries =>
  withEntries(new Map(), markets.map(entryOf))
const why = (known: MarketEntries, ...wanted: readonly Market[]) =>
  whyUnregistrable(known, wanted.map(entryOf))

describe('an entry of the register', () => {
  it('holds all of a market but its standing, of each kind', () => {
    for (const market of [spot, perp, future])
      expect(marketOf(entryOf(market))).to.deep.equal(market)
    const paused = { ...spot, standing: { status: 'paused', reason: 'r' } } as const
    expect(marketOf(entryOf(paused))).to.deep.equal(spot)
  })

  it('of a known market replaces its texts alone', () => {
    const later = aMarket({ aliases: ['B'], takerFeeBps: 99, enabled: false })
    const folded = withEntries(entries(spot, perp), [entryOf(later)])
    expect([...folded.keys()]).to.deep.equal([spot.market, perp.market])
    expect(folded.get(spot.market)).to.deep.equal({
      opening: entryOf(spot).opening,
      texts: entryOf(later).texts,
    })
  })
})

describe('what may be registered', () => {
  const known = entries(spot, perp)
  const other = aMarket({ market: 'B', ordinal: 9, aliases: [], subId: 9n })

  it('is a market with a name, an ordinal and an instrument of its own (OPE-039)', () => {
    expect(why(known, other)).to.equal(undefined)
    expect(why(new Map(), spot, perp, future)).to.equal(undefined)
    const { assetAddress } = spot
    for (const [market, reason] of [
      [{ ...other, ordinal: perp.ordinal }, `B: the ordinal ${perp.ordinal} is of ${perp.market}`],
      [{ ...other, subId: 0n }, `B: the instrument ${assetAddress}:0 is of ${spot.market}`],
      [{ ...other, aliases: [perp.market] }, `B: the name ${perp.market} is of ${perp.market}`],
      [
        { ...other, market: 'USDCcNGN-SPOT' },
        `USDCcNGN-SPOT: the name USDCcNGN-SPOT is of ${spot.market}`,
      ],
    ] as const)
      expect(why(known, market)).to.equal(reason)
    expect(why(known, other, { ...other, market: 'C' })).to.match(/^C: the ordinal 9 is of B$/)
    expect(why(known, other, other)).to.equal('a market is named twice')
  })

  it('is a known market with other texts, also those that another one gives up at once', () => {
    const alias = spot.aliases[0] ?? ''
    const without = { ...spot, aliases: [] }
    const taking = { ...perp, aliases: [alias] }
    expect(why(known, without)).to.equal(undefined)
    expect(why(known, without, taking)).to.equal(undefined)
    expect(why(known, taking)).to.match(/^cNGN-PERP: the name USDCcNGN-SPOT is of cNGN-USDC$/)
    expect(why(known, { ...spot, takerFeeBps: 99, enabled: false })).to.equal(undefined)
  })

  it('is no known market of another identity (OPE-040)', () => {
    for (const [fields, field] of [
      [{ ordinal: 77 }, 'ordinal never changes: it is 0'],
      [{ makerFeeBps: 1 }, 'maker_fee_bps never changes: it is 0'],
      [{ subId: 5n }, 'sub_id never changes: it is 0'],
      [{ contractType: 'perpetual' }, 'contract_type never changes: it is spot'],
    ] as const)
      expect(why(known, { ...spot, ...fields } as Market)).to.equal(
        `${spot.market} is registered, and its ${field}`,
      )
  })

  it('has room for 65,536 ordinals, of which each is given once (OPE-039)', () => {
    expect(MAX_ORDINAL).to.equal(65_535)
    expect(why(known, { ...other, ordinal: MAX_ORDINAL })).to.equal(undefined)
    expect(why(known, { ...other, ordinal: MAX_ORDINAL + 1 })).to.equal(
      'B: ordinal 65536 is above 65535',
    )
    expect(nextOrdinal([])).to.equal(0)
    expect(nextOrdinal(ordinalsByName(entries(spot, { ...other, ordinal: 12 })).values())).to.equal(
      13,
    )
    expect(nextOrdinal([MAX_ORDINAL - 1])).to.equal(MAX_ORDINAL)
    expect(nextOrdinal([3, MAX_ORDINAL])).to.equal(undefined)
  })
})
