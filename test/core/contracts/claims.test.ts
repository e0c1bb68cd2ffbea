import { expect } from 'chai'
import {
  balanceClaim,
  claimsLeft,
  marginClaim,
  type CapacityClaim,
  type MatchTerms,
} from '../../../core/contracts/claims.js'
import { balanceFacts, type BalanceFacts } from '../../../core/contracts/balances.js'
import { futureClaims } from '../../../core/contracts/future-claims.js'
import { hideCngnTerms, spotCapacity, spotClaims } from '../../../core/contracts/spot-claims.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { aFuture, aMarket } from '../../support/builders.js'
import { futureFacts } from '../../support/future.js'

const E18 = 10n ** 18n
const MANAGER = `0x${'a1'.repeat(20)}` as const
const BASE = `0x${'c1'.repeat(20)}` as const
const QUOTE = `0x${'c2'.repeat(20)}` as const
const MARKET = aMarket({
  assetAddress: BASE,
  subId: 0n,
  quoteAssetAddress: QUOTE,
  marginManagerAddress: MANAGER,
})

/** Account 7 against two makers, each five at a price of three. */
function terms(takerIsBuyer: boolean, makers: readonly bigint[] = [8n, 9n]): MatchTerms {
  const fillDetails = makers.map((filledAccount) => ({
    filledAccount,
    amountFilled: amountE18(5n * E18),
    price: priceE18(3n * E18),
    fee: quoteE18(2n),
  }))
  return { takerAccount: 7n, takerIsBuyer, takerFee: quoteE18(4n), fillDetails }
}

const claim = (accountId: bigint, asset: typeof BASE, debit: bigint): CapacityClaim => ({
  key: balanceClaim(accountId, asset, 0n),
  debit,
})

describe('claims of a spot match', () => {
  it('are base from the seller, quote from the buyer and the fees of both', () => {
    expect(spotClaims(MARKET, terms(true))).to.have.deep.members([
      claim(8n, BASE, 5n * E18),
      claim(7n, QUOTE, 30n * E18 + 4n),
      claim(8n, QUOTE, 2n),
      claim(9n, BASE, 5n * E18),
      claim(9n, QUOTE, 2n),
    ])
    expect(spotClaims(MARKET, terms(false))).to.have.deep.members([
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

  it('have one key for each account and asset, and one for margin headroom', () => {
    const keys = [
      balanceClaim(7n, BASE, 0n),
      balanceClaim(8n, BASE, 0n),
      balanceClaim(7n, QUOTE, 0n),
      balanceClaim(7n, BASE, 1n),
      marginClaim(MANAGER, 7n),
      marginClaim(MANAGER, 8n),
      marginClaim(BASE, 7n),
    ]
    expect(new Set(keys.map(({ id }) => id)).size).to.equal(keys.length)
  })

  it('draw on the same balances under a manager of futures, and on margin for what a fill loses of it', () => {
    const plain = spotClaims(MARKET, terms(true, [8n]))
    const shared = spotClaims(MARKET, terms(true, [8n]), CNGN)
    const ids = (claims: readonly CapacityClaim[]) => claims.map(({ key }) => key.id)
    expect(ids(shared)).to.include.members(ids(plain))
    const debitOf = (accountId: bigint) =>
      shared.find(({ key }) => key.accountId === accountId && key.of?.part === 'margin')?.debit
    // The buyer pays 15 and gets five that count as 0.9 of a third each, rounded up; the seller gains margin.
    expect(debitOf(7n)).to.equal(15n * E18 + 4n - (15n * E18) / 10n + 1n)
    expect(debitOf(8n)).to.equal(undefined)
  })
})

/** An index of three cNGN per USDC. */
const CNGN = hideCngnTerms({ index: priceE18(3n * E18), factor: (9n * E18) / 10n })

describe('what spot and futures of one account leave each other', () => {
  const USDC = aFuture().quoteAssetAddress
  const { cngnAsset } = futureFacts()
  const manager = aFuture().marginManagerAddress
  const spotMarket = aMarket({
    assetAddress: cngnAsset,
    quoteAssetAddress: USDC,
    marginManagerAddress: manager,
  })
  const otherSeries = aFuture({ subId: aFuture().subId + 86_400n })
  const one = (takerIsBuyer: boolean, amount: bigint, price: bigint): MatchTerms => ({
    takerAccount: 7n,
    takerIsBuyer,
    takerFee: quoteE18(0n),
    fillDetails: [
      {
        filledAccount: 8n,
        amountFilled: amountE18(amount),
        price: priceE18(price),
        fee: quoteE18(0n),
      },
    ],
  })
  const own = (claims: readonly CapacityClaim[] | undefined) =>
    (claims ?? []).filter(({ key }) => key.accountId === 7n)
  /** Account 7 buys 600 cNGN for 1 USDC each. */
  const spends = own(spotClaims(spotMarket, one(true, 600n * E18, E18), CNGN))
  const sells = own(spotClaims(spotMarket, one(false, 600n * E18, E18), CNGN))
  /** A contract at the mark: 100 USDC of margin. */
  const opens = (contracts: bigint, market = aFuture()) =>
    own(futureClaims(market, one(true, contracts * E18, 1500n * E18), futureFacts()))
  /** Account 7 has 1,000 of each token; with a position if margin binds it. */
  const left = (claims: readonly CapacityClaim[], surplus?: bigint) => {
    const facts: BalanceFacts = {
      base: amountE18(1_000n * E18),
      quote: quoteE18(1_000n * E18),
      ...(surplus !== undefined && {
        exposure: {
          cngn: 0n,
          required: 1_000n * E18 - surplus,
          index: priceE18(3n * E18),
          factor: E18,
        },
      }),
    }
    const capacityOf = ({ key }: CapacityClaim): bigint => {
      const part = key.of?.part
      if (part === 'long' || part === 'short') return 1_000n * E18
      return part === undefined ? 1_000n * E18 : spotCapacity(balanceFacts(facts), part)
    }
    return claimsLeft(claims.map((claim) => ({ key: claim.key, capacity: capacityOf(claim) })))
  }

  it('is each balance once', () => {
    const all = left([...spends, ...spends])
    expect(all.lacking(spends)).to.deep.equal([])
    all.take(spends)
    expect(all.lacking(spends)).to.deep.equal([7n])
  })

  it('is the margin that the other has not claimed, whichever comes first', () => {
    // The purchase loses 600 − 180 USDC of margin; 1,000 are left.
    for (const [first, second, tooMuch] of [
      [spends, opens(5n), opens(6n)],
      [opens(5n), spends, [...spends, ...spends]],
    ] as const) {
      const all = left([...first, ...second, ...tooMuch])
      all.take(first)
      expect(all.lacking(second)).to.deep.equal([])
      expect(all.lacking(tooMuch)).to.deep.equal([7n])
    }
    const all = left([...spends, ...opens(6n)])
    all.take(opens(6n))
    expect(all.lacking(spends)).to.deep.equal([7n])
  })

  it('is the same for two series', () => {
    const near = opens(6n)
    const far = opens(5n, otherSeries)
    const all = left([...near, ...far])
    expect(all.lacking(far)).to.deep.equal([])
    all.take(near)
    expect(all.lacking(far)).to.deep.equal([7n])
    expect(all.lacking(opens(4n, otherSeries))).to.deep.equal([])
  })

  it('is cNGN less what a loss against the mark pays, which itself lacks nothing', () => {
    // Two cNGN above the mark, for a fifth of a contract: 400 cNGN; for a whole one 2,000.
    const losing = (amount: bigint) =>
      own(futureClaims(aFuture(), one(true, amount, 1502n * E18), futureFacts()))
    const all = left([...sells, ...losing(E18)])
    all.take(sells)
    expect(all.lacking(losing(E18))).to.deep.equal([])
    const afterLoss = left([...sells, ...losing(E18 / 5n)])
    afterLoss.take(losing(E18 / 5n))
    expect(afterLoss.lacking(sells)).to.deep.equal([])
    afterLoss.take(losing(E18 / 5n))
    expect(afterLoss.lacking(sells)).to.deep.equal([7n])
  })

  it('is what a position leaves, and nothing of margin is asked of an account without', () => {
    expect(left(spends, 419n * E18).lacking(spends)).to.deep.equal([7n])
    expect(left(spends, 420n * E18).lacking(spends)).to.deep.equal([])
    expect(left(spends).lacking(spends)).to.deep.equal([])
  })

  it('is nothing of margin while the index is stale, and everything of an account without', () => {
    const stale = hideCngnTerms({ index: priceE18(0n), factor: E18 })
    const claims = own(spotClaims(spotMarket, one(true, 600n * E18, E18), stale))
    expect(left(claims).lacking(claims)).to.deep.equal([])
    expect(left(claims, 0n).lacking(claims)).to.deep.equal([7n])
  })
})
