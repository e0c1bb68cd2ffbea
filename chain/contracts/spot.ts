import type { Address } from '../../core/action.js'
import { balanceFacts, balancesOf, type BalanceFacts } from '../../core/contracts/balances.js'
import { notionalFloor } from '../../core/contracts/fees.js'
import {
  isMarginKept,
  requirementOf,
  variationOf,
  type Exposure,
} from '../../core/contracts/future-margin.js'
import {
  hideCngnTerms,
  spotCapacity,
  spotClaims,
  type CngnTerms,
} from '../../core/contracts/spot-claims.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import type { Market } from '../../core/model/market.js'
import { amountE18, E18, priceE18, quoteE18, roundedUp, type PriceE18 } from '../../core/money.js'
import { futureAssetAbi, futuresManagerAbi } from '../abi/contracts.js'
import { undefinedOnRevert } from '../abi/errors.js'
import { selectorsOf } from '../abi/selectors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import type {
  AccountCalls,
  BlockCalls,
  ChainContract,
  AssetBalance,
  Solvency,
  Trial,
} from './chain-contract.js'
import { readPositions } from './future-reads.js'

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
  readTrial: (market) => Promise.resolve(trialOf(market)),
}

/** 0.001 of the quote for one of the base, and a thousand of these. */
const TRIED_PRICE = E18 / 1_000n
const TRIED_AMOUNT = 1_000n * E18

/** The chain takes any price. */
function trialOf({ assetAddress, quoteAssetAddress, tickSize, minSize }: Market): Trial {
  const price = priceE18(roundedUp(TRIED_PRICE, tickSize))
  const amount = amountE18(roundedUp(TRIED_AMOUNT, minSize))
  const paid = notionalFloor(price, amount)
  return {
    price,
    amount,
    paid,
    buyer: [{ asset: quoteAssetAddress, amount: 2n * paid }],
    seller: [{ asset: assetAddress, amount }],
  }
}

const of = {
  ...selectorsOf(futuresManagerAbi, 'variation', 'marginRates', 'cngnFactors'),
  ...selectorsOf(futuresManagerAbi, 'futureAsset', 'wrappedUsdc', 'wrappedCngn'),
  ...selectorsOf(futureAssetAbi, 'getIndexPrice'),
}

/** A manager under which spot balances are margin of futures, with what it counts. */
interface FuturesManager {
  readonly address: Address
  readonly futureAsset: Address
  readonly usdc: Address
  readonly cngn: Address
}

/** The market's manager if it is one of futures; read once. Rejects unless the node answers. */
async function futuresManagerOf(
  { marginManagerAddress: address }: Market,
  { constant }: PlainCalls,
): Promise<FuturesManager | undefined> {
  const [asset, usdc, cngn] = await Promise.all(
    [of.futureAsset, of.wrappedUsdc, of.wrappedCngn].map(async (selector) => {
      const word = await constant(address, selector)
      return word === undefined ? undefined : addressOfWord(word)
    }),
  )
  if (asset === undefined || usdc === undefined || cngn === undefined) return undefined
  return { address, futureAsset: asset, usdc, cngn }
}

/** What cNGN counts as at the block, as margin of the manager's accounts. */
async function readCngnTerms(
  { address, futureAsset }: FuturesManager,
  block: PlainCalls,
): Promise<CngnTerms> {
  const [index, [, factor = 0n]] = await Promise.all([
    readIndex(futureAsset, block),
    block.words(address, of.cngnFactors, []),
  ])
  return { index, factor }
}

/** 0 while it is stale. */
async function readIndex(asset: Address, { word }: PlainCalls): Promise<PriceE18> {
  return priceE18((await word(asset, of.getIndexPrice, []).catch(undefinedOnRevert)) ?? 0n)
}

/**
 * What an account may spend on spot under a manager of futures; an account of another manager has neither position nor
 * debt there. Two calls, and a second round of them for an account with either. Rejects unless the node answers all.
 */
async function readTradingAccount(
  manager: FuturesManager,
  { assetAddress, subId, quoteAssetAddress }: Market,
  account: AccountCalls,
): Promise<BalanceFacts> {
  const [holdings, word] = await Promise.all([
    account.holdings(),
    account.word(manager.address, of.variation, [account.subaccountId]),
  ])
  const amountOf = (asset: Address, ofSubId: bigint): bigint =>
    holdings.find((held) => held.asset === asset && held.subId === ofSubId)?.balance ?? 0n
  const base = amountOf(assetAddress, subId)
  const quote = quoteE18(amountOf(quoteAssetAddress, 0n))
  const variation = signedWord(word)
  const positions = holdings.filter(({ asset }) => asset === manager.futureAsset)
  if (positions.length === 0 && variation >= 0n) return { base: amountE18(base), quote }
  const exposure = await readExposure(manager, account, { positions, cngn: base + variation })
  // What the account owes is taken of its cNGN whenever the account is touched.
  const free = variation < 0n ? base + variation : base
  return {
    base: amountE18(free > 0n ? free : 0n),
    quote,
    ...(exposure !== undefined && { exposure }),
  }
}

interface SpotExposure {
  readonly positions: readonly AssetBalance[]
  readonly cngn: bigint
}

/** Undefined for an account that owes less than it has of cNGN, and has no position that is not settled. */
async function readExposure(
  manager: FuturesManager,
  account: AccountCalls,
  { positions, cngn }: SpotExposure,
): Promise<Exposure | undefined> {
  const [terms, [, rate = 0n], { size, net, worth }] = await Promise.all([
    readCngnTerms(manager, account),
    account.words(manager.address, of.marginRates, []),
    readPositions({ assetAddress: manager.futureAsset }, account, positions),
  ])
  if (size === 0n && cngn >= 0n) return undefined
  const atIndex = cngn + variationOf(net, 0n, terms.index) - worth
  return {
    cngn: terms.index !== 0n && atIndex < cngn ? atIndex : cngn,
    required: requirementOf(size, rate),
    ...terms,
  }
}
