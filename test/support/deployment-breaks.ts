import { encodeErrorResult, encodeFunctionData, numberToHex, parseAbi, zeroAddress } from 'viem'
import type { CheckedDeployment } from '../../chain/contracts/check-deployment.js'
import { managerAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import type { Market } from '../../core/model/market.js'
import { administer, create, openAccount, perform, type World } from './devnet-world.js'
import { intercept } from './intercepted.js'

/** What of the check a break concerns, where it is not on the chain. */
export type DeploymentChange = Partial<CheckedDeployment>

/** Spoils one fact of a deployment, on the chain or in what the operator gives. */
export interface Break {
  readonly name: string
  readonly spoil: (world: World, deps: CheckedDeployment) => Promise<DeploymentChange | void>
}

const abi = parseAbi([
  'function setAdjustmentsPaused(bool paused)',
  'function setTradeExecutor(address executor, bool allowed)',
  'function setOperator(address operator, bool allowed)',
  'function setAllowedModule(address module, bool allowed)',
  'function setTotalPositionCap(address manager, uint256 cap)',
  'function setWhitelistManager(address manager, bool whitelisted)',
  'function setFeeRecipient(uint256 account)',
  'function setPerpAsset(address asset, bool isPerp)',
  'function setHeartbeat(uint64 heartbeat)',
  'function setSpotFeed(address feed)',
  'function setPerpFeed(address feed)',
  'function setImpactFeeds(address ask, address bid)',
  'function setStableFeed(address feed)',
  'function setOraclesForMarket(uint256 marketId, address spot, address forward, address vol)',
  'function setTradeModule(address module, bool allowed)',
  'function setLiquidationModule(address auction)',
  'function setGuardian(address guardian)',
  'function whitelistAsset(address asset, uint256 marketId, uint8 kind)',
  'function disable()',
])

type Place = keyof World['at']
type Argument = Place | bigint | boolean

/** A call of the deployer's, in which a name of the deployment stands for its address. */
function calls(at: Place, functionName: string, ...args: readonly Argument[]): Break['spoil'] {
  return async (world) => {
    const given = args.map((each) => (typeof each === 'string' ? world.at[each] : each))
    await administer(world, addressOf(world, at), abi, functionName, ...given)
  }
}

const addressOf = (world: World, place: Place): Address => world.at[place] as Address

/** The market's row with other fields. */
const rowChanged =
  (name: RegExp, changed: (world: World, market: Market) => Partial<Market>): Break['spoil'] =>
  (world, { markets }) =>
    Promise.resolve({
      markets: markets.map((market) =>
        name.test(market.market) ? ({ ...market, ...changed(world, market) } as Market) : market,
      ),
    })

const SPOT = /USDC$/
const SERIES = /cNGN-\d/

/** Clears the entry of an asset in a manager, which the contract never does. */
const forgets = (manager: Place, asset: Place): Break['spoil'] => {
  return async (world) => {
    const to = addressOf(world, manager)
    const of = addressOf(world, asset)
    const call = { abi: managerAbi, functionName: 'assetDetails', args: [of] } as const
    const data = encodeFunctionData(call)
    const value = numberToHex(0n, { size: 32 })
    const { accessList } = await world.client.createAccessList({ to, data })
    for (const index of accessList.flatMap(({ storageKeys }) => storageKeys))
      await world.client.setStorageAt({ address: to, index, value })
  }
}

const asText = (text: string) => ({
  revert: encodeErrorResult({ abi: parseAbi(['error Error(string message)']), args: [text] }),
})

/** A token that its issuer has stopped, for all or for some. */
const stopped = (question: string, text: string, at: Place = 'usdc'): Break['spoil'] => {
  return (world) =>
    intercept(world.client, addressOf(world, at), {
      [question]: { word: 1n },
      'transfer(address,uint256)': asText(text),
      'transferFrom(address,address,uint256)': asText(text),
    })
}

const pays = (
  module: Place,
  account: (world: World) => Promise<bigint> | bigint,
): Break['spoil'] => {
  return async (world) =>
    administer(world, addressOf(world, module), abi, 'setFeeRecipient', await account(world))
}

/** An account of the fee owner under an earlier spot manager, which the trade module may credit, and that manager paused. */
async function pausedBeside(world: World): Promise<void> {
  const { earlier_spot_manager: manager, fee_owner: owner, spot_trade_module: module } = world.at
  const account = await openAccount(world, owner, manager)
  const asset = { asset: world.at.wrapped_usdc, positive: 10n ** 30n, negative: 0n }
  const call = { abi: subAccountsAbi, functionName: 'setAssetAllowances' } as const
  const data = encodeFunctionData({ ...call, args: [account, module, [asset]] })
  await perform(world, { from: owner, to: world.at.sub_accounts, data })
  await administer(world, module, abi, 'setFeeRecipient', account)
  await administer(world, manager, abi, 'setAdjustmentsPaused', true)
}

/** Each breaks one fact of a deployment that trades. */
export const BREAKS: readonly Break[] = [
  // --- rights
  {
    name: 'the executor is no operator of the batch executor',
    spoil: async (world) =>
      administer(world, world.at.batch_executor, abi, 'setOperator', world.executor, false),
  },
  {
    name: 'the batch executor is no trade executor',
    spoil: calls('matching', 'setTradeExecutor', 'batch_executor', false),
  },
  {
    name: 'the batch executor has no code',
    spoil: (_, { deployment }) =>
      Promise.resolve({
        deployment: { ...deployment, batchExecutor: `0x${'be'.repeat(20)}` as const },
      }),
  },
  {
    name: 'the batch executor works for another matching',
    spoil: async (world, { deployment }) => ({
      deployment: {
        ...deployment,
        batchExecutor: await create(world, 'BatchExecutor', world.at.sub_accounts),
      },
    }),
  },
  {
    name: 'deposits are not allowed',
    spoil: calls('matching', 'setAllowedModule', 'deposit_module', false),
  },
  {
    name: 'withdrawals are not allowed',
    spoil: calls('matching', 'setAllowedModule', 'withdrawal_module', false),
  },
  // --- addresses
  {
    name: 'deposit and withdrawal module are swapped',
    spoil: (_, { deployment }) =>
      Promise.resolve({
        deployment: {
          ...deployment,
          depositModule: deployment.withdrawalModule,
          withdrawalModule: deployment.depositModule,
        },
      }),
  },
  {
    name: 'the accounts are those of another contract',
    spoil: async (world, { deployment }) => ({
      deployment: { ...deployment, subAccounts: await create(world, 'SubAccounts') },
    }),
  },
  {
    name: 'the deposit module is one of another matching',
    spoil: async (world, { deployment }) => {
      const other = await create(world, 'Matching', world.at.sub_accounts)
      const depositModule = await create(world, 'DepositModule', other, world.at.sub_accounts)
      await administer(world, world.at.matching, abi, 'setAllowedModule', depositModule, true)
      return { deployment: { ...deployment, depositModule } }
    },
  },
  {
    name: 'the token is another one',
    spoil: (_, { deployment }) =>
      Promise.resolve({ deployment: { ...deployment, usdc: deployment.cngn } }),
  },
  {
    name: 'the chain stands still',
    spoil: (_, { nowMs }) => Promise.resolve({ nowMs: () => nowMs() + 120_000 }),
  },
  {
    name: 'the spot row has the trade module of the perpetual',
    spoil: rowChanged(SPOT, ({ at }) => ({ tradeModuleAddress: at.perp_trade_module })),
  },
  {
    name: 'the spot row has the withdrawal module as its trade module',
    spoil: rowChanged(SPOT, ({ at }) => ({ tradeModuleAddress: at.withdrawal_module })),
  },
  {
    name: 'the spot row has the quote asset of the perpetual',
    spoil: rowChanged(SPOT, ({ at }) => ({ quoteAssetAddress: at.cash_asset })),
  },
  // --- spot
  {
    name: 'the spot module is not allowed',
    spoil: calls('matching', 'setAllowedModule', 'spot_trade_module', false),
  },
  {
    name: 'the spot manager is paused',
    spoil: calls('spot_manager', 'setAdjustmentsPaused', true),
  },
  { name: 'the manager of the account for fees is paused', spoil: pausedBeside },
  {
    name: 'wrapped cNGN refuses the spot manager',
    spoil: calls('wrapped_cngn', 'setWhitelistManager', 'spot_manager', false),
  },
  {
    name: 'wrapped USDC refuses the spot manager',
    spoil: calls('wrapped_usdc', 'setWhitelistManager', 'spot_manager', false),
  },
  {
    name: 'the spot manager does not know wrapped cNGN',
    spoil: forgets('spot_manager', 'wrapped_cngn'),
  },
  {
    name: 'the spot manager does not know wrapped USDC',
    spoil: forgets('spot_manager', 'wrapped_usdc'),
  },
  {
    name: 'the cap of wrapped cNGN is reached',
    spoil: calls('wrapped_cngn', 'setTotalPositionCap', 'spot_manager', 1n),
  },
  {
    name: 'the cap of wrapped USDC is reached',
    spoil: calls('wrapped_usdc', 'setTotalPositionCap', 'spot_manager', 1n),
  },
  { name: 'spot has no account for fees', spoil: pays('spot_trade_module', () => 0n) },
  { name: 'the account for fees does not exist', spoil: pays('spot_trade_module', () => 999_999n) },
  {
    name: 'the account for fees is under a manager that its asset refuses',
    spoil: pays('spot_trade_module', ({ at }) => BigInt(at.perp_fee_subaccount_id)),
  },
  {
    name: 'the account for fees is held by matching',
    spoil: pays('spot_trade_module', ({ alice }) => alice.subaccountId),
  },
  {
    name: 'the account for fees gave no allowance',
    spoil: pays('spot_trade_module', ({ at }) => openUnderSpot(at)),
  },
  // --- tokens
  { name: 'USDC is paused', spoil: stopped('paused()', 'Pausable: paused') },
  {
    name: 'USDC has contracts on its blacklist',
    spoil: stopped('isBlacklisted(address)', 'Blacklistable: account is blacklisted'),
  },
  {
    name: 'cNGN has contracts on its blacklist',
    spoil: stopped('isBlackListed(address)', 'Blacklisted', 'cngn'),
  },
  // --- perpetual
  {
    name: 'the perpetual module is not allowed',
    spoil: calls('matching', 'setAllowedModule', 'perp_trade_module', false),
  },
  {
    name: 'the perpetual manager is paused',
    spoil: calls('perp_manager', 'setAdjustmentsPaused', true),
  },
  {
    name: 'cash refuses the perpetual manager',
    spoil: calls('cash_asset', 'setWhitelistManager', 'perp_manager', false),
  },
  {
    name: 'the perpetual refuses its manager',
    spoil: calls('perp_asset', 'setWhitelistManager', 'perp_manager', false),
  },
  {
    name: 'the perpetual manager does not know the asset',
    spoil: forgets('perp_manager', 'perp_asset'),
  },
  {
    name: 'the module trades the perpetual as spot',
    spoil: calls('perp_trade_module', 'setPerpAsset', 'perp_asset', false),
  },
  {
    name: 'the cap of the perpetual is 0',
    spoil: calls('perp_asset', 'setTotalPositionCap', 'perp_manager', 0n),
  },
  {
    name: 'the collateral of the perpetual refuses its manager',
    spoil: calls('wrapped_cngn', 'setWhitelistManager', 'perp_manager', false),
  },
  {
    name: 'the cap of the collateral is nearly reached',
    spoil: calls('wrapped_cngn', 'setTotalPositionCap', 'perp_manager', 1n),
  },
  { name: 'the perpetual is disabled', spoil: calls('perp_asset', 'disable') },
  { name: 'the perpetual has no account for fees', spoil: pays('perp_trade_module', () => 0n) },
  {
    name: 'the manager charges a fee on open interest',
    spoil: async (world) => {
      const viewer: Address = `0x${'2'.repeat(40)}`
      // Returns 7 to every call.
      await world.client.setCode({ address: viewer, bytecode: '0x600760005260206000f3' })
      await intercept(world.client, world.at.perp_manager, {
        'viewer()': { word: BigInt(viewer) },
        'feeBypassedCaller(address)': { word: 0n },
      })
    },
  },
  {
    name: 'an auction blocks withdrawals of cash',
    spoil: async (world) => {
      const auction: Address = `0x${'3'.repeat(40)}`
      // Returns 1 to every call.
      await world.client.setCode({ address: auction, bytecode: '0x600160005260206000f3' })
      await administer(world, world.at.cash_asset, abi, 'setLiquidationModule', auction)
    },
  },
  // --- oracles
  ...(['spot_feed', 'perp_feed', 'impact_bid_feed', 'impact_ask_feed', 'stable_feed'] as const).map(
    (feed): Break => ({ name: `${feed} is old`, spoil: calls(feed, 'setHeartbeat', 0n) }),
  ),
  { name: 'the perpetual has no spot feed', spoil: withoutFeed('perp_asset', 'setSpotFeed') },
  {
    name: 'the perpetual has no feed of its mark',
    spoil: withoutFeed('perp_asset', 'setPerpFeed'),
  },
  {
    name: 'the perpetual has no impact feeds',
    spoil: (world) =>
      administer(world, world.at.perp_asset, abi, 'setImpactFeeds', zeroAddress, zeroAddress),
  },
  {
    name: 'the impact prices are crossed',
    spoil: calls('perp_asset', 'setImpactFeeds', 'impact_bid_feed', 'impact_ask_feed'),
  },
  {
    name: 'the manager has no feed of the stable asset',
    spoil: withoutFeed('perp_manager', 'setStableFeed'),
  },
  {
    name: 'the manager has no oracles of the market',
    spoil: (world) => {
      const feeds = [zeroAddress, zeroAddress, zeroAddress]
      return administer(world, world.at.perp_manager, abi, 'setOraclesForMarket', 1n, ...feeds)
    },
  },
  // --- futures
  {
    name: 'the futures module is not allowed',
    spoil: calls('matching', 'setAllowedModule', 'future_trade_module', false),
  },
  {
    name: 'the manager does not know the futures module',
    spoil: calls('futures_manager', 'setTradeModule', 'future_trade_module', false),
  },
  {
    name: 'the future refuses its manager',
    spoil: calls('future_asset', 'setWhitelistManager', 'futures_manager', false),
  },
  {
    name: 'the cap of the future is 0',
    spoil: calls('future_asset', 'setTotalPositionCap', 'futures_manager', 0n),
  },
  {
    name: 'the index of the future is old',
    spoil: calls('futures_index_feed', 'setHeartbeat', 0n),
  },
  {
    name: 'the series is not on the chain',
    spoil: rowChanged(SERIES, (_, { subId }) => ({ subId: subId + 1n })),
  },
]

function withoutFeed(at: Place, set: string): Break['spoil'] {
  return (world) => administer(world, addressOf(world, at), abi, set, zeroAddress)
}

/** The account that collects fees of futures may be credited by their module alone. */
const openUnderSpot = ({ future_fee_subaccount_id: id }: World['at']): bigint => BigInt(id)
