import { expect } from 'chai'
import { E18, quoteE18 } from '../../core/money.js'
import { causeOf, costOfMatch } from '../../executor/cause.js'
import type { Settlement } from '../../executor/settlement.js'

const TAKER = `0x${'aa'.repeat(20)}` as const
const MAKER = `0x${'bb'.repeat(20)}` as const

function of(takerFee: bigint | undefined, taker: bigint, maker: bigint) {
  const parties = [
    { owner: TAKER, signer: TAKER, desired: taker },
    { owner: MAKER, signer: MAKER, desired: maker },
  ]
  const match = takerFee === undefined ? undefined : { terms: { takerFee: quoteE18(takerFee) } }
  return { parties, match } as unknown as Settlement
}

describe('who causes a settlement', () => {
  const cost = quoteE18(100n)

  it('is the taker where the fee pays for the gas, or is not known', () => {
    expect(causeOf(of(100n, 9n, 1n), cost)).to.deep.equal({ owner: TAKER, isDust: false })
    expect(causeOf(of(undefined, 9n, 1n), cost)).to.deep.equal({ owner: TAKER, isDust: false })
  })

  it('is the owner of the smaller order of dust, the taker of equal ones', () => {
    expect(causeOf(of(99n, 9n, 1n), cost)).to.deep.equal({ owner: MAKER, isDust: true })
    expect(causeOf(of(99n, 1n, 9n), cost)).to.deep.equal({ owner: TAKER, isDust: true })
    expect(causeOf(of(99n, 9n, 9n), cost)).to.deep.equal({ owner: TAKER, isDust: true })
  })

  it('is judged by half a million gas at the fees of the moment, rounded up (SET-070)', () => {
    const price = quoteE18(3_000n * E18)
    const fees = { baseFeePerGas: 4n, maxPriorityFeePerGas: 1n }
    expect(costOfMatch(fees, price)).to.equal(7_500_000_000n)
    expect(costOfMatch(fees, quoteE18(1n))).to.equal(1n)
    expect(costOfMatch(fees, quoteE18(0n))).to.equal(0n)
  })
})
