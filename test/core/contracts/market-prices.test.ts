import { expect } from 'chai'
import { hideFuture } from '../../../core/contracts/future-facts.js'
import { hidePerpetual } from '../../../core/contracts/perpetual-facts.js'
import { contractOf } from '../../../core/contracts/registry.js'
import { priceE18 } from '../../../core/money.js'
import { aFuture, aMarket, aPerp } from '../../support/builders.js'
import { futureFacts } from '../../support/future.js'
import { perpetualFacts } from '../../support/perpetual.js'

describe('mark and index of a market', () => {
  const none = priceE18(0n)

  it('of a perpetual stand with its funding rate, and not while a feed is stale', () => {
    const { prices } = contractOf(aPerp()).present
    const at = (fields: Parameters<typeof perpetualFacts>[0]) =>
      prices?.at(hidePerpetual(perpetualFacts(fields)))
    const known = { mark: priceE18(7n), index: priceE18(8n), fundingRate: -3n }
    expect(prices?.hasFunding).to.equal(true)
    expect(at(known)).to.deep.equal(known)
    expect(at({ ...known, fundingRate: 0n })).to.deep.equal({ ...known, fundingRate: 0n })
    expect(at({ ...known, pricesStale: true })).to.equal(undefined)
    expect(at({ ...known, mark: none })).to.equal(undefined)
    expect(at({ ...known, index: none })).to.equal(undefined)
  })

  it('of a series stand without funding, the index as it was last known', () => {
    const { prices } = contractOf(aFuture()).present
    const at = (fields: Parameters<typeof futureFacts>[0]) =>
      prices?.at(hideFuture(futureFacts(fields)))
    const known = { mark: priceE18(7n), index: priceE18(8n) }
    expect(prices?.hasFunding).to.equal(false)
    expect(at({ ...known, indexStale: true })).to.deep.equal(known)
    expect(at({ ...known, index: none })).to.deep.equal({ mark: known.mark })
    expect(at({ ...known, mark: none })).to.equal(undefined)
  })

  it('are none of a spot market', () => {
    expect(contractOf(aMarket()).present.prices).to.equal(undefined)
  })
})
