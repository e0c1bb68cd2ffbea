import { balanceFacts, balancesOf } from '../../core/contracts/balances.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import { isMarginKept } from '../../core/contracts/future-margin.js'
import type { Market } from '../../core/contracts/market.js'
import { hideCngnTerms, spotCapacity, spotClaims } from '../../core/contracts/spot-claims.js'
import { amountE18, quoteE18 } from '../../core/money.js'
import type { BlockCalls, ChainContract, Solvency } from './registry.js'
import { futuresManagerOf, readCngnTerms, readTradingAccount } from './trading-account.js'

/** A side lacks what it pays with, or the initial margin that must stay; with a stale index that cannot be known. */
const solvency: Solvency = {
  reverts: ['WERC_CannotBeNegative', 'SRM_PortfolioBelowMargin', 'BLF_DataTooOld'],
  async isSolvent({ market, terms, side }, { observe }) {
    const [fill] = terms.fillDetails
    if (fill === undefined) return true
    const isTaker = side === 'taker'
    const seen = await observe(market, isTaker ? terms.takerAccount : fill.filledAccount)
    const { base, quote, exposure } = balancesOf(seen.account)
    const fee = isTaker ? terms.takerFee : fill.fee
    const notional = notionalFloor(fill.price, fill.amountFilled)
    const buys = isTaker === terms.takerIsBuyer
    const moved = buys
      ? { base: fill.amountFilled, quote: 0n - notional - fee }
      : { base: 0n - fill.amountFilled, quote: notional - fee }
    const left = { base: base + moved.base, quote: quote + moved.quote }
    if (left.base < 0n || left.quote < 0n) return false
    if (exposure === undefined) return true
    return isMarginKept(exposure, { usdc: left.quote, cngn: exposure.cngn + moved.base })
  },
}

/** Base and quote are the tokens that a manager of futures counts as margin. */
async function readSpotWiring(market: Market, block: BlockCalls): Promise<string | undefined> {
  const manager = await futuresManagerOf(market, block)
  if (manager === undefined) return undefined
  const { assetAddress, quoteAssetAddress } = market
  if (manager.cngn === assetAddress && manager.usdc === quoteAssetAddress) return undefined
  return `margin manager ${manager.address} counts ${manager.cngn} and ${manager.usdc}, not ${assetAddress} and ${quoteAssetAddress}`
}

/**
 * Spot on the chain: accounts pay with balances that may not become negative. Under a manager of futures an account with a
 * position or a debt also keeps its initial margin.
 */
export const spot: ChainContract = {
  async readFacts(market, account) {
    const manager = await futuresManagerOf(market, account)
    if (manager !== undefined) {
      return balanceFacts(await readTradingAccount(manager, market, account))
    }
    const { assetAddress, subId, quoteAssetAddress } = market
    const [base, quote] = await Promise.all([
      account.balance(assetAddress, subId),
      account.balance(quoteAssetAddress, 0n),
    ])
    return balanceFacts({ base: amountE18(base), quote: quoteE18(quote) })
  },
  // What the account holds is all that its balances show.
  readFunds: () => Promise.resolve({}),
  readWiring: readSpotWiring,
  isPriced: (account) => balancesOf(account).exposure !== undefined,
  async readClaimFacts(market, block) {
    const manager = await futuresManagerOf(market, block)
    return manager && hideCngnTerms(await readCngnTerms(manager, block))
  },
  claimsOf: spotClaims,
  capacityOf: (part, account) => spotCapacity(account, part),
  solvency,
}
