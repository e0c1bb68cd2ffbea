import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { emptyMatcherState } from '../../../core/engine/empty-state.js'
import { ENGINE_VERSION } from '../../../core/engine/engine-version.js'
import { restoreSnapshot } from '../../../core/engine/snapshot.js'
import { openingOf } from '../../../core/model/market-terms.js'
import { aMarket } from '../../support/builders.js'
import { testMatcher } from '../../support/matching.js'
import { takeSnapshot } from '../../support/snapshots.js'

describe('the engine version of a log', () => {
  it('begins with 1, changes nothing by itself and never goes back (OPE-023)', () => {
    expect(emptyMatcherState(openingOf(aMarket())).engineVersion).to.equal(1)
    const market = testMatcher(25)
    // A later build reads a state that this one's step would not make.
    market.state.engineVersion = ENGINE_VERSION + 1
    const { changes, answer } = market.apply({ kind: 'EngineVersionSet', version: 1 })
    expect(changes).to.deep.equal([])
    expect(answer).to.equal(undefined)
    expect(market.state.engineVersion).to.equal(ENGINE_VERSION + 1)
  })

  it('stands in snapshots, and one that the build does not know is refused there too', () => {
    const { state } = testMatcher(25)
    expect(restoreSnapshot(takeSnapshot(state)).engineVersion).to.equal(state.engineVersion)
    const newer = { ...takeSnapshot(state), engineVersion: ENGINE_VERSION + 1 }
    expect(() => restoreSnapshot(newer)).to.throw(InvariantBroken, 'run the release that set it')
  })

  it('stops a build whose step does not know it, and says what to run', () => {
    const market = testMatcher(25)
    expect(() => market.apply({ kind: 'EngineVersionSet', version: ENGINE_VERSION + 1 })).to.throw(
      InvariantBroken,
      `the log of ${market.state.identity.market} has engine version ${ENGINE_VERSION + 1}, this build carries out versions up to ${ENGINE_VERSION}`,
    )
  })
})
