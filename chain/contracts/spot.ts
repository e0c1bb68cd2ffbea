import { balanceFacts } from '../../core/contracts/balances.js'
import { spotClaims, spotOwed } from '../../core/contracts/claims.js'
import { amountE18, quoteE18 } from '../../core/money.js'
import { covers } from './covers.js'
import type { ChainContract } from './registry.js'

/** Spot on the chain: accounts pay with balances that may not become negative. */
export const spot: ChainContract = {
  async readFacts({ assetAddress, subId, quoteAssetAddress }, account) {
    const [base, quote] = await Promise.all([
      account.balance(assetAddress, subId),
      account.balance(quoteAssetAddress, 0n),
    ])
    return balanceFacts({ base: amountE18(base), quote: quoteE18(quote) })
  },
  claimsOf: spotClaims,
  solvency: {
    reverts: ['WERC_CannotBeNegative'],
    isSolvent: ({ market, terms, side }, reads) => covers(reads, spotOwed(market, terms, side)),
  },
}
