import { expect } from 'chai'
import { observeMatcher, sampleMatcher } from '../../../actors/matcher/observe.js'
import type { MarketHolds } from '../../../core/engine/holds.js'
import { createMetrics } from '../../../runtime/metrics/metrics.js'
import { createLog } from '../../../runtime/process/log.js'

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

describe('the log of a matcher', () => {
  it('warns of a settlement without an outcome when that is late, not while it asks again', () => {
    const lines: string[] = []
    const facts = observeMatcher(
      createLog('matcher', 'warn', { write: (line) => lines.push(line) }),
    )
    // As at every start that comes before the executor's.
    facts.settlementUnknown('s-1', 'no answer: connect ECONNREFUSED')
    expect(lines).to.deep.equal([])
    facts.settlementLate('s-1', 60_000)
    expect(lines).to.have.length(1)
    expect(lines[0]).to.include('settlement without an outcome for long')
  })
})
