import { encodeAbiParameters, encodeFunctionData } from 'viem'
import {
  managerAbi,
  subAccountsAbi,
  tradeModuleAbi,
  wrappedErc20AssetAbi,
} from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import {
  actionsCall,
  depositCall,
  matchCall,
  ONE,
  signOrder,
  signWithdrawal,
  type Match,
} from '../support/devnet-actions.js'
import {
  administer,
  openAccount,
  perform,
  type Call,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import { MANAGER_DATA } from '../support/payloads.js'
import { describeOutcomes, type Row } from './revert-table.js'

const FEED: Address = '0x0000000000000000000000000000000000000fee'
const FEED_DATA = encodeAbiParameters(MANAGER_DATA, [[{ receiver: FEED, data: '0x' }]])

/** Bob buys one cNGN from Alice. */
async function match(world: World, different: Partial<Match> = {}): Promise<Call> {
  const taker = await signOrder(world, world.bob, { isBid: true })
  const maker = await signOrder(world, world.alice, { isBid: false, desiredAmount: ONE })
  return matchCall(world, { taker, fills: [{ maker }], ...different })
}

function pause(world: World, paused = true): Promise<void> {
  return administer(world, world.at.spot_manager, managerAbi, 'setAdjustmentsPaused', paused)
}

function payFeesTo(world: World, accountId: bigint): Promise<void> {
  return administer(world, world.at.spot_trade_module, tradeModuleAbi, 'setFeeRecipient', accountId)
}

function capCngn(world: World, cap: bigint): Promise<void> {
  const { wrapped_cngn: asset, spot_manager: manager } = world.at
  return administer(world, asset, wrappedErc20AssetAbi, 'setTotalPositionCap', manager, cap)
}

/** A feed that accepts everything. */
function installFeed(world: World): Promise<void> {
  return world.client.setCode({ address: FEED, bytecode: '0x00' })
}

const guardian: readonly Row[] = [
  [
    'a match while the manager is paused',
    'BM_AdjustmentsPaused',
    async (world) => {
      await pause(world)
      return match(world)
    },
  ],
  [
    'a deposit while the manager is paused',
    'BM_AdjustmentsPaused',
    async (world) => {
      await pause(world)
      return depositCall(world, world.alice, { amount: 0n, asset: world.at.wrapped_usdc })
    },
  ],
  [
    'a withdrawal while the manager is paused',
    'BM_AdjustmentsPaused',
    async (world) => {
      await pause(world)
      const withdrawal = { asset: world.at.wrapped_usdc, assetAmount: 1n }
      return actionsCall(world, [await signWithdrawal(world, world.alice, withdrawal)])
    },
  ],
  [
    'a match after the pause',
    'success',
    async (world) => {
      await pause(world)
      await pause(world, false)
      return match(world)
    },
  ],
  [
    'a pause by an unauthorised caller',
    'BM_GuardianOnly',
    (world) => ({
      from: world.alice.address,
      to: world.at.spot_manager,
      data: encodeFunctionData({
        abi: managerAbi,
        functionName: 'setAdjustmentsPaused',
        args: [true],
      }),
    }),
  ],
]

const feeds: readonly Row[] = [
  [
    'data for a receiver that the manager does not know',
    'BM_UnauthorizedCall',
    async (world) => {
      await installFeed(world)
      return match(world, { managerData: FEED_DATA })
    },
  ],
  [
    'data for a receiver that the manager knows',
    'success',
    async (world) => {
      await installFeed(world)
      await administer(world, world.at.spot_manager, managerAbi, 'setWhitelistedCallee', FEED, true)
      return match(world, { managerData: FEED_DATA })
    },
  ],
]

const caps: readonly Row[] = [
  [
    'a match above the cap, which moves but does not add',
    'success',
    async (world) => {
      await capCngn(world, 1n)
      return match(world)
    },
  ],
  [
    'a deposit of one asset while another is above its cap',
    'success',
    async (world) => {
      await capCngn(world, 1n)
      return depositCall(world, world.alice, { amount: 0n, asset: world.at.wrapped_usdc })
    },
  ],
]

/** An account of the fee owner that consented to nothing. */
function silentAccount(world: World): Promise<bigint> {
  return openAccount(world, world.at.fee_owner, world.at.spot_manager)
}

const feeAccounts: readonly Row[] = [
  [
    'no fee account, though no fee',
    'MW_UnknownManager',
    async (world) => {
      await payFeesTo(world, 0n)
      return match(world)
    },
  ],
  ...(['alice', 'bob'] as const).map((trader): Row => [
    `the fee account is the ${trader === 'bob' ? 'taker' : 'maker'}`,
    'AC_CannotTransferAssetToOneself',
    async (world) => {
      await payFeesTo(world, world[trader].subaccountId)
      return match(world)
    },
  ]),
  [
    'a fee for the account that the deployment opened',
    'success',
    (world) => match(world, { takerFee: 1n }),
  ],
  [
    'a fee for an account that consented to nothing',
    'NotEnoughSubIdOrAssetAllowances',
    async (world) => {
      await payFeesTo(world, await silentAccount(world))
      return match(world, { takerFee: 1n })
    },
  ],
  [
    'no fee for an account that consented to nothing',
    'success',
    async (world) => {
      await payFeesTo(world, await silentAccount(world))
      return match(world)
    },
  ],
  [
    'a fee for an account whose NFT the module may use',
    'success',
    async (world) => {
      const accountId = await silentAccount(world)
      await payFeesTo(world, accountId)
      const args = [world.at.spot_trade_module, accountId] as const
      const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'approve', args })
      await perform(world, { from: world.at.fee_owner, to: world.at.sub_accounts, data })
      return match(world, { takerFee: 1n })
    },
  ],
  [
    'a fee for an account of a manager that the quote does not accept',
    'MW_UnknownManager',
    async (world) => {
      const accountId = await openAccount(world, world.at.fee_owner, world.at.perp_manager)
      await payFeesTo(world, accountId)
      return match(world)
    },
  ],
]

/** Consent to a delegate for Alice's account, asked for by some trader. */
function allow(world: World, by: Trader): Call {
  const allowance = { asset: world.at.wrapped_usdc, positive: 1n, negative: 1n }
  const args = [world.alice.subaccountId, by.address, [allowance]] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'setAssetAllowances', args })
  return { from: by.address, to: world.at.sub_accounts, data }
}

const unauthorised: readonly Row[] = [
  [
    'an unauthorised caller granting itself an allowance',
    'AC_NotOwnerOrERC721Approved',
    (world) => allow(world, world.carol),
  ],
  [
    'the owner granting one past Matching, which holds the account',
    'AC_NotOwnerOrERC721Approved',
    (world) => allow(world, world.alice),
  ],
  [
    'an unauthorised caller withdrawing past Matching',
    'WERC_OnlyAccountOwner',
    (world) => ({
      from: world.carol.address,
      to: world.at.wrapped_usdc,
      data: encodeFunctionData({
        abi: wrappedErc20AssetAbi,
        functionName: 'withdraw',
        args: [world.alice.subaccountId, 1n, world.carol.address],
      }),
    }),
  ],
  [
    'an unauthorised caller moving balances past Matching',
    'NotEnoughSubIdOrAssetAllowances',
    (world) => ({
      from: world.carol.address,
      to: world.at.sub_accounts,
      data: encodeFunctionData({
        abi: subAccountsAbi,
        functionName: 'submitTransfer',
        args: [
          {
            fromAcc: world.alice.subaccountId,
            toAcc: world.carol.subaccountId,
            asset: world.at.wrapped_usdc,
            subId: 0n,
            amount: ONE,
            assetData: `0x${'00'.repeat(32)}`,
          },
          '0x',
        ],
      }),
    }),
  ],
]

describeOutcomes('the guardian', guardian)
describeOutcomes('data for managers', feeds)
describeOutcomes('caps', caps)
describeOutcomes('the fee account', feeAccounts)
describeOutcomes('unauthorised callers at the accounts', unauthorised)
