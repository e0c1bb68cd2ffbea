import type { Address, Hex } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import type {
  CollateralFacts,
  Contingency,
  PerpetualAccount,
  PerpetualFacts,
} from '../../core/contracts/perpetual-facts.js'
import { marginOf } from '../../core/contracts/perpetual-margin.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import { amountE18, priceE18 } from '../../core/money.js'
import {
  dutchAuctionAbi,
  managerAbi,
  matchingAbi,
  perpAssetAbi,
  perpManagerAbi,
  spotFeedAbi,
  tradeModuleAbi,
  wrappedErc20AssetAbi,
} from '../abi/contracts.js'
import { NotWords, undefinedOnRevert } from '../abi/errors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import { selectorsOf } from '../abi/selectors.js'
import type { AccountCalls, BlockCalls } from './chain-contract.js'

/** The type of a base asset in a manager: what accounts may post as margin. */
const BASE_ASSET = 3n

const of = {
  ...selectorsOf(matchingAbi, 'allowedModules'),
  ...selectorsOf(tradeModuleAbi, 'isPerpAsset', 'quoteAsset'),
  ...selectorsOf(managerAbi, 'getMargin', 'assetDetails', 'assetMap'),
  ...selectorsOf(managerAbi, 'borrowingEnabled', 'adjustmentsPaused'),
  ...selectorsOf(perpManagerAbi, 'perpMarginRequirements', 'baseMarginParams', 'depegParams'),
  ...selectorsOf(perpManagerAbi, 'oracleContingencyParams', 'stableFeed', 'liquidation'),
  ...selectorsOf(perpAssetAbi, 'getIndexPrice', 'getPerpPrice', 'getFundingRate', 'openInterest'),
  ...selectorsOf(perpAssetAbi, 'totalPosition', 'totalPositionCap', 'isDisabled'),
  ...selectorsOf(perpAssetAbi, 'getUnsettledAndUnrealizedCash'),
  ...selectorsOf(wrappedErc20AssetAbi, 'whitelistedManager'),
  ...selectorsOf(spotFeedAbi, 'getSpot'),
  ...selectorsOf(dutchAuctionAbi, 'isAuctionLive'),
}

/** Undefined for the zero address, and for a word that is not an address. */
function contractOfWord(word: bigint): Address | undefined {
  return word === 0n ? undefined : addressOfWord(word)
}

/** A contract that lacks the function reverts, or answers nothing. */
const undefinedOfOther = (error: unknown): undefined =>
  error instanceof NotWords ? undefined : undefinedOnRevert(error)

/** What of the trade module is not as the market's row says; undefined when it is. Rejects unless the node answers. */
export async function readPerpetualWiring(
  { tradeModuleAddress: module, assetAddress: asset, quoteAssetAddress: cash }: Market,
  block: BlockCalls,
): Promise<string | undefined> {
  const ask = (selector: Hex, args: readonly bigint[]) =>
    block.word(module, selector, args).catch(undefinedOfOther)
  const [isPerp, quote] = await Promise.all([
    ask(of.isPerpAsset, [BigInt(asset)]),
    ask(of.quoteAsset, []),
  ])
  if (isPerp !== 1n) return `trade module ${module} does not trade ${asset} as a perpetual`
  const settlesIn = quote === undefined ? undefined : contractOfWord(quote)
  return settlesIn === cash
    ? undefined
    : `trade module ${module} settles in ${settlesIn ?? 'nothing'}, not in ${cash}`
}

/** The facts of a market at one block, in three rounds of calls. Rejects unless the node answers all of them. */
export async function readPerpetual(market: Market, block: BlockCalls): Promise<PerpetualFacts> {
  const { assetAddress: perp, marginManagerAddress: manager } = market
  const ofAsset = (selector: Hex, ...args: bigint[]) => block.word(perp, selector, args)
  const ofManager = (selector: Hex) => block.word(manager, selector, [])
  const [moduleAllowed, paused, disabled, totalPosition, positionCap, openInterest, ...rest] =
    await Promise.all([
      block.word(block.matching, of.allowedModules, [BigInt(market.tradeModuleAddress)]),
      readPaused(market, block),
      ofAsset(of.isDisabled),
      ofAsset(of.totalPosition, BigInt(manager)),
      ofAsset(of.totalPositionCap, BigInt(manager)),
      ofAsset(of.openInterest, market.subId),
      ofManager(of.borrowingEnabled),
      readAuction(market, block),
      readPrices(market, block),
      readRules(market, block),
    ])
  const [borrowing, auction, prices, rules] = rest
  return {
    moduleAllowed: moduleAllowed !== 0n,
    paused,
    disabled: disabled !== 0n,
    totalPosition: amountE18(totalPosition),
    positionCap: amountE18(positionCap),
    openInterest: amountE18(openInterest),
    ...prices,
    ...rules,
    borrowing: borrowing !== 0n,
    ...(auction !== undefined && { auction }),
  }
}

/** The contract that auctions the manager's accounts; undefined without one. */
export const readAuction = async (
  { marginManagerAddress: manager }: Market,
  { word }: PlainCalls,
): Promise<Address | undefined> => contractOfWord(await word(manager, of.liquidation, []))

/** The mark price, at 1e18. Rejects while its feed is stale. */
export async function readMark(
  { assetAddress: perp }: Market,
  { words }: PlainCalls,
): Promise<bigint> {
  const [mark = 0n] = await words(perp, of.getPerpPrice, [])
  return mark
}

/** Whether the guardian has paused the manager's accounts. */
export const readPaused = async (
  { marginManagerAddress: manager }: Market,
  { word }: BlockCalls,
): Promise<boolean> => (await word(manager, of.adjustmentsPaused, [])) !== 0n

type Prices = Pick<
  PerpetualFacts,
  'mark' | 'index' | 'pricesStale' | 'markConfidence' | 'indexConfidence' | 'stable' | 'fundingRate'
>

/** A call that reverts has no price: its feed is stale, or contradicts another. */
async function readPrices(
  { assetAddress: perp, marginManagerAddress: manager }: Market,
  { word, words }: BlockCalls,
): Promise<Prices> {
  const [mark, index, fundingRate, stable] = await Promise.all([
    words(perp, of.getPerpPrice, []).catch(undefinedOnRevert),
    words(perp, of.getIndexPrice, []).catch(undefinedOnRevert),
    word(perp, of.getFundingRate, []).catch(undefinedOnRevert),
    word(manager, of.stableFeed, [])
      .then(contractOfWord)
      .then((feed) => feed && words(feed, of.getSpot, []).catch(undefinedOnRevert)),
  ])
  const [markPrice = 0n, markConfidence = 0n] = mark ?? []
  const [indexPrice = 0n, indexConfidence = 0n] = index ?? []
  return {
    mark: priceE18(markPrice),
    index: priceE18(indexPrice),
    pricesStale: !mark || !index || fundingRate === undefined || !stable,
    markConfidence,
    indexConfidence,
    stable: stable?.[0] ?? 0n,
    fundingRate: signedWord(fundingRate ?? 0n),
  }
}

type RateFacts = Pick<
  PerpetualFacts,
  'initialRate' | 'maintenanceRate' | 'contingency' | 'collateral'
>

async function readRules(market: Market, block: BlockCalls): Promise<RateFacts> {
  const { assetAddress: perp, marginManagerAddress: manager } = market
  const [, , marketId = 0n] = await block.words(manager, of.assetDetails, [BigInt(perp)])
  const ofMarket = (selector: Hex) => block.words(manager, selector, [marketId])
  const [rates, oracle, depeg, collateral] = await Promise.all([
    ofMarket(of.perpMarginRequirements),
    ofMarket(of.oracleContingencyParams),
    block.words(manager, of.depegParams, []),
    readCollateral(manager, marketId, block),
  ])
  const [maintenanceRate = 0n, initialRate = 0n] = rates
  const contingency = contingencyOf(oracle, depeg)
  return { maintenanceRate, initialRate, contingency, ...(collateral && { collateral }) }
}

const contingencyOf = (
  [perpThreshold = 0n, , baseThreshold = 0n, factor = 0n]: readonly bigint[],
  [depegThreshold = 0n, depegFactor = 0n]: readonly bigint[],
): Contingency => ({ perpThreshold, baseThreshold, factor, depegThreshold, depegFactor })

/** The base asset that the manager credits in the market; undefined when it credits none. */
export async function readCollateralAsset(
  { assetAddress: perp, marginManagerAddress: manager }: Market,
  block: PlainCalls,
): Promise<Address | undefined> {
  const [, , marketId = 0n] = await block.words(manager, of.assetDetails, [BigInt(perp)])
  return baseAssetOf(manager, marketId, block)
}

const baseAssetOf = async (
  manager: Address,
  marketId: bigint,
  { word }: Pick<PlainCalls, 'word'>,
): Promise<Address | undefined> =>
  contractOfWord(await word(manager, of.assetMap, [marketId, BASE_ASSET]))

/** Undefined when the manager credits no base asset in the market. */
async function readCollateral(
  manager: Address,
  marketId: bigint,
  { word, words }: BlockCalls,
): Promise<CollateralFacts | undefined> {
  const asset = await baseAssetOf(manager, marketId, { word })
  if (asset === undefined) return undefined
  const ofAsset = (selector: Hex) => word(asset, selector, [BigInt(manager)])
  const [cap, total, isAccepted, details, params] = await Promise.all([
    ofAsset(of.totalPositionCap),
    ofAsset(of.totalPosition),
    ofAsset(of.whitelistedManager),
    words(manager, of.assetDetails, [BigInt(asset)]),
    words(manager, of.baseMarginParams, [marketId]),
  ])
  const [marginFactor = 0n, initialScale = 0n] = params
  const depositsOpen = isAccepted !== 0n && details[0] !== 0n
  return {
    asset,
    marginFactor,
    initialScale,
    depositsOpen,
    cap: amountE18(cap),
    total: amountE18(total),
  }
}

/** The facts of an account at the block of the market's facts. Rejects unless the node answers all calls. */
export async function readPerpetualAccount(
  market: Market,
  account: AccountCalls,
  facts: PerpetualFacts,
): Promise<PerpetualAccount> {
  const { assetAddress: perp, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const { subaccountId: id } = account
  const { auction, collateral } = facts
  const [inAuction, position, cash, posted, unsettled, margin] = await Promise.all([
    auction === undefined ? 0n : account.word(auction, of.isAuctionLive, [id]),
    account.balance(perp, subId),
    account.balance(quoteAssetAddress, 0n),
    collateral === undefined ? 0n : account.balance(collateral.asset, 0n),
    account.word(perp, of.getUnsettledAndUnrealizedCash, [id]).catch(undefinedOnRevert),
    account.word(manager, of.getMargin, [id, 1n]).catch(undefinedOnRevert),
  ])
  const held = { position, cash, collateral: posted }
  const known = { inAuction: inAuction !== 0n, ...held }
  if (facts.pricesStale || unsettled === undefined || margin === undefined) return known
  const profit = signedWord(unsettled)
  const here = marginOf(facts, { ...held, unsettled: profit }, 'initial')
  return {
    ...known,
    valued: { unsettled: profit, mark: facts.mark, elsewhere: signedWord(margin) - here },
  }
}
