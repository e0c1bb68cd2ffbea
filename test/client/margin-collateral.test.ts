import { expect } from 'chai'
import { decodeFunctionData, parseAbi } from 'viem'
import { BadOrderTerms, collateralCalls } from '../../client/index.js'

const token = `0x${'70'.repeat(20)}` as const
const escrow = `0x${'c1'.repeat(20)}` as const
const abi = parseAbi([
  'function approve(address spender, uint256 amount)',
  'function deposit(uint256 recipientAccount, uint256 assetAmount)',
])

describe('collateral of a perpetual account', () => {
  const terms = { collateral: { asset_address: escrow }, token, subaccountId: '7' }

  it('is approved by the token and then deposited at the escrow, in token units', () => {
    const [approve, deposit] = collateralCalls({ ...terms, amount: '1000.5' })
    expect([approve.to, deposit.to]).to.deep.equal([token, escrow])
    const decoded = [approve, deposit].map(({ data }) => decodeFunctionData({ abi, data }))
    expect(decoded.map(({ functionName }) => functionName)).to.deep.equal(['approve', 'deposit'])
    expect(decoded[0]?.args.map((arg) => String(arg).toLowerCase())).to.deep.equal([
      ...[escrow, '1000500000'],
    ])
    expect(decoded[1]?.args).to.deep.equal([7n, 1_000_500_000n])
  })

  it('is a plain positive amount', () => {
    for (const amount of ['0', '-1', '0.0000001', ''])
      expect(() => collateralCalls({ ...terms, amount }), amount).to.throw(BadOrderTerms)
  })
})
