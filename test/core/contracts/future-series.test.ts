import { expect } from 'chai'
import { dateCodeOf, seriesProblem } from '../../../core/contracts/future.js'

describe('the name of a series', () => {
  const sec = (...date: Parameters<typeof Date.UTC>): bigint => BigInt(Date.UTC(...date) / 1_000)

  it('spells the UTC date of its expiry (FUT-001)', () => {
    expect(dateCodeOf(1_796_047_200n)).to.equal('30NOV26')
    for (const [at, code] of [
      [sec(2027, 0, 1), '01JAN27'],
      [sec(2027, 0, 1) - 1n, '31DEC26'],
      [sec(2028, 1, 29, 23, 59, 59), '29FEB28'],
      [sec(2000, 0, 1), '01JAN00'],
      [sec(2100, 0, 1) - 1n, '31DEC99'],
      [sec(2000, 0, 1) - 1n, undefined],
      [sec(2100, 0, 1), undefined],
      [2n ** 96n - 1n, undefined],
    ] as const)
      expect(dateCodeOf(at), `${at}`).to.equal(code)
  })

  it('ends with that date, whatever it begins with', () => {
    const subId = 1_796_047_200n
    expect(seriesProblem({ market: 'USDC-cNGN-30NOV26', subId })).to.equal(undefined)
    expect(seriesProblem({ market: 'USDC-cNGN-31DEC26', subId })).to.equal(
      'USDC-cNGN-31DEC26 has the sub_id 1796047200, so its identifier must end with -30NOV26',
    )
    expect(seriesProblem({ market: 'X30NOV26', subId })).to.match(/must end with -30NOV26$/)
    expect(seriesProblem({ market: 'USDC-cNGN-30NOV26', subId: 0n })).to.equal(
      'USDC-cNGN-30NOV26 has the sub_id 0, which is not an expiry',
    )
  })
})
