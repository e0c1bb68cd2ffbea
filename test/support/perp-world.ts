import { encodeFunctionData, parseAbi, parseUnits, type TransactionReceipt } from 'viem'
import { perpAssetAbi, perpManagerAbi, managerAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { signPrices } from '../../devnet/chain/sign-prices.js'
import { pricesSchema, type PricesAsText } from '../../devnet/feeder/prices.js'
import { ANVIL_CHAIN_ID } from './anvil.js'
import { matchCall, ONE, signOrder, type SignedOrder } from './devnet-actions.js'
import {
  administer,
  balanceOf,
  lastAccountId,
  perform,
  testKey,
  type Call,
  type Trader,
  type World,
} from './devnet-world.js'

/** What only the devnet's owner and its tests call; the contracts that the venue calls stand in chain/abi. */
export const perpAdminAbi = parseAbi([
  'struct OracleContingencyParams { uint256 perpThreshold; uint256 optionThreshold; uint256 baseThreshold; uint256 OCFactor; }',
  'struct DepegParams { uint256 threshold; uint256 depegFactor; }',
  'function setRateBounds(int256 maxAbsRatePerHour)',
  'function setStaticInterestRate(int256 rate)',
  'function setConvergencePeriod(uint256 hours18)',
  'function setTotalPositionCap(address manager, uint256 cap)',
  'function setWhitelistManager(address manager, bool whitelisted)',
  'function setMaxAccountSize(uint256 size)',
  'function setBorrowingEnabled(bool enabled)',
  'function setAdjustmentsPaused(bool paused)',
  'function setOracleContingencyParams(uint256 marketId, OracleContingencyParams params)',
  'function setDepegParameters(DepegParams params)',
  'function setBaseAssetMarginFactor(uint256 marketId, uint256 marginFactor, uint256 scale)',
  'function setTrustedRiskAssessor(address assessor, bool trusted)',
  'function setHeartbeat(uint64 heartbeat)',
  'function setPerpAsset(address asset, bool isPerp)',
  'function settleInterest(uint256 accountId)',
  'function disable()',
])
const seederAbi = parseAbi([
  'struct Endowment { address token; address asset; uint256 amount; }',
  'function open(address account, address manager, Endowment[] endowments) returns (uint256 accountId)',
])

/** `0.00065` as 650000000000000n. */
export const e18 = (decimal: string): bigint => parseUnits(decimal, 18)

/**
 * Signs the prices and sends them to all feeds, as the feeder does; the chain's clock moves on by a second, because feeds
 * ignore prices that are not newer than theirs.
 */
export async function setPrices(world: World, prices: PricesAsText): Promise<void> {
  const timestamp = (await world.client.getBlock()).timestamp + 1n
  await world.client.setNextBlockTimestamp({ timestamp })
  const calls = await signPrices({
    chainId: ANVIL_CHAIN_ID,
    feeds: world.at,
    signerKey: testKey(1004),
    prices: pricesSchema.parse(prices),
    timestampSec: timestamp,
  })
  for (const call of calls) await perform(world, { from: world.at.deployer, ...call })
}

/** Ends funding and the age of prices, so that only trades and prices change an account. */
export async function stopTheClock(world: World): Promise<void> {
  await administer(world, world.at.perp_asset, perpAdminAbi, 'setRateBounds', 0n)
  await keepPricesFresh(world)
}

export async function keepPricesFresh(world: World): Promise<void> {
  const { spot_feed, perp_feed, impact_bid_feed, impact_ask_feed, stable_feed } = world.at
  for (const feed of [spot_feed, perp_feed, impact_bid_feed, impact_ask_feed, stable_feed])
    await administer(world, feed, perpAdminAbi, 'setHeartbeat', 10n ** 9n)
  await setPrices(world, { index: '0.00065' })
}

/** A trader on a perp account that Matching holds for it, with cash and collateral in whole units. */
export async function openPerpAccount(
  world: World,
  trader: Trader,
  funds: { readonly cash?: number; readonly cngn?: number },
): Promise<Trader> {
  const { at } = world
  const units = (whole: number) => BigInt(whole) * 1_000_000n
  const endowments = [
    { token: at.usdc, asset: at.cash_asset, amount: units(funds.cash ?? 0) },
    { token: at.cngn, asset: at.wrapped_cngn, amount: units(funds.cngn ?? 0) },
  ].filter(({ amount }) => amount > 0n)
  const args = [trader.address, at.perp_manager, endowments] as const
  const data = encodeFunctionData({ abi: seederAbi, functionName: 'open', args })
  await perform(world, { from: at.deployer, to: at.seeder, data })
  return { ...trader, subaccountId: await lastAccountId(world) }
}

export interface PerpTrade {
  readonly buyer: Trader
  readonly seller: Trader
  /** Contracts, whole. */
  readonly size: number
  readonly price?: string
  readonly taker?: 'buyer' | 'seller'
  readonly takerFee?: string
  readonly makerFee?: string
}

export function signPerpOrder(
  world: World,
  trader: Trader,
  isBid: boolean,
  trade: { readonly size: number; readonly price: bigint },
): Promise<SignedOrder> {
  const { perp_asset: asset, perp_trade_module: module } = world.at
  const { subaccountId } = trader
  const terms = { asset, limitPrice: trade.price, desiredAmount: BigInt(trade.size) * ONE }
  return signOrder(world, trader, { ...terms, isBid, worstFee: ONE }, { module, subaccountId })
}

/** One match on the perp's module, at the mark of 0.00065 and free of fees by default. */
export async function tradeCall(world: World, trade: PerpTrade): Promise<Call> {
  const terms = { size: trade.size, price: e18(trade.price ?? '0.00065') }
  const bid = await signPerpOrder(world, trade.buyer, true, terms)
  const ask = await signPerpOrder(world, trade.seller, false, terms)
  const [taker, maker] = trade.taker === 'seller' ? [ask, bid] : [bid, ask]
  const fee = e18(trade.makerFee ?? '0')
  return matchCall(world, { taker, fills: [{ maker, fee }], takerFee: e18(trade.takerFee ?? '0') })
}

export async function trade(world: World, terms: PerpTrade): Promise<TransactionReceipt> {
  return perform(world, await tradeCall(world, terms))
}

export function marginOf(world: World, trader: Trader, isInitial: boolean): Promise<bigint> {
  return world.client.readContract({
    address: world.at.perp_manager,
    abi: managerAbi,
    functionName: 'getMargin',
    args: [trader.subaccountId, isInitial],
  })
}

export const cashOf = (world: World, trader: Trader): Promise<bigint> =>
  balanceOf(world, trader.subaccountId, world.at.cash_asset)

export const positionOf = (world: World, trader: Trader): Promise<bigint> =>
  balanceOf(world, trader.subaccountId, world.at.perp_asset)

/** Settles profit and funding of an account into cash, which every caller may do. */
export function settleCall(world: World, trader: Trader): Call {
  const args = [trader.subaccountId] as const
  const data = encodeFunctionData({
    abi: perpManagerAbi,
    functionName: 'settlePerpsWithIndex',
    args,
  })
  return { from: world.executor, to: world.at.perp_manager, data }
}

/** A read of the perpetual without arguments. */
export function readPerp<
  Name extends 'aggregatedFunding' | 'getFundingRate' | 'lastFundingPaidAt' | 'isDisabled',
>(world: World, functionName: Name) {
  return world.client.readContract({
    address: world.at.perp_asset,
    abi: perpAssetAbi,
    functionName,
  })
}

export function unsettledOf(world: World, trader: Pick<Trader, 'subaccountId'>): Promise<bigint> {
  return world.client.readContract({
    address: world.at.perp_asset,
    abi: perpAssetAbi,
    functionName: 'getUnsettledAndUnrealizedCash',
    args: [trader.subaccountId],
  })
}

export function administerPerp(
  world: World,
  to: Address,
  ...[functionName, ...args]: readonly [string, ...unknown[]]
): Promise<void> {
  return administer(world, to, perpAdminAbi, functionName, ...args)
}
