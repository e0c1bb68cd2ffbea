import { expect } from 'chai'
import fc from 'fast-check'
import { raiseFees } from '../../../chain/sender/gas.js'
import { runs } from '../../support/property-runs.js'

const caps = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) => ({
  maxFeePerGas,
  maxPriorityFeePerGas,
})

describe('fees of a replacement', () => {
  it('are an eighth higher, rounded up (OPE-034)', () => {
    expect(raiseFees(caps(1_001n, 7n), caps(1_000n, 7n), 5n)).to.deep.equal(caps(1_127n, 8n))
  })

  it('are the suggested ones where those are higher', () => {
    expect(raiseFees(caps(100n, 10n), caps(400n, 10n), 5n)).to.deep.equal(caps(400n, 12n))
  })

  it('stop at five times the suggested (OPE-034)', () => {
    expect(raiseFees(caps(4_400n, 8n), caps(1_000n, 8n), 5n)).to.deep.equal(caps(4_950n, 9n))
    expect(raiseFees(caps(4_445n, 8n), caps(1_000n, 8n), 5n)).to.equal(undefined)
  })

  it('follow the base fee of a spike, however far the suggested tip has fallen', () => {
    expect(raiseFees(caps(1_000n, 600n), caps(9_000n, 1n), 5n)).to.deep.equal(caps(9_000n, 675n))
    let tip = 1n
    for (let raised = 0; raised < 6; raised += 1)
      tip = raiseFees(caps(100n, tip), caps(100n, 1n), 5n)?.maxPriorityFeePerGas ?? 0n
    expect(tip, 'of a chain that suggests none').to.equal(7n)
  })

  it('would be taken by a node in place of the others, and never bid a tip above the whole', () => {
    const fee = fc.bigInt({ min: 1n, max: 10n ** 12n })
    const pair = fc.tuple(fee, fee).map(([a, b]) => (a > b ? caps(a, b) : caps(b, a)))
    const property = fc.property(pair, pair, (before, suggested) => {
      const after = raiseFees(before, suggested, 5n)
      if (after === undefined) return
      expect(after.maxFeePerGas * 10n >= before.maxFeePerGas * 11n).to.equal(true)
      expect(after.maxPriorityFeePerGas * 10n >= before.maxPriorityFeePerGas * 11n).to.equal(true)
      expect(after.maxFeePerGas >= suggested.maxFeePerGas).to.equal(true)
      expect(after.maxFeePerGas <= 5n * suggested.maxFeePerGas).to.equal(true)
      expect(after.maxFeePerGas >= after.maxPriorityFeePerGas).to.equal(true)
    })
    fc.assert(property, { numRuns: runs(500) })
  })
})
