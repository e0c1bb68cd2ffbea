import { encodeFunctionData } from 'viem'
import { matchingAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import {
  actionsCall,
  matchCall,
  ONE,
  signOrder,
  signWithdrawal,
} from '../support/devnet-actions.js'
import { perform, type Call, type Trader, type World } from '../support/devnet-world.js'
import { describeOutcomes, type Row } from './revert-table.js'

const COOLDOWN_SEC = 30 * 60

type CustodyFunction = 'requestWithdrawAccount' | 'completeWithdrawAccount' | 'depositSubAccount'

/** A call of the trader about Alice's account. */
function custody(world: World, functionName: CustodyFunction, by: Trader = world.alice): Call {
  const args = [world.alice.subaccountId] as const
  const data = encodeFunctionData({ abi: matchingAbi, functionName, args })
  return { from: by.address, to: world.at.matching, data }
}

async function pass(world: World, seconds: number): Promise<void> {
  await world.client.increaseTime({ seconds })
  await world.client.mine({ blocks: 1 })
}

/** Bob buys from Alice. */
async function match(world: World): Promise<Call> {
  const taker = await signOrder(world, world.bob, { isBid: true })
  const maker = await signOrder(world, world.alice, { isBid: false, desiredAmount: ONE })
  return matchCall(world, { taker, fills: [{ maker }] })
}

/** Alice requests her account; another caller completes the request after the cooldown. */
async function leave(world: World): Promise<void> {
  await perform(world, custody(world, 'requestWithdrawAccount'))
  await pass(world, COOLDOWN_SEC)
  await perform(world, custody(world, 'completeWithdrawAccount', world.carol))
}

/** Alice transfers her account's NFT to Matching directly, so that no owner is recorded. */
async function sendOwnerless(world: World): Promise<void> {
  await leave(world)
  const args = [world.alice.address, world.at.matching, world.alice.subaccountId] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'transferFrom', args })
  await perform(world, { from: world.alice.address, to: world.at.sub_accounts, data })
}

async function approveMatching(world: World): Promise<void> {
  const args = [world.at.matching, world.alice.subaccountId] as const
  const data = encodeFunctionData({ abi: subAccountsAbi, functionName: 'approve', args })
  await perform(world, { from: world.alice.address, to: world.at.sub_accounts, data })
}

const leaving: readonly Row[] = [
  [
    'a match during the cooldown',
    'success',
    async (world) => {
      await perform(world, custody(world, 'requestWithdrawAccount'))
      return match(world)
    },
  ],
  [
    'a second request',
    'SAM_AlreadyRequestedWithdraw',
    async (world) => {
      await perform(world, custody(world, 'requestWithdrawAccount'))
      return custody(world, 'requestWithdrawAccount')
    },
  ],
  [
    'a request of another account',
    'SAM_NotOwnerAddress',
    (world) => custody(world, 'requestWithdrawAccount', world.carol),
  ],
  [
    'completion before the cooldown is over',
    'SAM_CooldownNotElapsed',
    async (world) => {
      await perform(world, custody(world, 'requestWithdrawAccount'))
      await pass(world, COOLDOWN_SEC - 60)
      return custody(world, 'completeWithdrawAccount')
    },
  ],
  [
    'completion without a request',
    'SAM_CooldownNotStarted',
    (world) => custody(world, 'completeWithdrawAccount'),
  ],
  [
    'completion by any caller after the cooldown',
    'success',
    async (world) => {
      await perform(world, custody(world, 'requestWithdrawAccount'))
      await pass(world, COOLDOWN_SEC)
      return custody(world, 'completeWithdrawAccount', world.carol)
    },
  ],
  [
    'a match after the account has left',
    'ERC721InsufficientApproval',
    async (world) => {
      await leave(world)
      return match(world)
    },
  ],
  [
    'an old order once the account has come back',
    'success',
    async (world) => {
      const call = await match(world)
      await leave(world)
      await approveMatching(world)
      await perform(world, custody(world, 'depositSubAccount'))
      return call
    },
  ],
  [
    'asking again once the account has come back',
    'success',
    async (world) => {
      await leave(world)
      await approveMatching(world)
      await perform(world, custody(world, 'depositSubAccount'))
      return custody(world, 'requestWithdrawAccount')
    },
  ],
  [
    'bringing an account without approving Matching',
    'ERC721InsufficientApproval',
    async (world) => {
      await leave(world)
      return custody(world, 'depositSubAccount')
    },
  ],
  [
    'bringing the account of another owner',
    'ERC721IncorrectOwner',
    async (world) => {
      await leave(world)
      await approveMatching(world)
      return custody(world, 'depositSubAccount', world.carol)
    },
  ],
]

const ownerless: readonly Row[] = [
  [
    'an unauthorised caller withdrawing from an account without recorded owner',
    'success',
    async (world) => {
      await sendOwnerless(world)
      const { subaccountId } = world.alice
      const everything: { asset: Address; assetAmount: bigint } = {
        asset: world.at.wrapped_usdc,
        assetAmount: 1_000_000_000_000n,
      }
      const signed = await signWithdrawal(world, world.carol, everything, { subaccountId })
      return actionsCall(world, [signed])
    },
  ],
]

describeOutcomes('taking an account out of Matching', leaving)
describeOutcomes('accounts that Matching holds without a recorded owner', ownerless)
