import type { Hex } from '../../core/action.js'
import { expirySecOf } from '../../core/contracts/future-entry.js'
import type { FutureAccountFacts, FutureFacts } from '../../core/contracts/future-facts.js'
import { variationOf } from '../../core/contracts/future-margin.js'
import type { Market } from '../../core/model/market.js'
import { addressOfWord, signedWord } from '../../core/entry/read-action.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { futureAssetAbi, futuresManagerAbi, managerAbi, matchingAbi } from '../abi/contracts.js'
import { NotWords } from '../abi/errors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import { selectorsOf } from '../abi/selectors.js'
import type { AccountCalls, BlockCalls, AssetBalance } from './chain-contract.js'

const of = {
  ...selectorsOf(matchingAbi, 'allowedModules'),
  ...selectorsOf(managerAbi, 'adjustmentsPaused'),
  ...selectorsOf(futuresManagerAbi, 'marginRates', 'cngnFactors', 'variation', 'wrappedCngn'),
  ...selectorsOf(futureAssetAbi, 'series', 'band', 'totalPosition', 'totalPositionCap'),
  ...selectorsOf(futureAssetAbi, 'openSeries'),
}

/** The series that are not retired, by their expiries. Rejects with NotWords unless the asset lists them. */
export async function readOpenSeries(
  { assetAddress: asset }: Pick<Market, 'assetAddress'>,
  { words }: Pick<PlainCalls, 'words'>,
): Promise<readonly bigint[]> {
  const [, count, ...subIds] = await words(asset, of.openSeries, [])
  if (count !== BigInt(subIds.length)) throw new NotWords(`${asset} lists no series`)
  return subIds
}

/** The facts of a series at one block, in one round of calls. Rejects unless the node answers all of them. */
export async function readFuture(market: Market, block: BlockCalls): Promise<FutureFacts> {
  const { assetAddress: asset, marginManagerAddress: manager } = market
  const ofAsset = (selector: Hex) => block.word(asset, selector, [BigInt(manager)])
  const [moduleAllowed, volatile, mark, totalPosition, positionCap, cngn] = await Promise.all([
    block.word(block.matching, of.allowedModules, [BigInt(market.tradeModuleAddress)]),
    readVolatile(market, block),
    readMark(market, market.subId, block),
    ofAsset(of.totalPosition),
    ofAsset(of.totalPositionCap),
    block.word(manager, of.wrappedCngn, []),
  ])
  const cngnAsset = addressOfWord(cngn)
  if (cngnAsset === undefined) throw new NotWords(`${manager} names no cNGN`)
  return {
    expirySec: expirySecOf(market),
    moduleAllowed: moduleAllowed !== 0n,
    ...volatile,
    mark: priceE18(mark.price),
    totalPosition: amountE18(totalPosition),
    positionCap: amountE18(positionCap),
    cngnAsset,
    ...(mark.isSettled && { settled: true as const }),
  }
}

type VolatileFacts = Pick<FutureFacts, 'paused' | 'index' | 'indexStale'> &
  Pick<FutureFacts, 'initialRate' | 'maintenanceRate' | 'initialFactor' | 'maintenanceFactor'>

/** What no cache may hold: the pause, the index of which the fill band is made, and the terms of margin, which its confidence moves. */
export async function readVolatile(
  { assetAddress: asset, subId, marginManagerAddress: manager }: Market,
  { word, words }: BlockCalls,
): Promise<VolatileFacts> {
  const [paused, [index = 0n, , , , status = 0n], rates, factors] = await Promise.all([
    word(manager, of.adjustmentsPaused, []),
    words(asset, of.band, [subId]),
    words(manager, of.marginRates, []),
    words(manager, of.cngnFactors, []),
  ])
  const [maintenanceRate = 0n, initialRate = 0n] = rates
  const [maintenanceFactor = 0n, initialFactor = 0n] = factors
  return {
    paused: paused !== 0n,
    index: priceE18(index),
    indexStale: status !== 0n,
    initialRate,
    maintenanceRate,
    initialFactor,
    maintenanceFactor,
  }
}

/** The price at which positions of a series are valued: its mark until it is settled. */
export async function readMark(
  { assetAddress: asset }: Pick<Market, 'assetAddress'>,
  subId: bigint,
  { words }: PlainCalls,
): Promise<{ readonly price: bigint; readonly isSettled: boolean }> {
  const [, mark = 0n, , settlementPrice = 0n] = await words(asset, of.series, [subId])
  const isSettled = settlementPrice !== 0n
  return { price: isSettled ? settlementPrice : mark, isSettled }
}

/** The facts of an account at the block of the market's facts. Rejects unless the node answers all calls. */
export async function readFutureAccount(
  market: Market,
  account: AccountCalls,
  { cngnAsset, mark }: FutureFacts,
): Promise<FutureAccountFacts> {
  const { assetAddress, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const [holdings, variation] = await Promise.all([
    account.holdings(),
    account.word(manager, of.variation, [account.subaccountId]),
  ])
  const amountOf = (asset: string, ofSubId: bigint): bigint =>
    holdings.find((held) => held.asset === asset && held.subId === ofSubId)?.balance ?? 0n
  const elsewhere = holdings.filter((held) => held.asset === assetAddress && held.subId !== subId)
  const others = await readPositions(market, account, elsewhere)
  return {
    position: amountOf(assetAddress, subId),
    usdc: amountOf(quoteAssetAddress, 0n),
    cngn: amountOf(cngnAsset, 0n) + signedWord(variation),
    mark,
    otherSize: others.size,
    ...(others.size !== 0n && { others: { net: others.net, worth: others.worth } }),
  }
}

/** Positions that are not settled: sizes and signed contracts at 1e18, and what they are worth at their marks in cNGN. */
export interface OpenPositions {
  readonly size: bigint
  readonly net: bigint
  readonly worth: bigint
}

/** Adds up those of the holdings, which are positions in the asset, that are not settled. Rejects unless the node answers. */
export async function readPositions(
  asset: Pick<Market, 'assetAddress'>,
  calls: PlainCalls,
  holdings: readonly AssetBalance[],
): Promise<OpenPositions> {
  const marks = await Promise.all(holdings.map(({ subId }) => readMark(asset, subId, calls)))
  return holdings.reduce<OpenPositions>(
    (sum, { balance }, i) => {
      const mark = marks[i]
      if (mark === undefined || mark.isSettled) return sum
      return {
        size: sum.size + (balance < 0n ? -balance : balance),
        net: sum.net + balance,
        worth: sum.worth + variationOf(balance, 0n, mark.price),
      }
    },
    { size: 0n, net: 0n, worth: 0n },
  )
}
