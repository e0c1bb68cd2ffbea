import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { readAnswer } from '../../actors/matcher/ask-executor.js'
import { matchingAbi, subAccountsAbi } from '../../chain/abi/contracts.js'
import { ONE, signOrder, type ActionOverrides } from '../support/devnet-actions.js'
import { openWorld, perform, type Trader, type World } from '../support/devnet-world.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  type RunningExecutor,
} from '../support/executor-world.js'

/** Runtime code that answers every call with a word of zero. */
const SAYS_ZERO = '0x60206000f3'

/** The sides of a match that the chain refuses, and whom the executor blames. */
describe('executor telling who is to blame', () => {
  let world: World
  let executor: RunningExecutor
  /** An account of bob's without anything in it. */
  let empty: bigint

  before(async () => {
    world = await openWorld()
    executor = await startExecutor(world)
    empty = await openAccount(world.bob)
  })
  after(async () => {
    await executor.stop()
    await removeDir(executor.dataDir)
    await world.anvil.stop()
  })

  /** A new account of the trader's, held by the matching contract. */
  async function openAccount({ address: from }: Trader): Promise<bigint> {
    const args = [world.at.spot_manager] as const
    const data = encodeFunctionData({ abi: matchingAbi, functionName: 'createSubAccount', args })
    await perform(world, { from, to: world.at.matching, data })
    const last = { abi: subAccountsAbi, functionName: 'lastAccountId' } as const
    return world.client.readContract({ ...last, address: world.at.sub_accounts })
  }

  /** Alice against bob, on the sides that are told; answers what the matcher reads from the executor's answer. */
  async function blame(options: {
    readonly takerBuys: boolean
    readonly taker?: ActionOverrides
    readonly maker?: ActionOverrides
    readonly amount?: bigint
  }) {
    const { takerBuys, amount = 1_000n * ONE } = options
    const trade = { desiredAmount: 10n ** 40n }
    const taker = await signOrder(world, world.alice, { isBid: takerBuys, ...trade }, options.taker)
    const maker = await signOrder(world, world.bob, { isBid: !takerBuys, ...trade }, options.maker)
    const { status, body } = await executor.post(executeBody({ taker, makers: [maker], amount }))
    expect(status).to.equal(422)
    const answer = readAnswer(status, body)
    return answer.kind === 'reverted' ? [answer.revert, answer.guilty] : answer
  }

  const SHORT = 'WERC_CannotBeNegative'

  it('the maker that sells what it does not have (SET-022)', async () => {
    const maker = { subaccountId: empty }
    expect(await blame({ takerBuys: true, maker })).to.deep.equal([SHORT, 'maker'])
  })

  it('the maker that buys without the money', async () => {
    const maker = { subaccountId: empty }
    expect(await blame({ takerBuys: false, maker })).to.deep.equal([SHORT, 'maker'])
  })

  it('the taker that cannot pay', async () => {
    const subaccountId = await openAccount(world.alice)
    const taker = { subaccountId }
    expect(await blame({ takerBuys: true, taker })).to.deep.equal([SHORT, 'taker'])
    expect(await blame({ takerBuys: false, taker })).to.deep.equal([SHORT, 'taker'])
  })

  it('both when neither can pay', async () => {
    const amount = 10n ** 36n
    expect(await blame({ takerBuys: true, amount })).to.deep.equal([SHORT, 'both'])
  })

  it('the side whose account is another owner’s', async () => {
    const maker = { subaccountId: world.carol.subaccountId }
    expect(await blame({ takerBuys: true, maker })).to.include('maker')
  })

  it('the side whose session key is not registered (SET-022)', async () => {
    const taker = { signer: world.carol.address, signedBy: world.carol.account }
    const answer = await blame({ takerBuys: true, taker })
    expect(answer).to.deep.equal(['OV_SignerNotOwnerOrSessionKeyExpired', 'taker'])
  })

  it('the other side of one whose session key is registered and has not lapsed', async () => {
    const { timestamp } = await world.client.getBlock()
    const registered = async (expirySec: bigint) => {
      const args = [world.carol.address, expirySec] as const
      const data = encodeFunctionData({
        abi: matchingAbi,
        functionName: 'registerSessionKey',
        args,
      })
      await perform(world, { from: world.alice.address, to: world.at.matching, data })
    }
    await registered(timestamp + 3_600n)
    const taker = { signer: world.carol.address, signedBy: world.carol.account }
    const maker = { subaccountId: empty }
    expect(await blame({ takerBuys: true, taker, maker })).to.deep.equal([SHORT, 'maker'])
  })

  it('the side whose wallet takes its word back', async () => {
    const address = world.bob.address
    await world.client.setCode({ address, bytecode: SAYS_ZERO })
    const answer = await blame({ takerBuys: true })
    await world.client.setCode({ address, bytecode: '0x' })
    expect(answer).to.deep.equal(['OV_InvalidSignature', 'maker'])
  })

  it('no side when the chain says something that no side shows by itself', async () => {
    const maker = { signedBy: world.carol.account }
    expect(await blame({ takerBuys: true, maker })).to.deep.equal([
      'OV_InvalidSignature',
      'unclear',
    ])
  })
})
