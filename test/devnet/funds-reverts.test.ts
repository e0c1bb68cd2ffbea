import { encodeFunctionData, maxUint256 } from 'viem'
import { erc20Abi, wrappedErc20AssetAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import {
  actionsCall,
  signDeposit,
  signWithdrawal,
  type ActionOverrides,
} from '../support/devnet-actions.js'
import { administer, create, perform, type Call, type World } from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

/** 1,000,000 USDC: what each trader's wallet and account hold. */
const ALL_USDC = 1_000_000_000_000n
const SOME = 5_000_000n
const NO_CODE = '0x0000000000000000000000000000000000000999'

async function approveTokens(world: World): Promise<void> {
  const args = [world.at.deposit_module, maxUint256] as const
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
  for (const to of [world.at.usdc, world.at.cngn]) {
    await perform(world, { from: world.alice.address, to, data })
  }
}

interface DepositCase {
  readonly amount?: bigint
  readonly asset?: Address
  readonly manager?: Address
  readonly action?: ActionOverrides
}

/** Alice tops up her spot account with wrapped USDC, unless the case says otherwise. */
async function deposit(world: World, different: DepositCase = {}): Promise<Call> {
  const { amount = SOME, asset = world.at.wrapped_usdc, action, ...manager } = different
  return actionsCall(world, [
    await signDeposit(world, world.alice, { amount, asset, ...manager }, action),
  ])
}

/** Alice withdraws wrapped USDC from her spot account, unless the case says otherwise. */
async function withdrawal(
  world: World,
  different: { asset?: Address; assetAmount?: bigint; action?: ActionOverrides } = {},
): Promise<Call> {
  const { asset = world.at.wrapped_usdc, assetAmount = SOME, action } = different
  return actionsCall(world, [
    await signWithdrawal(world, world.alice, { asset, assetAmount }, action),
  ])
}

/** Another wrapped USDC, which accepts the spot manager's accounts with such a cap. */
async function freshAsset(world: World, accepted: boolean, cap = 0n): Promise<Address> {
  const asset = await create(world, 'WrappedERC20Asset', world.at.sub_accounts, world.at.usdc)
  const manager = world.at.spot_manager
  await administer(world, asset, wrappedErc20AssetAbi, 'setWhitelistManager', manager, accepted)
  await administer(world, asset, wrappedErc20AssetAbi, 'setTotalPositionCap', manager, cap)
  return asset
}

const NEW: ActionOverrides = { subaccountId: 0n }

const deposits: readonly Row[] = [
  ['a top-up', 'success', (world) => deposit(world)],
  ['a new account', 'success', (world) => deposit(world, { action: NEW })],
  ['a deposit of nothing', 'success', (world) => deposit(world, { amount: 0n })],
  [
    'the same deposit again',
    'BM_NonceAlreadyUsed',
    async (world) => {
      const call = await deposit(world)
      await perform(world, call)
      return call
    },
  ],
  [
    'an allowance that is too small',
    'ERC20InsufficientAllowance',
    async (world) => {
      const args = [world.at.deposit_module, SOME - 1n] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
      await perform(world, { from: world.alice.address, to: world.at.usdc, data })
      return deposit(world)
    },
  ],
  [
    'more than the wallet holds',
    'ERC20InsufficientBalance',
    (world) => deposit(world, { amount: ALL_USDC + 1n }),
  ],
  [
    'two deposits at once',
    'DM_InvalidDepositActionLength',
    async (world) => {
      const plain = { amount: SOME, asset: world.at.wrapped_usdc }
      const both = [1, 2].map(() => signDeposit(world, world.alice, plain))
      return actionsCall(world, await Promise.all(both))
    },
  ],
  [
    'a new account without manager',
    'MW_UnknownManager',
    (world) => deposit(world, { action: NEW, manager: `0x${'00'.repeat(20)}` }),
  ],
  [
    'a new account under a manager that the asset does not know',
    'MW_UnknownManager',
    (world) => deposit(world, { action: NEW, manager: world.at.perp_manager }),
  ],
  [
    'an asset that does not accept the manager of the account',
    'MW_UnknownManager',
    async (world) => deposit(world, { asset: await freshAsset(world, false) }),
  ],
  [
    'an asset that the manager does not know',
    'SRM_UnsupportedAsset',
    async (world) => deposit(world, { asset: await freshAsset(world, true, 10n ** 36n) }),
  ],
  ['an asset without code', 'an empty revert', (world) => deposit(world, { asset: NO_CODE })],
  [
    'a deposit over the cap',
    'BM_AssetCapExceeded',
    async (world) => {
      await capAtTotal(world)
      return deposit(world)
    },
  ],
]

/** No more wrapped USDC than there is now may come under the spot manager. */
async function capAtTotal(world: World, below = 0n): Promise<void> {
  const { wrapped_usdc: address, spot_manager: manager } = world.at
  const total = await world.client.readContract({
    address,
    abi: wrappedErc20AssetAbi,
    functionName: 'totalPosition',
    args: [manager],
  })
  await administer(
    world,
    address,
    wrappedErc20AssetAbi,
    'setTotalPositionCap',
    manager,
    total - below,
  )
}

const withdrawals: readonly Row[] = [
  ['everything', 'success', (world) => withdrawal(world, { assetAmount: ALL_USDC })],
  [
    'under a cap below the total',
    'success',
    async (world) => {
      await capAtTotal(world, 10n ** 24n)
      return withdrawal(world)
    },
  ],
  [
    'the same withdrawal again',
    'BM_NonceAlreadyUsed',
    async (world) => {
      const call = await withdrawal(world)
      await perform(world, call)
      return call
    },
  ],
  [
    'more than the account holds',
    'WERC_CannotBeNegative',
    (world) => withdrawal(world, { assetAmount: ALL_USDC + 1n }),
  ],
  [
    'more than the whole escrow holds',
    'ERC20InsufficientBalance',
    (world) => withdrawal(world, { assetAmount: 4n * ALL_USDC }),
  ],
  ['from no account', 'WM_InvalidFromAccount', (world) => withdrawal(world, { action: NEW })],
  [
    'from the account of another owner',
    'OV_InvalidActionOwner',
    (world) => withdrawal(world, { action: { subaccountId: world.bob.subaccountId } }),
  ],
  [
    'two withdrawals at once',
    'WM_InvalidWithdrawalActionLength',
    async (world) => {
      const plain = { asset: world.at.wrapped_usdc, assetAmount: SOME }
      const both = [1, 2].map(() => signWithdrawal(world, world.alice, plain))
      return actionsCall(world, await Promise.all(both))
    },
  ],
]

describeOutcomes('deposits', deposits, approveTokens)
describeOutcomes('withdrawals', withdrawals)
