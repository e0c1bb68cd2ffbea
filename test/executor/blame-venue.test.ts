import { expect } from 'chai'
import { encodeFunctionData, type Abi } from 'viem'
import { readAnswer } from '../../actors/matcher/ask-executor.js'
import {
  managerAbi,
  matchingAbi,
  subAccountsAbi,
  tradeModuleAbi,
} from '../../chain/abi/contracts.js'
import type { Address } from '../../core/action.js'
import { matchCall, ONE, signOrder, type SignedOrder } from '../support/devnet-actions.js'
import { administer, openWorld, perform, type World } from '../support/devnet-world.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  type RunningExecutor,
} from '../support/executor-world.js'

const MAX_UINT256 = 2n ** 256n - 1n

/** Faults that are not an order's, and orders that another executor has used up: what the executor blames. */
describe('executor blaming the venue or a foreign transaction', () => {
  let world: World
  let executor: RunningExecutor

  before(async () => {
    world = await openWorld()
    executor = await startExecutor(world)
  })
  after(async () => {
    await executor.stop()
    await removeDir(executor.dataDir)
    await world.anvil.stop()
  })

  const sell = (overrides = {}) => signOrder(world, world.bob, { isBid: false }, overrides)
  const buy = (overrides = {}) => signOrder(world, world.alice, { isBid: true }, overrides)

  async function settle(taker: SignedOrder, maker: SignedOrder, amount = 1_000n * ONE) {
    return executor.post(executeBody({ taker, makers: [maker], amount }))
  }

  /** What the matcher reads from the answer to a match that the chain refuses. */
  async function blame(taker: SignedOrder, maker: SignedOrder, amount?: bigint) {
    const { status, body } = await settle(taker, maker, amount)
    expect(status).to.equal(422)
    const answer = readAnswer(status, body)
    return answer.kind === 'reverted' ? [answer.revert, answer.guilty] : answer
  }

  /** The blame for a match of plain orders while an administrative call holds, which is undone afterwards. */
  async function blameWhile(to: Address, abi: Abi, call: unknown[], undo: unknown[]) {
    const [name, ...args] = call as [string, ...unknown[]]
    const [undoName, ...undoArgs] = undo as [string, ...unknown[]]
    await administer(world, to, abi, name, ...args)
    const found = await blame(await buy(), await sell())
    await administer(world, to, abi, undoName, ...undoArgs)
    expect((await settle(await buy(), await sell())).body).to.include({ accepted: true })
    return found
  }

  it('the venue while a manager is paused (SET-033)', async () => {
    const paused = (isPaused: boolean) => ['setAdjustmentsPaused', isPaused]
    const manager = world.at.spot_manager
    expect(await blameWhile(manager, managerAbi, paused(true), paused(false))).to.deep.equal([
      'BM_AdjustmentsPaused',
      'venue',
    ])
  })

  it('the venue while it may not execute trades', async () => {
    const { matching, batch_executor: batches } = world.at
    const allowed = (isAllowed: boolean) => ['setTradeExecutor', batches, isAllowed]
    const found = await blameWhile(matching, matchingAbi, allowed(false), allowed(true))
    expect(found).to.deep.equal(['M_OnlyTradeExecutor', 'venue'])
  })

  it('the venue while its trade module is not allowed', async () => {
    const { matching, spot_trade_module: module } = world.at
    const allowed = (isAllowed: boolean) => ['setAllowedModule', module, isAllowed]
    const found = await blameWhile(matching, matchingAbi, allowed(false), allowed(true))
    expect(found).to.deep.equal(['M_OnlyAllowedModule', 'venue'])
  })

  it('the venue while there is no account for its fees', async () => {
    const recipient = (accountId: bigint) => ['setFeeRecipient', accountId]
    const none = recipient(0n)
    const fees = recipient(world.feeAccount)
    const found = await blameWhile(world.at.spot_trade_module, tradeModuleAbi, none, fees)
    expect(found).to.deep.equal(['MW_UnknownManager', 'venue'])
  })

  it('the venue while the account for its fees consents to none', async () => {
    const consent = async (positive: bigint) => {
      const allowance = { asset: world.at.wrapped_usdc, positive, negative: 0n }
      const args = [world.feeAccount, world.at.spot_trade_module, [allowance]] as const
      const name = { abi: subAccountsAbi, functionName: 'setAssetAllowances' } as const
      const data = encodeFunctionData({ ...name, args })
      await perform(world, { from: world.at.fee_owner, to: world.at.sub_accounts, data })
    }
    await consent(0n)
    const found = await blame(await buy(), await sell())
    await consent(MAX_UINT256)
    expect(found).to.deep.equal(['NotEnoughSubIdOrAssetAllowances', 'venue'])
  })

  it('the side that would collect the fees', async () => {
    const { spot_trade_module: module } = world.at
    const { subaccountId } = world.bob
    await administer(world, module, tradeModuleAbi, 'setFeeRecipient', subaccountId)
    const found = await blame(await buy(), await sell())
    await administer(world, module, tradeModuleAbi, 'setFeeRecipient', world.feeAccount)
    expect(found).to.deep.equal(['AC_CannotTransferAssetToOneself', 'maker'])
  })

  it('the side whose account alone is under a paused manager (SET-038)', async () => {
    const { perp_manager: manager } = world.at
    await administer(world, manager, managerAbi, 'setAdjustmentsPaused', true)
    const args = [manager] as const
    const data = encodeFunctionData({ abi: matchingAbi, functionName: 'createSubAccount', args })
    await perform(world, { from: world.alice.address, to: world.at.matching, data })
    const last = { abi: subAccountsAbi, functionName: 'lastAccountId' } as const
    const subaccountId = await world.client.readContract({
      ...last,
      address: world.at.sub_accounts,
    })
    const found = await blame(await buy({ subaccountId }), await sell())
    await administer(world, manager, managerAbi, 'setAdjustmentsPaused', false)
    expect(found).to.include('taker')
  })

  it('the order that another executor has filled', async () => {
    const taker = await buy()
    const maker = await sell()
    const other = await signOrder(world, world.carol, { isBid: true })
    await perform(world, matchCall(world, { taker: other, fills: [{ maker }] }))
    expect(await blame(taker, maker, ONE)).to.deep.equal(['TM_FillLimitCrossed', 'maker'])
  })

  it('the order whose nonce another executor has used for another', async () => {
    const taken = await buy()
    await perform(world, matchCall(world, { taker: taken, fills: [{ maker: await sell() }] }))
    const desiredAmount = 50_000n * ONE
    const { nonce } = taken.action
    const taker = await signOrder(world, world.alice, { isBid: true, desiredAmount }, { nonce })
    expect(await blame(taker, await sell(), ONE)).to.deep.equal(['TM_InvalidNonce', 'taker'])
  })
})
