import { expect } from 'chai'
import { createAgreement } from '../../../actors/matcher/live.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import type { Market } from '../../../core/contracts/market.js'
import { createLog } from '../../../runtime/process/log.js'
import { aMarket, openedState } from '../../support/builders.js'

const NAME = 'cNGN-USDC'
const FEE = `${NAME}: taker_fee_bps is 30 in the market file and 25 in the log: run ./venue market set ${NAME} taker_fee_bps=30, or put 25 into the file`
const ENABLED = `${NAME}: enabled is false in the market file and true in the log: run ./venue market disable ${NAME}, or put true into the file`

describe('the agreement of market file and log', () => {
  /** Of a log that was opened with a fee of 25. */
  function agreementOf(market: Market, row: Market = market) {
    const told: (readonly string[])[] = []
    const state = openedState()
    const file: { row: Market | undefined; reads: number } = { row, reads: 0 }
    const agreement = createAgreement(
      {
        market,
        readRow: () => {
          file.reads += 1
          return file.row
        },
        facts: {
          ...observeMatcher(createLog('matcher', 'silent')),
          fileDiffers: (lines) => told.push(lines),
        },
      },
      state,
    )
    return { agreement, told, state, file }
  }

  it('has no trouble when they agree, and does not read the file again', () => {
    const { agreement, told, file } = agreementOf(aMarket())
    file.row = aMarket({ takerFeeBps: 30 })
    expect(agreement.trouble()).to.equal(undefined)
    expect([told, file.reads]).to.deep.equal([[], 0])
  })

  it('goes by the row as it stands then, of a matcher that stood by while a command changed log and file', () => {
    const market = aMarket({ takerFeeBps: 30 })
    const { agreement, told } = agreementOf(market, aMarket())
    expect(agreement.trouble()).to.equal(undefined)
    expect(told).to.deep.equal([])
  })

  it('names each field with both values and the cure, in the log once', () => {
    const { agreement, told } = agreementOf(aMarket({ takerFeeBps: 30, enabled: false }))
    expect(agreement.trouble()).to.equal(`${FEE}; ${ENABLED}`)
    expect(agreement.trouble()).to.equal(`${FEE}; ${ENABLED}`)
    expect(told).to.deep.equal([[FEE, ENABLED]])
  })

  it('ends when the file is put back', () => {
    const { agreement, file } = agreementOf(aMarket({ takerFeeBps: 30, enabled: false }))
    file.row = aMarket({ takerFeeBps: 30 })
    expect(agreement.trouble()).to.equal(FEE)
    file.row = aMarket()
    expect(agreement.trouble()).to.equal(undefined)
  })

  it('lasts while the file is being edited and has no row', () => {
    const { agreement, file } = agreementOf(aMarket({ takerFeeBps: 30 }))
    file.row = undefined
    expect(agreement.trouble()).to.equal(FEE)
    file.row = aMarket()
    expect(agreement.trouble()).to.equal(undefined)
  })

  it('ends when a command gives the log what the file says', () => {
    const { agreement, state } = agreementOf(aMarket({ takerFeeBps: 30 }))
    expect(agreement.trouble()).to.equal(FEE)
    state.rules = { ...state.rules, takerFeeBps: 30 }
    expect(agreement.trouble()).to.equal(undefined)
  })
})
