import { expect } from 'chai'
import {
  balanceClaim,
  marginClaim,
  spotClaims,
  spotOwed,
  type Claim,
  type MatchTerms,
} from '../../../core/contracts/claims.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'

const E18 = 10n ** 18n
const MANAGER = `0x${'a1'.repeat(20)}` as const
const BASE = `0x${'c1'.repeat(20)}` as const
const QUOTE = `0x${'c2'.repeat(20)}` as const
const MARKET = {
  ...{ assetAddress: BASE, subId: 0n, quoteAssetAddress: QUOTE },
  marginManagerAddress: MANAGER,
}

/** Account 7 against two makers, each five at a price of three. */
function terms(takerIsBuyer: boolean, makers: readonly bigint[] = [8n, 9n]): MatchTerms {
  const fillDetails = makers.map((filledAccount) => ({
    ...{ filledAccount, amountFilled: amountE18(5n * E18) },
    ...{ price: priceE18(3n * E18), fee: quoteE18(2n) },
  }))
  return { takerAccount: 7n, takerIsBuyer, takerFee: quoteE18(4n), fillDetails }
}

const claim = (accountId: bigint, asset: typeof BASE, debit: bigint): Claim => ({
  key: balanceClaim(MANAGER, accountId, asset, 0n),
  debit,
})

describe('claims of a spot match', () => {
  it('are base from the seller, quote from the buyer and the fees of both', () => {
    expect(spotClaims(MARKET, terms(true))).to.deep.equal([
      claim(8n, BASE, 5n * E18),
      claim(7n, QUOTE, 30n * E18 + 4n),
      claim(8n, QUOTE, 2n),
      claim(9n, BASE, 5n * E18),
      claim(9n, QUOTE, 2n),
    ])
    expect(spotClaims(MARKET, terms(false))).to.deep.equal([
      claim(7n, BASE, 10n * E18),
      claim(8n, QUOTE, 15n * E18 + 2n),
      claim(9n, QUOTE, 15n * E18 + 2n),
      claim(7n, QUOTE, 4n),
    ])
  })

  it('are absent where nothing is taken', () => {
    const free = { ...terms(true, [8n]), takerFee: quoteE18(0n) }
    const fillDetails = free.fillDetails.map((fill) => ({ ...fill, fee: quoteE18(0n) }))
    expect(spotClaims(MARKET, { ...free, fillDetails })).to.deep.equal([
      claim(8n, BASE, 5n * E18),
      claim(7n, QUOTE, 15n * E18),
    ])
  })

  it('have one key for each manager, account and asset, and one for margin headroom', () => {
    const keys = [
      balanceClaim(MANAGER, 7n, BASE, 0n),
      balanceClaim(QUOTE, 7n, BASE, 0n),
      balanceClaim(MANAGER, 8n, BASE, 0n),
      balanceClaim(MANAGER, 7n, QUOTE, 0n),
      balanceClaim(MANAGER, 7n, BASE, 1n),
      marginClaim(MANAGER, 7n),
      marginClaim(MANAGER, 8n),
    ]
    expect(new Set(keys.map(({ id }) => id)).size).to.equal(keys.length)
  })

  it('leave a seller to pay its fee from what it receives', () => {
    const sale = terms(false, [8n])
    expect(spotOwed(MARKET, sale, 'taker')).to.deep.equal([claim(7n, BASE, 5n * E18)])
    expect(spotOwed(MARKET, sale, 'maker')).to.deep.equal([claim(8n, QUOTE, 15n * E18 + 2n)])
    const purchase = terms(true, [8n])
    expect(spotOwed(MARKET, purchase, 'taker')).to.deep.equal([claim(7n, QUOTE, 15n * E18 + 4n)])
    expect(spotOwed(MARKET, purchase, 'maker')).to.deep.equal([claim(8n, BASE, 5n * E18)])
  })
})
