import { encodeAbiParameters, encodeFunctionData, maxUint256 } from 'viem'
import {
  cashAssetAbi,
  erc20Abi,
  managerAbi,
  matchingAbi,
  tradeModuleAbi,
} from '../../chain/abi/contracts.js'
import type { Address, Hex, TradeData } from '../../core/action.js'
import { PERP_PARAMETERS } from '../../devnet/chain/perp-parameters.js'
import {
  actionsCall,
  matchCall,
  ONE,
  signDeposit,
  signOrder,
  signWithdrawal,
  type ActionOverrides,
  type Match,
} from '../support/devnet-actions.js'
import {
  administer,
  create,
  newAccount,
  openAccount,
  openWorld,
  perform,
  underEarlierManager,
  type Call,
  type World,
} from '../support/devnet-world.js'
import { MANAGER_DATA } from '../support/payloads.js'
import { describeOutcomes, type Row } from './revert-table.js'

/** 1,000 USDC of cash for each trader. */
const CASH_UNITS = 1_000_000_000n
const FEED: Address = '0x0000000000000000000000000000000000000fee'

let cashModule: Address

/** A second spot module, quoted in cash, and spot accounts that hold cash as well. */
async function openCashMarket(world: World): Promise<void> {
  const { matching, sub_accounts: accounts, cash_asset: cash, spot_manager: manager } = world.at
  cashModule = await create(world, 'TradeModule', matching, accounts, cash)
  await administer(world, matching, matchingAbi, 'setAllowedModule', cashModule, true)
  await administer(world, cash, cashAssetAbi, 'setWhitelistManager', manager, true)
  await payFeesTo(world, world.feeAccount)
  for (const trader of [world.alice, world.bob, world.carol]) {
    const from = trader.address
    for (const spender of [cash, world.at.deposit_module]) {
      const args = [spender, maxUint256] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
      await perform(world, { from, to: world.at.usdc, data })
    }
    const args = [trader.subaccountId, CASH_UNITS] as const
    const data = encodeFunctionData({ abi: cashAssetAbi, functionName: 'deposit', args })
    await perform(world, { from, to: cash, data })
  }
}

function payFeesTo(world: World, accountId: bigint): Promise<void> {
  return administer(world, cashModule, tradeModuleAbi, 'setFeeRecipient', accountId)
}

interface Sale {
  readonly ask?: Partial<TradeData>
  readonly bid?: Partial<TradeData>
  readonly match?: Partial<Match>
}

/** Alice sells to Bob for cash; she is the taker unless `maker` is set. */
async function sale(world: World, different: Sale & { sellerIsMaker?: boolean }): Promise<Call> {
  const inCash: ActionOverrides = { module: cashModule }
  const ask = await signOrder(world, world.alice, { isBid: false, ...different.ask }, inCash)
  const bid = await signOrder(world, world.bob, { isBid: true, ...different.bid }, inCash)
  const [taker, maker] = different.sellerIsMaker === true ? [bid, ask] : [ask, bid]
  return matchCall(world, { taker, fills: [{ maker }], ...different.match })
}

const NEGATIVE: Partial<TradeData> = { limitPrice: -1_000_000_000_000n }

const payments: readonly Row[] = [
  ['a sale for cash, fee included', 'success', (world) => sale(world, { match: { takerFee: 1n } })],
  [
    'a maker paid on its other account',
    'success',
    async (world) => {
      const recipientId = await newAccount(world, world.alice)
      return sale(world, { ask: { recipientId }, sellerIsMaker: true })
    },
  ],
  [
    'a taker that names the account of another owner as payee',
    'success',
    (world) => sale(world, { ask: { recipientId: world.carol.subaccountId } }),
  ],
  [
    'a taker that names the account of another owner as payer',
    'NotEnoughSubIdOrAssetAllowances',
    (world) =>
      sale(world, { ask: { ...NEGATIVE, recipientId: world.carol.subaccountId }, bid: NEGATIVE }),
  ],
  [
    'a taker that lets another account of the maker pay',
    'NotEnoughSubIdOrAssetAllowances',
    async (world) => {
      const recipientId = await newAccount(world, world.bob)
      return sale(world, { ask: { ...NEGATIVE, recipientId }, bid: NEGATIVE })
    },
  ],
  [
    'a buyer that spends more cash than it has',
    'SRM_NoNegativeCash',
    (world) => sale(world, { ask: { limitPrice: ONE }, bid: { limitPrice: ONE } }),
  ],
  [
    'cash sold for cash that the seller lacks',
    'SRM_NoNegativeCash',
    (world) =>
      sale(world, { ask: { asset: world.at.cash_asset }, bid: { asset: world.at.cash_asset } }),
  ],
  [
    'cash of a sub id that it does not know',
    'CA_InvalidSubId',
    (world) => {
      const different = { asset: world.at.cash_asset, subId: 7n }
      return sale(world, { ask: different, bid: different })
    },
  ],
  [
    'an asset flagged as a perp that has no mark',
    'an empty revert',
    async (world) => {
      const { wrapped_cngn: asset } = world.at
      await administer(world, cashModule, tradeModuleAbi, 'setPerpAsset', asset, true)
      return sale(world, {})
    },
  ],
]

/** The fee account of the cash market moves under the perp manager. */
async function feesUnderPerpManager(world: World): Promise<void> {
  const { fee_owner: owner, perp_manager: manager } = world.at
  await payFeesTo(world, await openAccount(world, owner, manager))
}

const otherManagers: readonly Row[] = [
  [
    'a fee account under another manager',
    'success',
    async (world) => {
      await feesUnderPerpManager(world)
      return sale(world, { match: { takerFee: 1n } })
    },
  ],
  [
    'the manager of the fee account is paused, though there is no fee',
    'BM_AdjustmentsPaused',
    async (world) => {
      await feesUnderPerpManager(world)
      await administer(world, world.at.perp_manager, managerAbi, 'setAdjustmentsPaused', true)
      return sale(world, {})
    },
  ],
  [
    'data for a receiver that the manager of the fee account does not know',
    'BM_UnauthorizedCall',
    async (world) => {
      await feesUnderPerpManager(world)
      await world.client.setCode({ address: FEED, bytecode: '0x00' })
      await administer(world, world.at.spot_manager, managerAbi, 'setWhitelistedCallee', FEED, true)
      const managerData = encodeAbiParameters(MANAGER_DATA, [[{ receiver: FEED, data: '0x' }]])
      return sale(world, { match: { managerData } })
    },
  ],
]

async function withdrawal(world: World, assetAmount: bigint, subaccountId: bigint): Promise<Call> {
  const { bob, at } = world
  const cash = { asset: at.cash_asset, assetAmount }
  return actionsCall(world, [await signWithdrawal(world, bob, cash, { subaccountId })])
}

/** Bob's cash account under the perp manager, opened by the deposit module. */
async function cashAccount(world: World): Promise<bigint> {
  const { cash_asset: asset, perp_manager: manager } = world.at
  const deposit = { amount: CASH_UNITS, asset, manager }
  const signed = await signDeposit(world, world.bob, deposit, { subaccountId: 0n })
  const receipt = await perform(world, actionsCall(world, [signed]))
  const recorded: Hex[] = receipt.logs.flatMap((log) =>
    log.address === world.at.matching ? (log.topics[1] ?? []) : [],
  )
  return BigInt(recorded.at(-1) ?? '0x')
}

const withdrawals: readonly Row[] = [
  [
    'all of the cash of an account opened by a deposit',
    'success',
    async (world) => withdrawal(world, CASH_UNITS, await cashAccount(world)),
  ],
  [
    'more than the account has, while the escrow holds enough',
    'SRM_NoNegativeCash',
    (world) => withdrawal(world, CASH_UNITS + 1n, world.bob.subaccountId),
  ],
  [
    'more than the escrow holds',
    'ERC20InsufficientBalance',
    (world) =>
      withdrawal(
        world,
        PERP_PARAMETERS.securityEndowment + 4n * CASH_UNITS,
        world.bob.subaccountId,
      ),
  ],
  [
    'an unauthorised caller withdrawing past Matching',
    'CA_OnlyAccountOwner',
    (world) => ({
      from: world.carol.address,
      to: world.at.cash_asset,
      data: encodeFunctionData({
        abi: cashAssetAbi,
        functionName: 'withdraw',
        args: [world.alice.subaccountId, 1n, world.carol.address],
      }),
    }),
  ],
]

/** The futures manager knows no cash. */
const open = async () => underEarlierManager(await openWorld())

describeOutcomes('trades against cash', payments, openCashMarket, open)
describeOutcomes('trades across managers', otherManagers, openCashMarket, open)
describeOutcomes('withdrawals of cash', withdrawals, openCashMarket, open)
