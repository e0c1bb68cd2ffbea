import { expect } from 'chai'
import { InvariantBroken } from '../../../core/assert.js'
import { contractOf, isContractType, tradingOf } from '../../../core/contracts/registry.js'
import { refusals } from '../../../core/entry/refusals.js'
import { aFuture, aMarket } from '../../support/builders.js'

describe('the records of contract types', () => {
  it('are found by the name of a type, and by nothing else', () => {
    expect(isContractType('spot')).to.equal(true)
    for (const other of ['', 'Spot', 'toString', 7, undefined, null, ['spot']]) {
      expect(isContractType(other), String(other)).to.equal(false)
    }
    expect(contractOf(aMarket()).type).to.equal('spot')
    const unknown = { ...aMarket(), contractType: 'swap' as 'spot' }
    expect(() => contractOf(unknown)).to.throw(InvariantBroken, 'swap')
  })

  it('list a deliverable future and take no orders of it', () => {
    const listed = aFuture({
      contractType: 'deliverable_fx_future',
      settlementType: 'physical_delivery',
    })
    expect(contractOf(listed).present.marketEntry(listed)).to.deep.equal({
      expiry_timestamp: 1_796_047_200,
      accepts_orders: false,
    })
    const refused = tradingOf(listed).restChecks.map((check) =>
      check(listed, { reduceOnly: false }),
    )
    expect(refused).to.deep.equal([refusals.marketDisabled])
  })
})
