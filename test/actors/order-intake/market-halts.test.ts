import { expect } from 'chai'
import { createMarketHalts } from '../../../actors/order-intake/market-halts.js'
import { OPEN, type Market } from '../../../core/model/market.js'
import { openingOf, type MarketTerms } from '../../../core/model/market-terms.js'
import { aMarket } from '../../support/builders.js'

const NAME = 'cNGN-USDC'
/** What the feed states of the market with these fields. */
const stated = (fields: Parameters<typeof aMarket>[0] = {}): MarketTerms => ({
  ...openingOf(aMarket(fields)),
  standing: OPEN,
})

describe('the halts of order intake', () => {
  let row: Market
  let stored: Map<string, { streamSeq: number; terms: MarketTerms }>
  beforeEach(() => {
    row = aMarket()
    stored = new Map()
  })
  const open = () => {
    const halts = createMarketHalts({
      registry: {
        terms: (market) => stored.get(market),
        markTerms: (market, streamSeq, terms) => void stored.set(market, { streamSeq, terms }),
      },
    })
    halts.add(row)
    return halts
  }
  const refusal = (halts: ReturnType<typeof open>) => {
    const refused = halts.refusalOf(NAME)
    return refused && { code: refused.code, message: refused.extra?.message }
  }

  it('goes by the log, whatever the register opened the market with', () => {
    row = aMarket({ takerFeeBps: 30 })
    const halts = open()
    expect(halts.markets[0]).to.include({ takerFeeBps: 30 })
    halts.state(NAME, 1, stated())
    expect(refusal(halts)).to.equal(undefined)
    expect(halts.markets[0]).to.include({ takerFeeBps: 25 })
    expect(stored.get(NAME)?.streamSeq).to.equal(1)
  })

  it('knows at the start what an earlier run stored', () => {
    row = aMarket({ takerFeeBps: 30 })
    stored.set(NAME, { streamSeq: 7, terms: stated() })
    expect(open().markets[0]).to.include({ takerFeeBps: 25 })
  })

  it('takes the texts of a market anew, and leaves its terms', () => {
    const halts = open()
    halts.state(NAME, 1, stated({ takerFeeBps: 20 }))
    halts.add(aMarket({ aliases: ['other'], takerFeeBps: 30 }))
    expect(halts.markets).to.have.length(1)
    expect(halts.markets[0]).to.deep.include({ aliases: ['other'], takerFeeBps: 20 })
  })

  it('takes no new order of a market that is closed, also once its log is restored, and takes cancels', () => {
    row = aMarket()
    const halts = open()
    halts.close(NAME, 'no contract at asset')
    halts.stop(NAME, 'no log')
    expect(halts.cancelRefusalOf(NAME)).to.deep.include({
      code: 'trading_paused',
      message: 'trading_paused',
      extra: { message: 'nothing was cancelled: no log' },
    })
    halts.release(NAME)
    expect(refusal(halts)?.message).to.equal('no new orders are taken: no contract at asset')
    expect(halts.cancelRefusalOf(NAME)).to.equal(undefined)
    expect(halts.stopped()).to.deep.equal(['no contract at asset'])
  })

  it('takes no terms from a message before the one that it knows', () => {
    stored.set(NAME, { streamSeq: 7, terms: stated({ takerFeeBps: 30 }) })
    const halts = open()
    halts.state(NAME, 7, stated())
    expect(refusal(halts)).to.equal(undefined)
    expect(halts.markets[0]).to.include({ takerFeeBps: 30 })
  })

  it('refuses new orders of a paused market with the reason (OPE-006)', () => {
    row = aMarket()
    const halts = open()
    const standing = { status: 'paused', reason: 'maintenance' } as const
    halts.state(NAME, 1, { ...stated(), standing })
    expect(refusal(halts)?.message).to.equal(
      `no new orders are taken: ${NAME} is paused: maintenance`,
    )
  })
})
