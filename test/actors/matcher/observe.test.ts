import { expect } from 'chai'
import { sampleMatcher } from '../../../actors/matcher/observe.js'
import type { MarketHolds } from '../../../core/engine/market-holds.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'

describe('metrics of a matcher', () => {
  it('show what holds the market, by cause and reason, and no text of an operator', async () => {
    const metrics = createMetrics()
    const holds: MarketHolds = new Map([
      ['facts', { reason: 'prices_stale' }],
      ['operator', { reason: 'a sentence of an operator' }],
    ])
    const standing = () => ({ ready: true, detail: 'live', positions: {} })
    sampleMatcher(metrics, 'A', { standing, holds: () => holds })
    const shown = async () =>
      (await metrics.text()).body.split('\n').filter((line) => line.startsWith('venue_market_held'))
    expect(await shown()).to.deep.equal([
      'venue_market_held{market="A",cause="facts",reason="prices_stale"} 1',
      'venue_market_held{market="A",cause="operator",reason=""} 1',
    ])
    holds.clear()
    expect(await shown()).to.deep.equal([])
  })
})
