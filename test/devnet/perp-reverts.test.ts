import { encodeAbiParameters, encodeFunctionData, parseAbi } from 'viem'
import { managerAbi, matchingAbi, wrappedErc20AssetAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import {
  depositCall,
  actionsCall,
  matchCall,
  ONE,
  signOrder,
  signWithdrawal,
} from '../support/devnet-actions.js'
import {
  administer,
  create,
  perform,
  type Call,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import { MANAGER_DATA } from '../support/payloads.js'
import {
  administerPerp,
  e18,
  openPerpAccount,
  setPrices,
  signPerpOrder,
  stopTheClock,
  trade,
  tradeCall,
  type PerpTrade,
} from '../support/perp-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

const MILLION = 1_000_000

let dealer: Trader

async function prepare(world: World): Promise<void> {
  await stopTheClock(world)
  dealer = await openPerpAccount(world, world.bob, { cash: 1_000_000 })
}

/** Carol buys from the dealer, after she was funded so. */
async function purchase(
  world: World,
  funds: { cash?: number; cngn?: number },
  different: Partial<PerpTrade> & { readonly size: number },
): Promise<Call> {
  const buyer = await openPerpAccount(world, world.carol, funds)
  return tradeCall(world, { buyer, seller: dealer, ...different })
}

/** Carol's account with 100 USDC and a position, once the mark has fallen to 0.0006: below initial margin. */
async function shortOfMargin(world: World): Promise<Trader> {
  const buyer = await openPerpAccount(world, world.carol, { cash: 100 })
  await trade(world, { buyer, seller: dealer, size: MILLION })
  await setPrices(world, { index: '0.0006' })
  return buyer
}

async function sale(world: World, terms: Partial<PerpTrade> & { size: number }): Promise<Call> {
  const seller = await shortOfMargin(world)
  return tradeCall(world, { buyer: dealer, seller, price: '0.0006', taker: 'seller', ...terms })
}

const margin: readonly Row[] = [
  [
    'a position at the limit of its initial margin',
    'success',
    (world) => purchase(world, { cash: 65 }, { size: MILLION }),
  ],
  [
    'a position beyond its initial margin',
    'SRM_PortfolioBelowMargin',
    (world) => purchase(world, { cash: 64 }, { size: MILLION }),
  ],
  [
    'a price worse than the mark that costs the margin',
    'SRM_PortfolioBelowMargin',
    (world) => purchase(world, { cash: 65 }, { size: MILLION, price: '0.000651' }),
  ],
  [
    'a reduction that costs a fee and leaves too little margin',
    'SRM_PortfolioBelowMargin',
    (world) => sale(world, { size: MILLION / 20, takerFee: '0.075' }),
  ],
  [
    'a reduction below the mark that leaves too little margin',
    'SRM_PortfolioBelowMargin',
    (world) => sale(world, { size: MILLION / 20, price: '0.000599' }),
  ],
  [
    'a reduction that costs a fee and leaves enough margin',
    'success',
    (world) => sale(world, { size: MILLION / 2, takerFee: '0.75' }),
  ],
  [
    'a reduction as maker',
    'success',
    (world) => sale(world, { size: MILLION / 20, taker: 'buyer' }),
  ],
  [
    'a sale that turns the position round',
    'SRM_PortfolioBelowMargin',
    (world) => sale(world, { size: 2 * MILLION }),
  ],
  [
    'a withdrawal below initial margin',
    'SRM_PortfolioBelowMargin',
    async (world) => {
      const { subaccountId } = await shortOfMargin(world)
      const terms = { asset: world.at.cash_asset, assetAmount: 1_000_000n }
      return actionsCall(world, [await signWithdrawal(world, world.carol, terms, { subaccountId })])
    },
  ],
  [
    'a deposit below initial margin',
    'success',
    async (world) => {
      const { subaccountId } = await shortOfMargin(world)
      const deposit = { amount: 0n, asset: world.at.cash_asset }
      return depositCall(world, world.carol, deposit, { subaccountId })
    },
  ],
]

/** Carol's account with 10 USDC and a million cNGN, long, after a fall that costs more than its cash. */
async function inDebt(world: World): Promise<Trader> {
  const buyer = await openPerpAccount(world, world.carol, { cash: 10, cngn: MILLION })
  await trade(world, { buyer, seller: dealer, size: MILLION })
  await setPrices(world, { index: '0.00063' })
  return buyer
}

const cash: readonly Row[] = [
  [
    'a fee after losses beyond the cash, though margin is left',
    'SRM_NoNegativeCash',
    async (world) => {
      const terms = { seller: await inDebt(world), buyer: dealer, taker: 'seller' as const }
      return tradeCall(world, { ...terms, size: 1_000, price: '0.00063', takerFee: '0.001' })
    },
  ],
  [
    'the same free of fees',
    'success',
    async (world) =>
      tradeCall(world, {
        seller: await inDebt(world),
        buyer: dealer,
        size: 1_000,
        price: '0.00063',
      }),
  ],
  [
    'the same with the fee while borrowing is enabled',
    'success',
    async (world) => {
      await administerPerp(world, world.at.perp_manager, 'setBorrowingEnabled', true)
      const terms = { seller: await inDebt(world), buyer: dealer, taker: 'seller' as const }
      return tradeCall(world, { ...terms, size: 1_000, price: '0.00063', takerFee: '0.001' })
    },
  ],
  [
    'a fee of an account without cash',
    'SRM_NoNegativeCash',
    (world) => purchase(world, { cngn: MILLION }, { size: 1_000, takerFee: '0.001' }),
  ],
  [
    'no fee of an account without cash',
    'success',
    (world) => purchase(world, { cngn: MILLION }, { size: 1_000 }),
  ],
]

/** A position of a million contracts, which the cap allows and no more. Both sides count. */
async function capAtTotal(world: World): Promise<Trader> {
  const { perp_asset: perp, perp_manager: manager } = world.at
  const buyer = await openPerpAccount(world, world.carol, { cash: 1_000 })
  await trade(world, { buyer, seller: dealer, size: MILLION })
  await administerPerp(world, perp, 'setTotalPositionCap', manager, e18('2000000'))
  return buyer
}

const caps: readonly Row[] = [
  [
    'a trade that raises the total above the cap',
    'BM_AssetCapExceeded',
    async (world) => {
      await capAtTotal(world)
      return purchase(world, { cash: 1_000 }, { size: 1 })
    },
  ],
  [
    'a trade that moves a position while the total is above the cap',
    'success',
    async (world) => {
      const holder = await capAtTotal(world)
      const { perp_asset: perp, perp_manager: manager } = world.at
      await administerPerp(world, perp, 'setTotalPositionCap', manager, 1n)
      const buyer = await openPerpAccount(world, world.alice, { cash: 1_000 })
      return tradeCall(world, { buyer, seller: holder, size: MILLION })
    },
  ],
]

/** A purchase when the price of one feed is older than its heartbeat, and those of the others are not. */
async function purchaseWhenStale(world: World, feed: Address): Promise<Call> {
  await administerPerp(world, feed, 'setHeartbeat', 60n)
  const { timestamp } = await world.client.getBlock()
  await world.client.setNextBlockTimestamp({ timestamp: timestamp + 61n })
  return purchase(world, { cash: 1_000 }, { size: 1_000 })
}

const FEED: Address = '0x0000000000000000000000000000000000000fee'

const venue: readonly Row[] = [
  [
    'a match while the manager is paused',
    'BM_AdjustmentsPaused',
    async (world) => {
      const call = await purchase(world, { cash: 1_000 }, { size: 1_000 })
      await administer(world, world.at.perp_manager, managerAbi, 'setAdjustmentsPaused', true)
      return call
    },
  ],
  ['a stale index', 'BLF_DataTooOld', (world) => purchaseWhenStale(world, world.at.spot_feed)],
  ['a stale mark', 'BLF_DataTooOld', (world) => purchaseWhenStale(world, world.at.perp_feed)],
  [
    'a stale impact price',
    'BLF_DataTooOld',
    (world) => purchaseWhenStale(world, world.at.impact_bid_feed),
  ],
  [
    'a stale stable token',
    'BLF_DataTooOld',
    (world) => purchaseWhenStale(world, world.at.stable_feed),
  ],
  [
    'an impact bid above the impact ask',
    'PA_InvalidImpactPrices',
    async (world) => {
      await setPrices(world, { index: '0.00065', bid: '0.00066', ask: '0.00064' })
      return purchase(world, { cash: 1_000 }, { size: 1_000 })
    },
  ],
  [
    'data for a receiver that the manager does not know',
    'BM_UnauthorizedCall',
    async (world) => {
      await world.client.setCode({ address: FEED, bytecode: '0x00' })
      const buyer = await openPerpAccount(world, world.carol, { cash: 1_000 })
      const terms = { size: 1_000, price: e18('0.00065') }
      const taker = await signPerpOrder(world, buyer, true, terms)
      const maker = await signPerpOrder(world, dealer, false, terms)
      const managerData = encodeAbiParameters(MANAGER_DATA, [[{ receiver: FEED, data: '0x' }]])
      return matchCall(world, { taker, fills: [{ maker }], managerData })
    },
  ],
  [
    'a module that is not allowed',
    'M_OnlyAllowedModule',
    async (world) => {
      const { matching, perp_trade_module: module } = world.at
      await administer(world, matching, matchingAbi, 'setAllowedModule', module, false)
      return purchase(world, { cash: 1_000 }, { size: 1_000 })
    },
  ],
  [
    'an executor that is not allowed',
    'M_OnlyTradeExecutor',
    async (world) => ({
      ...(await purchase(world, { cash: 1_000 }, { size: 1_000 })),
      from: world.carol.address,
    }),
  ],
]

const accounts: readonly Row[] = [
  [
    'an account of the spot manager',
    'MW_UnknownManager',
    (world) => tradeCall(world, { buyer: world.carol, seller: dealer, size: 1_000 }),
  ],
  [
    'a sub id other than 0',
    'PA_InvalidSubId',
    async (world) => {
      const buyer = await openPerpAccount(world, world.carol, { cash: 1_000 })
      const order = { asset: world.at.perp_asset, subId: 7n, desiredAmount: ONE }
      const module = world.at.perp_trade_module
      const [taker, maker] = await Promise.all(
        [buyer, dealer].map((trader) => {
          const { subaccountId } = trader
          const terms = { ...order, isBid: trader === buyer }
          return signOrder(world, trader, terms, { module, subaccountId })
        }),
      )
      if (taker === undefined || maker === undefined) throw new Error('no orders')
      return matchCall(world, { taker, fills: [{ maker }] })
    },
  ],
  [
    'a deposit of an asset that the manager does not know',
    'SRM_UnsupportedAsset',
    async (world) => {
      const { wrapped_usdc: asset, perp_manager: manager } = world.at
      await administer(world, asset, wrappedErc20AssetAbi, 'setWhitelistManager', manager, true)
      await administerPerp(world, asset, 'setTotalPositionCap', manager, ONE)
      const { subaccountId } = await openPerpAccount(world, world.carol, { cash: 1 })
      return approvedDeposit(world, asset, subaccountId)
    },
  ],
  [
    'more assets than an account may hold',
    'SRM_TooManyAssets',
    async (world) => {
      await administerPerp(world, world.at.perp_manager, 'setMaxAccountSize', 1n)
      const { subaccountId } = await openPerpAccount(world, world.carol, { cash: 1 })
      return approvedDeposit(world, world.at.wrapped_cngn, subaccountId)
    },
  ],
  [
    'a perpetual through a module that does not know it as one, which moves the notional',
    'success',
    async (world) => {
      const { matching, sub_accounts: subAccounts, cash_asset: quote } = world.at
      const module = await create(world, 'TradeModule', matching, subAccounts, quote)
      await administer(world, matching, matchingAbi, 'setAllowedModule', module, true)
      const recipient = BigInt(world.at.perp_fee_subaccount_id)
      const admin = parseAbi(['function setFeeRecipient(uint256 id)'])
      await administer(world, module, admin, 'setFeeRecipient', recipient)
      const buyer = await openPerpAccount(world, world.carol, { cash: 1_000 })
      const wired = { ...world, at: { ...world.at, perp_trade_module: module } }
      return tradeCall(wired, { buyer, seller: dealer, size: 1_000 })
    },
  ],
]

/** One unit of the token into Carol's perp account. */
async function approvedDeposit(world: World, asset: Address, subaccountId: bigint): Promise<Call> {
  const token = asset === world.at.wrapped_usdc ? world.at.usdc : world.at.cngn
  const approve = parseAbi(['function approve(address spender, uint256 amount)'])
  const args = [world.at.deposit_module, 1n] as const
  const data = encodeFunctionData({ abi: approve, functionName: 'approve', args })
  await perform(world, { from: world.carol.address, to: token, data })
  return depositCall(world, world.carol, { amount: 1n, asset }, { subaccountId })
}

describeOutcomes('margin of a perp trade', margin, prepare)
describeOutcomes('cash of a perp trade', cash, prepare)
describeOutcomes('the cap of a perpetual', caps, prepare)
describeOutcomes('what stops a perp trade for the venue', venue, prepare)
describeOutcomes('accounts of a perp trade', accounts, prepare)
