import { expect } from 'chai'
import fc from 'fast-check'
import { encodeAbiParameters, encodeFunctionData, encodeFunctionResult } from 'viem'
import { batchExecutorAbi, matchingAbi, ORDER_DATA } from '../../../chain/abi/contracts.js'
import { encodeBatch, encodeMatch } from '../../../chain/contracts/calldata.js'
import { decodeBatchAnswer } from '../../../chain/contracts/simulate.js'
import type { FillTerms } from '../../../core/contracts/claims.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { arbitraryAction, arbitraryBytes } from '../../support/actions.js'

const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const positive = fc.bigInt({ min: 0n, max: 2n ** 255n - 1n })
const fill: fc.Arbitrary<FillTerms> = fc.record({
  filledAccount: uint256,
  amountFilled: positive.map(amountE18),
  price: positive.map(priceE18),
  fee: positive.map(quoteE18),
})
const matches = fc.record({
  actions: fc.array(arbitraryAction, { maxLength: 3 }),
  signatures: fc.array(arbitraryBytes, { maxLength: 3 }),
  orderData: fc.record({
    takerAccount: uint256,
    takerFee: positive.map(quoteE18),
    fillDetails: fc.array(fill, { maxLength: 3 }),
    managerData: arbitraryBytes,
  }),
})

describe('calldata written word by word', () => {
  it('is what viem writes for a match', () => {
    const property = fc.property(matches, (match) => {
      const { actions, signatures, orderData } = match
      const expected = encodeFunctionData({
        abi: matchingAbi,
        functionName: 'verifyAndMatch',
        args: [actions, signatures, encodeAbiParameters(ORDER_DATA, [orderData])],
      })
      expect(encodeMatch(match)).to.equal(expected)
    })
    fc.assert(property)
  })

  it('is what viem writes for a batch', () => {
    const item = fc.record({ gasLimit: uint256, call: arbitraryBytes })
    const property = fc.property(fc.array(item, { maxLength: 4 }), (items) => {
      const expected = encodeFunctionData({
        abi: batchExecutorAbi,
        functionName: 'tryAll',
        args: [items],
      })
      expect(encodeBatch(items)).to.equal(expected)
    })
    fc.assert(property)
  })

  it('reads the answer of a batch as viem writes it, and nothing that breaks off', () => {
    const gasUsed = fc.bigInt({ min: 0n, max: 50_000_000n })
    const property = fc.property(fc.array(gasUsed, { maxLength: 4 }), fc.nat(), (used, cut) => {
      const result = used.map((gas) => ({ outcome: 0, gasUsed: gas, revertData: '0x' as const }))
      const answer = encodeFunctionResult({
        abi: batchExecutorAbi,
        functionName: 'tryAll',
        result,
      })
      const outcomes = used.map((gas) => ({ kind: 'success', gasUsed: gas }))
      expect(decodeBatchAnswer(answer)).to.deep.equal(outcomes)
      const short = answer.slice(0, 2 + (cut % 128)) as `0x${string}`
      expect(() => decodeBatchAnswer(short)).to.throw()
    })
    fc.assert(property)
  })

  it('takes no value that does not fit its word', () => {
    for (const gasLimit of [2n ** 256n, -1n]) {
      expect(() => encodeBatch([{ gasLimit, call: '0x' }])).to.throw('does not fit its word')
    }
  })
})
