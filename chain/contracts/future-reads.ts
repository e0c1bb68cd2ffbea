import type { Hex } from '../../core/action.js'
import { expirySecOf } from '../../core/contracts/future-entry.js'
import type { FutureAccount, FutureFacts } from '../../core/contracts/future-facts.js'
import type { Market } from '../../core/contracts/market.js'
import { addressOfWord } from '../../core/entry/read-action.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { futureAssetAbi, futuresManagerAbi, managerAbi, matchingAbi } from '../abi/contracts.js'
import { NotWords } from '../abi/errors.js'
import type { PlainCalls } from '../reads/plain-calls.js'
import type { AccountCalls, BlockCalls } from './registry.js'
import { selectorsOf } from '../abi/selectors.js'

const of = {
  ...selectorsOf(matchingAbi, 'allowedModules'),
  ...selectorsOf(managerAbi, 'adjustmentsPaused'),
  ...selectorsOf(futuresManagerAbi, 'marginRates', 'cngnFactors', 'variation', 'wrappedCngn'),
  ...selectorsOf(futureAssetAbi, 'series', 'band', 'totalPosition', 'totalPositionCap'),
}

/** The facts of a series at one block, in one round of calls. Rejects unless the node answers all of them. */
export async function readFuture(market: Market, block: BlockCalls): Promise<FutureFacts> {
  const { assetAddress: asset, marginManagerAddress: manager } = market
  const ofManager = (selector: Hex) => block.words(manager, selector, [])
  const ofAsset = (selector: Hex) => block.word(asset, selector, [BigInt(manager)])
  const [moduleAllowed, volatile, mark, totalPosition, positionCap, rates, factors, cngn] =
    await Promise.all([
      block.word(block.matching, of.allowedModules, [BigInt(market.tradeModuleAddress)]),
      readVolatile(market, block),
      readMark(market, market.subId, block),
      ofAsset(of.totalPosition),
      ofAsset(of.totalPositionCap),
      ofManager(of.marginRates),
      ofManager(of.cngnFactors),
      block.word(manager, of.wrappedCngn, []),
    ])
  const [maintenanceRate = 0n, initialRate = 0n] = rates
  const [maintenanceFactor = 0n, initialFactor = 0n] = factors
  const cngnAsset = addressOfWord(cngn)
  if (cngnAsset === undefined) throw new NotWords(`${manager} names no cNGN`)
  return {
    expirySec: expirySecOf(market),
    moduleAllowed: moduleAllowed !== 0n,
    ...volatile,
    mark: priceE18(mark.price),
    totalPosition: amountE18(totalPosition),
    positionCap: amountE18(positionCap),
    ...{ initialRate, maintenanceRate, initialFactor, maintenanceFactor, cngnAsset },
  }
}

/** What no cache may hold: the pause, and the index of which the fill band is made. */
export async function readVolatile(
  { assetAddress: asset, subId, marginManagerAddress: manager }: Market,
  { word, words }: BlockCalls,
): Promise<Pick<FutureFacts, 'paused' | 'index' | 'indexStale'>> {
  const [paused, [index = 0n, , , , status = 0n]] = await Promise.all([
    word(manager, of.adjustmentsPaused, []),
    words(asset, of.band, [subId]),
  ])
  return { paused: paused !== 0n, index: priceE18(index), indexStale: status !== 0n }
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
): Promise<FutureAccount> {
  const { assetAddress, subId, quoteAssetAddress, marginManagerAddress: manager } = market
  const [holdings, variation] = await Promise.all([
    account.holdings(),
    account.word(manager, of.variation, [account.subaccountId]),
  ])
  const amountOf = (asset: string, ofSubId: bigint): bigint =>
    holdings.find((held) => held.asset === asset && held.subId === ofSubId)?.balance ?? 0n
  const others = holdings.filter((held) => held.asset === assetAddress && held.subId !== subId)
  const sizes = others.map(async ({ subId: other, balance }) =>
    (await readMark(market, other, account)).isSettled ? 0n : sizeOf(balance),
  )
  return {
    position: amountOf(assetAddress, subId),
    usdc: amountOf(quoteAssetAddress, 0n),
    cngn: amountOf(cngnAsset, 0n) + BigInt.asIntN(256, variation),
    mark,
    otherSize: (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0n),
  }
}

const sizeOf = (position: bigint): bigint => (position < 0n ? -position : position)
