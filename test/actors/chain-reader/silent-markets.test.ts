import { expect } from 'chai'
import { LIQUIDATIONS } from '../../../actors/chain-reader/follow-accounts.js'
import { createSilentMarkets, SILENCE_MS } from '../../../actors/chain-reader/rounds.js'
import { ChainUnreachable } from '../../../chain/reads/client.js'
import { silentLog } from '../../support/intake-stage.js'

describe('the chain reader is not ready', () => {
  const refused = new ChainUnreachable('refused')
  const afterIt = (): number => performance.now() + SILENCE_MS + 1

  it('while the chain does not answer for a market, in which orders wait', () => {
    const silent = createSilentMarkets(silentLog)
    silent.note(new Map([['cNGN-PERP', refused]]))
    expect(silent.why(performance.now())).to.equal(undefined)
    expect(silent.why(afterIt())).to.equal('refused')
    silent.note(new Map())
    expect(silent.why(afterIt())).to.equal(undefined)
  })

  it('but is ready while liquidations alone are not read', () => {
    const silent = createSilentMarkets(silentLog)
    silent.note(new Map([[LIQUIDATIONS, refused]]))
    expect(silent.why(afterIt())).to.equal(undefined)
  })
})
