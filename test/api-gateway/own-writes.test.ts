import { expect } from 'chai'
import { createMarketRefresh, createOwnWrites } from '../../api-gateway/reads.js'
import { OPEN, openingOf, type MarketTerms } from '../../core/contracts/market-terms.js'
import { createMarketList } from '../../core/entry/find-market.js'
import { aMarket } from '../support/builders.js'

/** What the gateway has answered, against what the projection shows. */
describe('read your own writes', () => {
  let projected: Record<string, number>
  const ownWrites = () =>
    createOwnWrites({
      readModel: { projectedSeq: (market) => projected[market] ?? 0 },
      maxWaitMs: 20,
    })
  beforeEach(() => (projected = {}))

  it('wait for the highest seq that was answered, whatever was answered later (REA-032)', async () => {
    const writes = ownWrites()
    writes.answered('spot', 5)
    writes.answered('spot', 3)
    projected = { spot: 4 }
    expect(await writes.shown('spot')).to.equal(false)
    projected = { spot: 5 }
    expect(await writes.shown('spot')).to.equal(true)
  })

  it('of one market do not wait for another, of all wait for each', async () => {
    const writes = ownWrites()
    writes.answered('spot', 5)
    writes.answered('perp', 2)
    projected = { perp: 2 }
    expect(await writes.shown('perp')).to.equal(true)
    expect(await writes.shown()).to.equal(false)
    projected = { spot: 5, perp: 2 }
    expect(await writes.shown()).to.equal(true)
  })

  it('end as soon as the projection has caught up', async () => {
    const writes = createOwnWrites({
      readModel: { projectedSeq: () => ((looks += 1) < 3 ? 4 : 5) },
    })
    let looks = 0
    writes.answered('spot', 5)
    expect(await writes.shown()).to.equal(true)
    expect(looks).to.equal(3)
  })
})

describe('the terms that the gateway shows', () => {
  const shownStatus = (everyMs: number) => {
    const list = createMarketList([aMarket()])
    let terms: MarketTerms = { ...openingOf(aMarket()), standing: OPEN }
    const refresh = createMarketRefresh(list, { terms: () => terms }, everyMs)
    refresh()
    terms = { ...terms, standing: { status: 'paused' } }
    refresh()
    return list.markets[0]?.standing?.status
  }

  it('are those of the read model', () => {
    expect(shownStatus(0)).to.equal('paused')
  })

  it('are read from it once in a while, however many requests come', () => {
    expect(shownStatus(60_000)).to.equal('open')
  })
})
