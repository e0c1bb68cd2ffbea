import { encodeDeployData, encodeFunctionData } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import type { Address, Hex } from '../../core/action.js'
import type { Artifacts, ContractName } from './compile-contracts.js'
import { HEARTBEAT_SEC, PERP_PARAMETERS, START_PRICES } from './perp-parameters.js'
import { signPrices, type FeedAddresses } from './sign-prices.js'
import type { TransactionBatch } from './transaction-batch.js'

const CREATE_GAS = 6_000_000n
const CALL_GAS = 600_000n
/** Types of a manager's assets. */
const PERPETUAL = 2
const BASE = 3

/** Adds creations and calls of the devnet's contracts to a batch. */
export interface ContractBatch {
  readonly create: (name: ContractName, ...args: readonly unknown[]) => Promise<Address>
  readonly call: (
    name: ContractName,
    to: Address,
    functionName: string,
    ...args: readonly unknown[]
  ) => Promise<void>
}

export function contractBatch(batch: TransactionBatch, artifacts: Artifacts): ContractBatch {
  return {
    create: (name, ...args) => {
      const data = encodeDeployData({ ...artifacts[name], args: [...args] })
      return batch.send({ data, gas: CREATE_GAS })
    },
    call: async (name, to, functionName, ...args) => {
      const data = encodeFunctionData({ abi: artifacts[name].abi, functionName, args: [...args] })
      await batch.send({ to, data, gas: CALL_GAS })
    },
  }
}

/** The contracts that spot and perpetual share, as far as the perpetual needs them. */
type PerpBase = Readonly<
  Record<'matching' | 'sub_accounts' | 'usdc' | 'wrapped_cngn' | 'cash_asset', Address>
>

export type PerpAddresses = FeedAddresses &
  Readonly<
    Record<
      | 'perp_asset'
      | 'perp_manager'
      | 'perp_trade_module'
      | 'security_module'
      | 'dutch_auction'
      | 'liquidate_module'
      | 'sub_account_creator',
      Address
    >
  >

export async function createPerpContracts(
  contracts: ContractBatch,
  shared: PerpBase,
): Promise<PerpAddresses> {
  const { create } = contracts
  const { matching, sub_accounts: subAccounts, cash_asset: cash } = shared
  const spotFeed = await create('SpotFeed')
  const manager = await create('PerpManager', subAccounts, cash)
  const security = await create('SecurityModule', subAccounts, cash, manager)
  const auction = await create('DutchAuction', subAccounts, security, cash)
  return {
    spot_feed: spotFeed,
    perp_feed: await create('SpotDiffFeed', spotFeed),
    impact_bid_feed: await create('SpotDiffFeed', spotFeed),
    impact_ask_feed: await create('SpotDiffFeed', spotFeed),
    stable_feed: await create('SpotFeed'),
    perp_asset: await create('PerpAsset', subAccounts),
    perp_manager: manager,
    perp_trade_module: await create('TradeModule', matching, subAccounts, cash),
    security_module: security,
    dutch_auction: auction,
    liquidate_module: await create('LiquidateModule', matching, subAccounts, auction),
    sub_account_creator: await create('SubAccountCreator', subAccounts, matching),
  }
}

/** Everything but the accounts that receive fees, whose ids are known once the batch is mined. */
export async function wirePerp(
  contracts: ContractBatch,
  at: PerpBase & PerpAddresses,
  feederKey: Hex,
): Promise<void> {
  for (const module of [at.perp_trade_module, at.liquidate_module])
    await contracts.call('Matching', at.matching, 'setAllowedModule', module, true)
  await contracts.call('TradeModule', at.perp_trade_module, 'setPerpAsset', at.perp_asset, true)
  await wireFeeds(contracts, at, privateKeyToAddress(feederKey))
  await wireAssets(contracts, at)
  await wireManager(contracts, at)
  await wireAuction(contracts, at)
}

async function wireFeeds({ call }: ContractBatch, at: PerpAddresses, signer: Address) {
  for (const feed of [at.spot_feed, at.perp_feed, at.impact_bid_feed, at.impact_ask_feed]) {
    await call('SpotFeed', feed, 'addSigner', signer, true)
    await call('SpotFeed', feed, 'setHeartbeat', HEARTBEAT_SEC.price)
  }
  await call('SpotFeed', at.stable_feed, 'addSigner', signer, true)
  await call('SpotFeed', at.stable_feed, 'setHeartbeat', HEARTBEAT_SEC.stable)
}

async function wireAssets({ call }: ContractBatch, at: PerpBase & PerpAddresses) {
  const { perp_asset: perp, perp_manager: manager } = at
  const { staticRatePerHour, maxRatePerHour, convergencePeriod } = PERP_PARAMETERS
  await call('PerpAsset', perp, 'setSpotFeed', at.spot_feed)
  await call('PerpAsset', perp, 'setPerpFeed', at.perp_feed)
  await call('PerpAsset', perp, 'setImpactFeeds', at.impact_ask_feed, at.impact_bid_feed)
  await call('PerpAsset', perp, 'setStaticInterestRate', staticRatePerHour)
  await call('PerpAsset', perp, 'setRateBounds', maxRatePerHour)
  await call('PerpAsset', perp, 'setConvergencePeriod', convergencePeriod)
  await call('PerpAsset', perp, 'setTotalPositionCap', manager, PERP_PARAMETERS.positionCap)
  const { collateralCap } = PERP_PARAMETERS
  const collateral = at.wrapped_cngn
  await call('WrappedERC20Asset', collateral, 'setTotalPositionCap', manager, collateralCap)
  for (const asset of [at.cash_asset, at.perp_asset, at.wrapped_cngn])
    await call('PerpAsset', asset, 'setWhitelistManager', manager, true)
}

async function wireManager({ call }: ContractBatch, at: PerpBase & PerpAddresses) {
  const { marketId, initialMargin, maintenanceMargin, ...p } = PERP_PARAMETERS
  const ask = (functionName: string, ...args: readonly unknown[]) =>
    call('PerpManager', at.perp_manager, functionName, ...args)
  const noFeed = `0x${'0'.repeat(40)}`
  await ask('createMarket', 'cNGN')
  await ask('whitelistAsset', at.perp_asset, marketId, PERPETUAL)
  await ask('whitelistAsset', at.wrapped_cngn, marketId, BASE)
  await ask('setOraclesForMarket', marketId, at.spot_feed, noFeed, noFeed)
  await ask('setStableFeed', at.stable_feed)
  await ask('setPerpMarginRequirements', marketId, maintenanceMargin, initialMargin)
  await ask('setBaseAssetMarginFactor', marketId, p.collateralFactor, p.collateralInitialScale)
  await ask('setOracleContingencyParams', marketId, p.oracleContingency)
  await ask('setDepegParameters', p.depeg)
  await ask('setLiquidation', at.dutch_auction)
}

async function wireAuction({ call }: ContractBatch, at: PerpBase & PerpAddresses) {
  const { auction, securityEndowment } = PERP_PARAMETERS
  await call('DutchAuction', at.dutch_auction, 'setAuctionParams', auction)
  await call('DutchAuction', at.dutch_auction, 'setWhitelistManager', at.perp_manager, true)
  await call('CashAsset', at.cash_asset, 'setLiquidationModule', at.dutch_auction)
  await call('SecurityModule', at.security_module, 'setWhitelistModule', at.dutch_auction, true)
  await call('DevUsdc', at.usdc, 'approve', at.security_module, securityEndowment)
  await call('SecurityModule', at.security_module, 'donate', securityEndowment)
}

/** Gives all feeds their first prices. */
export async function startPrices(
  batch: TransactionBatch,
  feeds: FeedAddresses,
  signerKey: Hex,
  timestampSec: bigint,
): Promise<void> {
  const { chainId } = batch
  const update = { chainId, feeds, signerKey, prices: START_PRICES, timestampSec }
  for (const call of await signPrices(update)) await batch.send({ ...call, gas: CALL_GAS })
}
