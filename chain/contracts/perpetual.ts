import { getAbiItem, toEventSelector, toFunctionSelector } from 'viem'
import { assert } from '../../core/assert.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import { perpCapacity, perpClaims } from '../../core/contracts/perpetual-claims.js'
import {
  hidePerpetual,
  hidePerpetualAccount,
  perpetualAccountOf,
  perpetualOf,
  type PerpetualFacts,
} from '../../core/contracts/perpetual-facts.js'
import { hidePerpetualFunds } from '../../core/contracts/perpetual-funds.js'
import { cashDeltaOf, isAccepted, quoteToMark } from '../../core/contracts/perpetual-margin.js'
import { hidePosition, type PerpetualPosition } from '../../core/contracts/perpetual-position.js'
import type { Market } from '../../core/model/market.js'
import { amountE18, E18, priceE18, quoteE18, roundedUp } from '../../core/money.js'
import { signedWord } from '../../core/entry/read-action.js'
import { dutchAuctionAbi, managerAbi, perpAssetAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import type { AccountCalls, BlockCalls, ChainContract, Solvency, Trial } from './chain-contract.js'
import {
  readAuction,
  readCollateralAsset,
  readMark,
  readPaused,
  readPerpetual,
  readPerpetualAccount,
  readPerpetualWiring,
} from './perpetual-reads.js'
import { perpetualLiquidating } from './perpetual-liquidations.js'
import { readPerpetualDuties } from './perpetual-upkeep.js'

/**
 * A side lacks margin, or cash for what it pays, or is in an auction: judged as the manager does, on the account as it
 * stands.
 */
const solvency: Solvency = {
  reverts: ['SRM_PortfolioBelowMargin', 'SRM_NoNegativeCash', 'BM_AccountUnderLiquidation'],
  async isSolvent({ market, terms, side }, { observe }) {
    const [fill] = terms.fillDetails
    if (fill === undefined) return true
    const isTaker = side === 'taker'
    const seen = await observe(market, isTaker ? terms.takerAccount : fill.filledAccount)
    if (seen.market === undefined) return true
    const facts = perpetualOf(seen.market)
    const buys = isTaker === terms.takerIsBuyer
    const size = buys ? fill.amountFilled : 0n - fill.amountFilled
    const fee = isTaker ? terms.takerFee : fill.fee
    const cashDelta = cashDeltaOf(facts, { size, price: fill.price, fee })
    const account = perpetualAccountOf(seen.account)
    return !account.inAuction && isAccepted(facts, account, { size, cashDelta })
  },
}

/** An account that is auctioned trades nothing (PER-030). */
const AUCTION_EVENTS = (
  ['SolventAuctionStarted', 'InsolventAuctionStarted', 'AuctionEnded'] as const
).map((name) => toEventSelector(getAbiItem({ abi: dutchAuctionAbi, name })))

/** A perpetual on the chain: accounts carry positions against margin, which their manager computes. */
export const perpetual: ChainContract = {
  async readFacts(market, account, seen) {
    assert(seen !== undefined, `an account of ${market.market} is read with its market's facts`)
    return hidePerpetualAccount(await readPerpetualAccount(market, account, perpetualOf(seen)))
  },
  readPosition: async (market, account, seen) =>
    hidePosition(await readPerpetualPosition(market, account, perpetualOf(seen))),
  async readFunds(market, account, seen) {
    assert(seen !== undefined, `funds of ${market.market} are read with its market's facts`)
    return hidePerpetualFunds(await readPerpetualPosition(market, account, perpetualOf(seen)))
  },
  readWiring: readPerpetualWiring,
  readMarketFacts: async (market, block) => hidePerpetual(await readPerpetual(market, block)),
  async readUncached(market, block) {
    const paused = await readPaused(market, block)
    return (facts) => hidePerpetual({ ...perpetualOf(facts), paused })
  },
  accountEvents(facts) {
    const { auction } = perpetualOf(facts)
    return auction && { address: auction, events: AUCTION_EVENTS }
  },
  outdatesAccounts(before, now) {
    const was = perpetualOf(before)
    const is = perpetualOf(now)
    // No account was valued while the prices were stale.
    return (was.pricesStale && !is.pricesStale) || was.collateral?.asset !== is.collateral?.asset
  },
  statedQuote: async (market, { price, amountFilled }, block) =>
    quoteToMark(price, amountFilled, await readMark(market, block)),
  async readMovers(market, block) {
    const auction = await readAuction(market, block)
    return (loggedBy) => (auction !== undefined && loggedBy.has(auction) ? 'auction' : undefined)
  },
  claimsOf: (market, terms, seen) => seen && perpClaims(market, terms, perpetualOf(seen)),
  capacityOf: (part, account, seen) =>
    perpCapacity(perpetualOf(seen), perpetualAccountOf(account), part),
  solvency,
  liquidating: perpetualLiquidating,
  readDuties: readPerpetualDuties,
  readTrial,
  readCollateral: readCollateralAsset,
}

/** About one unit of the quote, at the mark, rounded down and then up to the step, so that only the fee moves cash; each side brings several times the margin. */
async function readTrial(market: Market, block: BlockCalls): Promise<Trial | string> {
  const mark = await readMark(market, block)
  if (mark <= 0n) return `the mark price is ${mark}`
  const amount = amountE18(roundedUp((E18 * E18) / mark, market.minSize))
  const value = notionalFloor(priceE18(mark), amount)
  const cash = [{ asset: market.quoteAssetAddress, amount: 4n * (value + E18) }]
  return { price: priceE18(mark), amount, buyer: cash, seller: cash, paid: quoteE18(0n) }
}

const GET_MARGIN = toFunctionSelector(getAbiItem({ abi: managerAbi, name: 'getMargin' }))
const GET_UNSETTLED = toFunctionSelector(
  getAbiItem({ abi: perpAssetAbi, name: 'getUnsettledAndUnrealizedCash' }),
)

/**
 * What the account holds at the block of the market's facts. A value that the chain cannot price, because a feed is
 * stale, is absent. Rejects unless the node answers all calls.
 */
async function readPerpetualPosition(
  market: Market,
  account: AccountCalls,
  { collateral }: PerpetualFacts,
): Promise<PerpetualPosition> {
  const { assetAddress: perp, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const { subaccountId: id } = account
  const margin = (isInitial: bigint) =>
    account.word(manager, GET_MARGIN, [id, isInitial]).then(signedWord).catch(undefinedOnRevert)
  const [position, cash, posted, unsettled, initialSurplus, maintenanceSurplus] = await Promise.all(
    [
      account.balance(perp, subId),
      account.balance(quoteAssetAddress, 0n),
      collateral === undefined ? 0n : account.balance(collateral.asset, 0n),
      account.word(perp, GET_UNSETTLED, [id]).then(signedWord).catch(undefinedOnRevert),
      margin(1n),
      margin(0n),
    ],
  )
  return {
    position,
    cash,
    collateral: posted,
    ...(unsettled !== undefined && { unsettled }),
    ...(initialSurplus !== undefined && { initialSurplus }),
    ...(maintenanceSurplus !== undefined && { maintenanceSurplus }),
  }
}
