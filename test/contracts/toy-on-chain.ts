import type { ChainContract } from '../../chain/contracts/chain-contract.js'
import { marginClaim, type CapacityClaim, type MatchTerms } from '../../core/contracts/claims.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import type { Market } from '../../core/model/market.js'
import { priceE18 } from '../../core/money.js'
import { toyAccountFacts, toyMarketFacts, type ToyAccountFacts } from './toy.js'

export const CREDIT_OF = '0x00000001'
export const HALTED = '0x00000002'
export const MARK = '0x00000003'

/** A tenth of what is traded is claimed from the margin headroom of both sides. */
function claimsOf({ marginManagerAddress: manager }: Market, terms: MatchTerms): CapacityClaim[] {
  return terms.fillDetails.flatMap(({ filledAccount, price, amountFilled }) =>
    [filledAccount, terms.takerAccount].map((accountId) => ({
      key: marginClaim(manager, accountId),
      debit: notionalFloor(price, amountFilled) / 10n,
    })),
  )
}

/** The chain's half of the toy contract type: margin headroom in place of balances, and facts of the market. */
export const toyOnChain: ChainContract = {
  readFacts: async ({ marginManagerAddress }, { word, subaccountId }) =>
    toyAccountFacts({ credit: await word(marginManagerAddress, CREDIT_OF, [subaccountId]) }),
  async readMarketFacts({ marginManagerAddress }, { word }) {
    const [halted, mark] = await Promise.all([
      word(marginManagerAddress, HALTED, []),
      word(marginManagerAddress, MARK, []),
    ])
    return toyMarketFacts({ halted: halted !== 0n, mark: priceE18(mark) })
  },
  claimsOf,
  solvency: {
    reverts: ['SRM_PortfolioBelowMargin'],
    async isSolvent({ market, terms, side }, { observe }) {
      const account = side === 'taker' ? terms.takerAccount : terms.fillDetails[0]?.filledAccount
      const own = claimsOf(market, terms).filter(({ key }) => key.accountId === account)
      const seen = await observe(market, account ?? 0n)
      const { credit } = seen.account as unknown as ToyAccountFacts
      return own.every(({ debit }) => debit <= credit)
    },
  },
}
